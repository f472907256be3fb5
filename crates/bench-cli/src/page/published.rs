//! The section of a page that shows published figures of other machines beside the figures of this run.

use corecast_bench::PublishedFigure;
use maud::{Markup, html};

use super::column_table::table;
use crate::columns::published::PUBLISHED;

/// Nothing where nothing is published.
pub(super) fn section(figures: &[PublishedFigure]) -> Markup {
    html! {
        @if !figures.is_empty() {
            section {
                h2 { "Published of other machines" }
                p { "As published of the machines named, and the same as found here. Shapes may be compared, heights may not." }
                (table("", PUBLISHED, figures))
            }
        }
    }
}
