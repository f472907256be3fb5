//! A page about one race alone, for the benchmarks that leave one.

use corecast_bench::Report;
use maud::{DOCTYPE, PreEscaped, html};

use super::{how_to_read, palette, races};

/// The race as an HTML document in UTF-8, which loads and runs nothing, as [`render`](super::render)'s. `created_at` is any
/// text, and `command` what makes it again.
pub(crate) fn render_race(race: &Report, created_at: &str, version: &str, command: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content={ "corecast " (version) };
                title { "corecast race: " (race.machine) }
                style { (PreEscaped(palette::page_style())) }
            }
            body {
                header {
                    p class="kicker" { "corecast race · " (created_at) " · corecast " (version) }
                    h1 { (race.machine) }
                    @if !race.warnings.is_empty() {
                        aside class="warnings" role="note" {
                            h2 { "Before you believe the numbers" }
                            ul { @for warning in &race.warnings { li { (warning) } } }
                        }
                    }
                }
                main {
                    (races::section(Some(race)))
                    (how_to_read::section(&[command.to_owned()]))
                }
                footer { "Made by corecast " (version) ", " (created_at) ". It loads nothing from anywhere." }
            }
        }
    };
    page.into_string()
}
