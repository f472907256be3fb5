//! The throughput of locks for readers and writers, as tables for people.

use corecast_bench::{ReaderCell, ReaderReport};

use crate::columns;
use crate::columns::readers::{CELL, PAIR};
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::table::many;

/// The situation of a cell, in words.
pub(crate) fn words(cell: &ReaderCell) -> String {
    let shared = if cell.oversubscribed { ", more threads than CPUs" } else { "" };
    format!("{}, {} % writes{shared}", many(cell.threads, "thread"), cell.writes)
}

/// A table for each situation; nothing if no lock took part.
pub(crate) fn describe(report: &ReaderReport) -> String {
    if report.pairs.is_empty() {
        return String::new();
    }
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    format!("readers and writers: one thread, ns\n{}\n{}", columns::plain(PAIR, &report.pairs), cells.join("\n"))
}

fn describe_cell(cell: &ReaderCell) -> String {
    format!("{}\n{}", title(cell), columns::contenders(CELL, &cell.rows))
}

fn title(cell: &ReaderCell) -> String {
    format!("readers and writers: {}", words(cell))
}

/// Adds contenders of corecast's own that broke down.
pub(crate) fn add_own_failures(report: &ReaderReport, own: &mut OwnFailures) {
    report.cells.iter().for_each(|cell| own.add(&title(cell), &cell.rows));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;
    use corecast_bench::{ReaderPairRow, ReaderRow};

    #[test]
    fn each_situation_has_a_table_and_nobody_none() {
        let row = |contender: &str, skipped: Option<&str>| ReaderRow {
            contender: contender.to_owned(),
            mops: Some(80.0),
            write_mops: Some(8.0),
            jain: Some(1.0),
            skipped: skipped.map(str::to_owned),
            ..ReaderRow::default()
        };
        let rows = vec![row("seq", None), row("rw_std", Some("a writer was lost"))];
        let cell = ReaderCell { threads: 16, writes: 10, oversubscribed: true, rows };
        let pair = ReaderPairRow { contender: "seq".to_owned(), ours: true, read_ns: 2.25, write_ns: 12.0 };
        agree_with_json(PAIR, &pair, "bench locks", "readers.pairs[]");
        cell.rows.iter().for_each(|row| agree_with_json(CELL, row, "bench locks", "readers.cells[].rows[]"));
        let text = describe(&ReaderReport { pairs: vec![pair], cells: vec![cell] });
        for words in [
            "2.2",
            "16 threads, 10 % writes, more threads than CPUs",
            "80.000",
            "8.000",
            "skipped, a writer was lost: rw_std",
        ] {
            assert!(text.contains(words), "'{words}' is not in {text}");
        }
        assert_eq!(describe(&ReaderReport::default()), "");
    }
}
