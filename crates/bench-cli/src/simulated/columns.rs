//! The figures of a sweep, for people.

use super::Row;
use corecast_cli::table::{self, number, table};

/// A row for each lock, and a column for each number of threads; below, the lines that moved with the most threads.
pub(crate) fn describe(rows: &[Row]) -> String {
    let mut threads: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let headings: Vec<String> = threads.iter().map(|threads| format!(">{threads}")).collect();
    let headings: Vec<&str> =
        ["lock"].into_iter().chain(headings.iter().map(String::as_str)).chain([">moved"]).collect();
    let mut table = table(&headings);
    let mut locks: Vec<&str> = rows.iter().map(|row| row.lock.as_str()).collect();
    locks.dedup();
    for lock in locks {
        let of = |threads: usize| rows.iter().find(|row| row.lock == lock && row.threads == threads);
        let rates = threads.iter().map(|&threads| number(of(threads).and_then(|row| row.mops), 2));
        let moved = threads.last().and_then(|&most| of(most)).map(|row| row.transfers.iter().sum::<f64>());
        table.add_row([lock.to_owned()].into_iter().chain(rates).chain([number(moved, 1)]));
    }
    let failed = rows.iter().filter_map(|row| {
        let Row { lock, threads, failed, .. } = row;
        failed.as_ref().map(|words| format!("NO OUTCOME: {lock} with {threads} threads: {words}\n"))
    });
    format!(
        "millions of acquisitions a second by the number of threads; moved: lines that moved between CPUs in an acquisition, \
         with the most threads\n{}{}",
        table::text(&table),
        failed.collect::<String>()
    )
}
