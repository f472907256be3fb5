//! The frame around every page: the head of the document, its style, and the program and the time that made it.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::palette;

/// The description of a page.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The command that makes such pages, as `corecast report`.
    pub kind: &'a str,
    /// The heading: what the page is about.
    pub heading: &'a str,
    /// The name of the machine.
    pub machine: &'a str,
    /// Any text.
    pub created_at: &'a str,
    /// The version of the program.
    pub version: &'a str,
}

impl Frame<'_> {
    /// An HTML document in UTF-8. It loads nothing and runs nothing, and texts in it stay texts.
    pub fn around(&self, header: &Markup, main: &Markup) -> String {
        let Self { kind, machine, created_at, version, .. } = self;
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="generator" content={ "corecast " (version) };
                    title { (kind) ": " (machine) }
                    style { (PreEscaped(palette::page_style())) }
                }
                body {
                    (header)
                    main { (main) }
                    footer { "Made by corecast " (version) ", " (created_at) ". It loads nothing from anywhere." }
                }
            }
        };
        page.into_string()
    }

    /// A header that says what the page is about and on which machine, and then `more`.
    pub fn header(&self, more: &Markup) -> Markup {
        let Self { kind, heading, machine, created_at, version } = self;
        html! {
            header {
                p class="kicker" { (kind) " · " (created_at) " · corecast " (version) }
                h1 { (heading) }
                p class="machine" { (machine) }
                (more)
            }
        }
    }
}
