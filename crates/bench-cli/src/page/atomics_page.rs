//! A page about a stress of atomic operations: what threads get from one word.

use corecast_bench::{AtomicCell, AtomicReport, LineTransfer};
use maud::{Markup, html};

use super::column_table::table;
use super::published;
use super::throughput::{Rate, Situation, pictures};
use crate::columns::atomics::CELL;
use crate::columns::published::LINES;
use corecast_cli::report::frame::Frame;
use corecast_cli::report::plain_table::reasons;
use corecast_cli::table::many;

/// The result as an HTML document in UTF-8, which loads and runs nothing, as [`render`](super::render)'s. `created_at` is
/// any text, and `command` what makes it again.
pub(crate) fn render_atomics(report: &AtomicReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Atomic operations on one word";
    let frame = Frame { kind: "corecast bench atomics", heading, machine: &report.machine, created_at, version };
    let main = html! {
        section {
            h2 { "One word" }
            p {
                "All threads go for the same line, and pause for " (report.pause_ns) " ns after each call. Further up is "
                "better. Medians of " (report.rounds) " blocks of " (report.block_ms) " ms."
            }
            (pictures(("millions of calls", "threads"), &report.cells.iter().map(situation).collect::<Vec<_>>()))
            @for cell in &report.cells { (table_of_cell(cell)) }
        }
        (lines(&report.lines))
        (published::section(&report.published))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn situation(cell: &AtomicCell) -> Situation<'_> {
    let rates = cell.rows.iter().map(|row| Rate { contender: row.contender, is_ours: false, rate: row.mops });
    Situation {
        words: "one word".to_owned(),
        participants: cell.threads,
        is_oversubscribed: cell.oversubscribed,
        rates: rates.collect(),
    }
}

fn table_of_cell(cell: &AtomicCell) -> Markup {
    let reasons = reasons(cell.rows.iter().map(|row| (row.contender, row.skipped.as_deref())));
    html! { details { summary { (many(cell.threads, "thread")) } (table("", CELL, &cell.rows)) (reasons) } }
}

fn lines(lines: &[LineTransfer]) -> Markup {
    html! {
        @if !lines.is_empty() {
            section { h2 { "A bare line" } (table("one way", LINES, lines)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::{AtomicRow, PublishedFigure};

    #[test]
    fn the_page_has_all_and_hostile_names_stay_text() {
        let row = AtomicRow { contender: "cas", calls: 9, mops: Some(21.5), ..AtomicRow::default() };
        let cell = |threads| AtomicCell { threads, oversubscribed: threads > 2, rows: vec![row.clone()] };
        let figure = PublishedFigure {
            figure: "one word",
            machine: "a Xeon",
            least: 20.0,
            most: 20.0,
            source: "somebody",
            here: None,
        };
        let report = AtomicReport {
            machine: "<script>box".to_owned(),
            commit: None,
            seed: 4,
            quick: true,
            cpus: vec![0, 1],
            lines: vec![LineTransfer { distance: "same package", cpus: [0, 1], line_ns: Some(56.0) }],
            pause_ns: 60,
            block_ms: 5,
            rounds: 3,
            cells: vec![cell(1), cell(2), cell(4)],
            published: vec![figure],
        };
        let page = render_atomics(&report, "today", "0.0.0", "corecast bench atomics --seed 4");
        assert!(!page.contains("<script>"), "{page}");
        for words in ["<svg", "21.5", "4*", "same package", "a Xeon", "<td>20</td>", "<td>–</td>", "--seed 4"] {
            assert!(page.contains(words), "'{words}' is not in {page}");
        }
    }
}
