//! The tables of locks: alone, from near and far, in a crowd, and over all situations.

use corecast_bench::{DistanceRow, LockRow, PairRow, RegretRow};

use super::Format::{Digits, Ratio, Right};
use super::{Column, figure};

/// The columns of a table: what a lock costs one thread alone.
pub(crate) const PAIR: &[Column<PairRow>] = &[
    Column::words("contender", "lock", |row| row.contender.as_str().into()),
    Column::figure("median_ns", "median", "ns", |row| figure(row.median_ns), Digits(1)),
    Column::figure("min_ns", "best", "", |row| figure(row.min_ns), Digits(1)),
];
/// The columns of a table: what taking and freeing cost while nobody waits.
pub(crate) const DISTANCE: &[Column<DistanceRow>] = &[
    Column::words("contender", "lock", |row| row.contender.as_str().into()),
    Column::figure("acquire_p50_ns", "take p50", "ns", |row| figure(row.acquire_p50_ns), Digits(1)),
    Column::figure("acquire_p99_ns", "p99", "", |row| figure(row.acquire_p99_ns), Digits(1)),
    Column::figure("release_p50_ns", "free p50", "ns", |row| figure(row.release_p50_ns), Digits(1)),
    Column::figure("release_p99_ns", "p99", "", |row| figure(row.release_p99_ns), Digits(1)),
];
/// The columns of a table: what many threads get from locks, how fairly, and how long they wait.
pub(crate) const CELL: &[Column<LockRow>] = &[
    Column::words("contender", "lock", |row| row.contender.as_str().into()),
    Column::figure("mops", "M/s", "", |row| figure(row.mops), Digits(3)),
    Column::figure("regret", "regret", "", |row| figure(row.regret), Ratio(2)),
    Column::figure("jain", "Jain", "", |row| figure(row.jain), Digits(2)),
    Column::optional(Column::figure("jain_100ms", "in 100 ms", "", |row| figure(row.jain_100ms), Digits(2))),
    Column::figure("most_to_fewest", "most/fewest", "", |row| figure(row.most_to_fewest), Ratio(1)),
    Column::figure("wait_p50_ns", "wait p50", "ns", |row| figure(row.wait_p50_ns), Digits(0)),
    Column::figure("wait_p99_ns", "p99", "", |row| figure(row.wait_p99_ns), Digits(0)),
    Column::figure("wait_p999_ns", "p99.9", "", |row| figure(row.wait_p999_ns), Digits(0)),
    Column::optional(Column::figure("wait_max_ns", "longest", "", |row| figure(row.wait_max_ns), Digits(0))),
    Column::optional(Column::figure(
        "wait_max_100ms_ns",
        "in 100 ms",
        "",
        |row| figure(row.wait_max_100ms_ns),
        Digits(0),
    )),
    Column::figure("longest_to_mean", "longest/mean", "", |row| figure(row.longest_to_mean), Ratio(0)),
];
/// The columns of a table: what a lock loses over all situations.
pub(crate) const REGRET: &[Column<RegretRow>] = &[
    Column::words("contender", "lock", |row| row.contender.as_str().into()),
    Column::figure("mean", "mean regret", "", |row| figure(row.mean), Ratio(2)),
    Column::figure("", "of 95 in 100 draws", "", |row| interval(row).into(), Right),
    Column::figure("p95", "p95", "", |row| figure(row.p95), Ratio(2)),
    Column::figure("max", "worst", "", |row| figure(row.max), Ratio(2)),
];

fn interval(row: &RegretRow) -> String {
    let [low, high] = row.interval;
    format!("{low:.2} to {high:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn tables_show_what_json_has() {
        let contender = || "tas".to_owned();
        agree_with_json(
            CELL,
            &LockRow { contender: contender(), mops: Some(2.5), jain: Some(0.5), ..LockRow::default() },
            "bench locks",
            "cells[].rows[]",
        );
        agree_with_json(
            PAIR,
            &PairRow {
                contender: contender(),
                ours: true,
                median_ns: Some(9.5),
                min_ns: Some(8.5),
                ..PairRow::default()
            },
            "bench locks",
            "pairs[]",
        );
        let regret = RegretRow {
            contender: contender(),
            ours: true,
            mean: 1.5,
            interval: [1.0, 2.0],
            p95: 2.5,
            max: 3.0,
            curve: vec![1.0],
        };
        agree_with_json(REGRET, &regret, "bench locks", "regrets[]");
        assert_eq!(interval(&regret), "1.00 to 2.00");
        let distance = DistanceRow {
            contender: contender(),
            ours: true,
            acquire_p50_ns: Some(1.0),
            acquire_p99_ns: Some(2.0),
            release_p50_ns: Some(3.0),
            ..DistanceRow::default()
        };
        agree_with_json(DISTANCE, &distance, "bench locks", "distances[].rows[]");
    }
}
