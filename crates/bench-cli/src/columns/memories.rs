//! The table of transactional memories.

use corecast_bench::TmRow;
use corecast_cli::table::many;

use super::Format::{Digits, Percent, Ratio};
use super::{Column, figure};

/// The columns of a table: what clients get done with a memory.
pub(crate) const CELL: &[Column<TmRow>] = &[
    Column::words("contender", "memory", |row| row.contender.as_str().into()),
    Column::figure("mtps", "M/s", "", |row| figure(row.mtps), Digits(4)),
    Column::<TmRow>::figure("min_mtps", "least", "", |row| figure(row.min_mtps), Digits(4)).optional(),
    Column::<TmRow>::figure("max_mtps", "most", "", |row| figure(row.max_mtps), Digits(4)).optional(),
    Column::figure("regret", "regret", "", |row| figure(row.regret), Ratio(2)),
    Column::figure("transaction_ns", "one", "ns", |row| figure(row.transaction_ns), Digits(0)),
    Column::figure("aborts", "aborted", "%", |row| figure(row.aborts), Percent),
    Column::figure("scans_per_s", "sums/s", "", |row| figure(row.scans_per_s), Digits(0)),
    Column::figure("jain", "Jain", "", |row| figure(row.jain), Digits(2)),
    Column::figure("jain_of_time", "of time", "", |row| figure(row.jain_of_time), Digits(2)),
    Column::words("", "participants", |row| participants(row).into()),
];

fn participants(row: &TmRow) -> String {
    let clients = many(row.clients, "client");
    match row.servers {
        0 => clients,
        servers => format!("{}, {clients}", many(servers, "server")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let (contender, servers, clients) = ("messages-fair-cm".to_owned(), 1, 2);
        let row = TmRow { contender, servers, clients, mtps: Some(1.5), aborts: Some(0.25), ..TmRow::default() };
        agree_with_json(CELL, &row, "bench tm", "cells[].rows[]");
        assert_eq!(participants(&row), "1 server, 2 clients");
        assert_eq!(participants(&TmRow { servers: 0, ..row }), "2 clients");
    }
}
