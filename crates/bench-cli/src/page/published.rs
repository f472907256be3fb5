//! The section of a page that shows published figures of other machines beside the figures of this run.

use corecast_bench::PublishedFigure;
use maud::{Markup, html};

use corecast_cli::report::number::significant;
use corecast_cli::report::plain_table::{or_dash, table};

/// Nothing where nothing is published.
pub(super) fn section(figures: &[PublishedFigure]) -> Markup {
    let rows = figures.iter().map(|row| {
        let there = match row.least < row.most {
            true => format!("{} – {}", significant(row.least), significant(row.most)),
            false => significant(row.least),
        };
        vec![
            row.figure.to_owned(),
            row.machine.to_owned(),
            row.source.to_owned(),
            there,
            or_dash(row.here, significant),
        ]
    });
    html! {
        @if !figures.is_empty() {
            section {
                h2 { "Published of other machines" }
                p { "As published of the machines named, and the same as found here. Shapes may be compared, heights may not." }
                (table("", &["figure", "machine", "source", "there", "here"], rows))
            }
        }
    }
}
