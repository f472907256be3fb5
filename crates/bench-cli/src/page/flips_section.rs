//! The section of a page on how soon locks settle after a change.

use corecast_bench::LockFlips;
use maud::{Markup, html};

use super::column_table::contenders;
use crate::columns::flips::COLUMNS;
use crate::flips_text;

/// Nothing where that was not measured.
pub(super) fn section(flips: &[LockFlips]) -> Markup {
    html! {
        @if !flips.is_empty() {
            section {
                h2 { "After a flip" }
                p {
                    "The number of threads alternates, or how long they hold the lock. Throughput has settled once it stays "
                    "above 0.8 of what it is in the second half of the phase; half of a phase is the most that can be told."
                }
                @for flips in flips { (contenders(&flips_text::words(flips), COLUMNS, &flips.rows)) }
            }
        }
    }
}
