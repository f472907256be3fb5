//! The section of a page on the throughput of reader-writer locks.

use corecast_bench::{ReaderCell, ReaderReport, ReaderRow};
use maud::{Markup, html};

use super::throughput::{Rate, Situation, pictures};
use crate::readers_text;
use corecast_cli::report::number::significant;
use corecast_cli::report::plain_table::{or_dash, row_reasons, table};

/// Nothing if nobody took part.
pub(super) fn section(report: &ReaderReport) -> Markup {
    let pairs =
        report.pairs.iter().map(|row| vec![row.contender.clone(), significant(row.read_ns), significant(row.write_ns)]);
    html! {
        @if !report.pairs.is_empty() {
            section {
                h2 { "Readers and writers" }
                p { "Each thread goes from one access of 32 bytes to the next; what it does is drawn. Further up is better." }
                (table("ns for one thread alone", &["lock", "read", "write"], pairs))
                (pictures(("accesses", "threads"), &report.cells.iter().map(situation).collect::<Vec<_>>()))
                @for cell in &report.cells { (table_of_cell(cell)) }
            }
        }
    }
}

fn rate(row: &ReaderRow) -> Rate<'_> {
    Rate { contender: &row.contender, is_ours: row.ours, mops: row.mops }
}

fn situation(cell: &ReaderCell) -> Situation<'_> {
    Situation {
        words: format!("{} % writes", cell.writes),
        participants: cell.threads,
        is_oversubscribed: cell.oversubscribed,
        rates: cell.rows.iter().map(rate).collect(),
    }
}

fn table_of_cell(cell: &ReaderCell) -> Markup {
    let rows = cell.rows.iter().map(|row| {
        let numbers = [row.mops, row.write_mops, row.jain].map(|value| or_dash(value, significant));
        std::iter::once(row.contender.clone()).chain(numbers).collect()
    });
    let reasons = row_reasons(&cell.rows);
    let headings = ["lock", "M/s", "of them writes", "Jain"];
    html! { details { summary { (readers_text::words(cell)) } (table("", &headings, rows)) (reasons) } }
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
