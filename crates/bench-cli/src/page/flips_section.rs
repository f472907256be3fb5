//! The section of a page on how soon locks settle after a change.

use corecast_bench::LockFlips;
use maud::{Markup, html};

use crate::flips_text;
use corecast_cli::report::number::significant;
use corecast_cli::report::plain_table::{or_dash, row_reasons, table};

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
                @for flips in flips { (one(flips)) }
            }
        }
    }
}

fn one(flips: &LockFlips) -> Markup {
    let headings = ["lock", "M/s, first", "second", "settled, ms, first", "second"];
    let rows = flips.rows.iter().map(|row| {
        let numbers = row.mops.into_iter().chain(row.settled_ms).map(|value| or_dash(value, significant));
        std::iter::once(row.contender.clone()).chain(numbers).collect()
    });
    let reasons = row_reasons(&flips.rows);
    html! { (table(&flips_text::words(flips), &headings, rows)) (reasons) }
}
