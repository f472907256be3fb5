//! The tables of hash tables: raced here, and published of other machines.

use corecast_bench::{Point, Published, TableRow};
use corecast_cli::table::many;

use super::Format::{Digits, Ratio, Right};
use super::{Column, Value, count, figure};

/// The columns of a table: what threads get done with a table.
pub(crate) const CELL: &[Column<TableRow>] = &[
    Column::words("contender", "table", |row| row.contender.as_str().into()),
    Column::figure("mops", "M/s", "", |row| figure(row.mops), Digits(3)),
    Column::figure("mean_mops", "mean", "", |row| figure(row.mean_mops), Digits(3)),
    Column::figure("min_mops", "least", "", |row| figure(row.min_mops), Digits(3)),
    Column::figure("max_mops", "most", "", |row| figure(row.max_mops), Digits(3)),
    Column::figure("regret", "regret", "", |row| figure(row.regret), Ratio(2)),
    Column::figure("hit_mops", "hits", "", |row| figure(row.hit_mops), Digits(3)),
    Column::figure("p50_ns", "p50", "", |row| figure(row.p50_ns), Digits(0)),
    Column::figure("p99_ns", "p99", "", |row| figure(row.p99_ns), Digits(0)),
    Column::figure("p999_ns", "p99.9", "", |row| figure(row.p999_ns), Digits(0)),
    Column::figure("jain", "Jain", "", |row| figure(row.jain), Digits(2)),
    Column::figure("most_to_fewest", "most/fewest", "", |row| figure(row.most_to_fewest), Ratio(1)),
    Column::words("", "participants", |row| participants(row).into()),
];
/// The columns of a table: what was published of other machines.
pub(crate) const PUBLISHED: &[Column<Published>] = &[
    Column::words("machine", "machine", |row| row.machine.into()),
    Column::figure("buckets", "buckets", "", |row| count(row.buckets), Digits(0)),
    Column::figure("mean", "elements", "", |row| count(row.mean), Digits(0)),
    Column::figure("", "1 thread", "", |row| point(row.one_thread), Right),
    Column::figure("", "threads of a socket", "", |row| point(row.one_socket), Right),
    Column::figure("", "18 threads", "", |row| point(row.threads_18), Right),
    Column::figure("", "36 threads", "", |row| point(row.threads_36), Right),
    Column::figure("messages_36", "messages", "", |row| figure(row.messages_36), Digits(2)),
];
/// The columns of [`PUBLISHED`] that say which table it was.
pub(crate) const SITUATION: usize = 3;

fn point(point: Point) -> Value {
    format!("{:.2} {}", point.mops, point.lock).into()
}

fn participants(row: &TableRow) -> String {
    match row.servers {
        0 => String::new(),
        servers => format!("{}, {}", many(servers, "server"), many(row.clients, "client")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let (contender, servers, clients) = ("messages".to_owned(), 1, 2);
        let row = TableRow { contender, servers, clients, mops: Some(12.5), p50_ns: Some(45.0), ..TableRow::default() };
        agree_with_json(CELL, &row, "bench table", "cells[].rows[]");
        assert_eq!(participants(&row), "1 server, 2 clients");
        let point = Point { mops: 7.76, lock: "ticket" };
        let published = Published {
            machine: "Opteron",
            buckets: 12,
            mean: 48,
            one_thread: point,
            one_socket: point,
            threads_18: point,
            threads_36: point,
            messages_36: Some(18.5),
        };
        agree_with_json(PUBLISHED, &published, "bench table", "published[]");
    }
}
