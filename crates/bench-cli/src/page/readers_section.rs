//! The section of a page on the throughput of reader-writer locks.

use corecast_bench::{ReaderCell, ReaderReport, ReaderRow};
use maud::{Markup, html};

use super::column_table::{folded_contenders, table};
use super::throughput::{Rate, Situation, pictures};
use crate::columns::readers::{CELL, PAIR};
use crate::readers_text;

/// Nothing if nobody took part.
pub(super) fn section(report: &ReaderReport) -> Markup {
    html! {
        @if !report.pairs.is_empty() {
            section {
                h2 { "Readers and writers" }
                p { "Each thread goes from one access of 32 bytes to the next; what it does is drawn. Further up is better." }
                (table("for one thread alone", PAIR, &report.pairs))
                (pictures(("millions of accesses", "threads"), &report.cells.iter().map(situation).collect::<Vec<_>>()))
                @for cell in &report.cells { (folded_contenders(&readers_text::words(cell), CELL, &cell.rows)) }
            }
        }
    }
}

fn rate(row: &ReaderRow) -> Rate<'_> {
    Rate { contender: &row.contender, is_ours: row.ours, rate: row.mops }
}

fn situation(cell: &ReaderCell) -> Situation<'_> {
    Situation {
        words: format!("{} % writes", cell.writes),
        participants: cell.threads,
        is_oversubscribed: cell.oversubscribed,
        rates: cell.rows.iter().map(rate).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::ReaderPairRow;

    #[test]
    fn there_is_a_curve_for_each_share_of_writes_and_hostile_names_stay_text() {
        let row = |mops| ReaderRow { contender: "<b>seq".to_owned(), mops: Some(mops), ..ReaderRow::default() };
        let cell = |threads, writes| ReaderCell {
            threads,
            writes,
            oversubscribed: threads > 2,
            rows: vec![row(10.0 * threads as f64)],
        };
        let cells = vec![cell(1, 0), cell(16, 0), cell(1, 50), cell(16, 50)];
        let pairs = vec![ReaderPairRow { contender: "<b>seq".to_owned(), ours: true, read_ns: 2.5, write_ns: 12.0 }];
        let page = section(&ReaderReport { pairs, cells }).into_string();
        assert_eq!(page.matches("<svg").count(), 2, "{page}");
        assert!(
            page.contains("50 % writes: millions of accesses") && page.contains("16*") && page.contains("2.50"),
            "{page}"
        );
        assert!(!page.contains("<b>"), "{page}");
        assert_eq!(section(&ReaderReport::default()).into_string(), "");
    }
}
