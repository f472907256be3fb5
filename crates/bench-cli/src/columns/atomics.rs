//! The table of atomic operations on one word.

use corecast_bench::AtomicRow;

use super::Format::Digits;
use super::{Column, figure};

/// The columns of a table: what threads get from a word by one operation.
pub(crate) const CELL: &[Column<AtomicRow>] = &[
    Column::words("contender", "operation", |row| row.contender.into()),
    Column::figure("mops", "M/s", "", |row| figure(row.mops), Digits(2)),
    Column::figure("mean_mops", "mean", "", |row| figure(row.mean_mops), Digits(2)),
    Column::figure("max_mops", "most", "", |row| figure(row.max_mops), Digits(2)),
    Column::figure("success_mops", "successful M/s", "", |row| figure(row.success_mops), Digits(2)),
    Column::figure("jain", "Jain", "", |row| figure(row.jain), Digits(2)),
    Column::figure("", "instructions/call", "", |row| figure(instructions_per_call(row)), Digits(2)),
    Column::figure("p50_ns", "p50", "ns", |row| figure(row.p50_ns), Digits(0)),
    Column::figure("p99_ns", "p99", "", |row| figure(row.p99_ns), Digits(0)),
    Column::figure("p999_ns", "p99.9", "", |row| figure(row.p999_ns), Digits(0)),
];

fn instructions_per_call(row: &AtomicRow) -> Option<f64> {
    (row.calls > 0).then(|| row.tries as f64 / row.calls as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let row = AtomicRow { contender: "cas", calls: 2, tries: 3, mops: Some(21.5), ..AtomicRow::default() };
        agree_with_json(CELL, &row, "bench atomics", "cells[].rows[]");
        assert_eq!((instructions_per_call(&row), instructions_per_call(&AtomicRow::default())), (Some(1.5), None));
    }
}
