//! The page as a whole.

use maud::{DOCTYPE, PreEscaped, html};

use super::input::ReportInput;
use super::{costs, head, how_to_read, palette, predictions, races, trees};

/// The report as an HTML document in UTF-8. It loads nothing, runs nothing, and has no place for what the input's texts
/// would be if they were markup.
pub(crate) fn render(input: &ReportInput<'_>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "corecast " (input.version) };
                title { "corecast report: " (input.machine.name) }
                style { (PreEscaped(palette::page_style())) }
            }
            body {
                (head::head(input))
                main {
                    (costs::section(input.machine))
                    (trees::section(input.trees))
                    (races::section(input.race))
                    (predictions::section(input.machine))
                    (how_to_read::section(input.commands))
                }
                footer {
                    "Made by corecast " (input.version) ", " (input.created_at) ". It loads nothing from anywhere."
                }
            }
        }
    };
    page.into_string()
}
