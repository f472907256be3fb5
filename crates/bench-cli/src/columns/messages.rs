//! The tables of messages: between pairs, and to servers.

use corecast_bench::{MessagePairRow, ServerRow};

use super::Format::Digits;
use super::{Column, figure};

/// The columns of a table: what messages between pairs cost.
pub(crate) const PAIR: &[Column<MessagePairRow>] = &[
    Column::words("contender", "channel", |row| row.contender.into()),
    Column::figure("median_ns", "median", "ns", |row| figure(row.summary.map(|summary| summary.median_ns)), Digits(1)),
    Column::figure("p99_ns", "p99", "", |row| figure(row.summary.map(|summary| summary.p99_ns)), Digits(1)),
    Column::figure("mad_ns", "spread", "", |row| figure(row.summary.map(|summary| summary.mad_ns)), Digits(1)),
    Column::figure("lines", "bare lines", "", |row| figure(row.lines), Digits(2)),
    Column::figure("mops", "M/s", "", |row| figure(row.mops), Digits(2)),
    Column::optional(Column::figure("messages", "messages", "", |row| figure(row.messages as f64), Digits(0))),
];
/// The columns of a table: what servers receive from their clients.
pub(crate) const SERVER: &[Column<ServerRow>] = &[
    Column::words("contender", "channel", |row| row.contender.into()),
    Column::figure("mops", "M/s", "", |row| figure(row.mops), Digits(2)),
    Column::figure("min_mops", "least", "", |row| figure(row.min_mops), Digits(2)),
    Column::figure("max_mops", "most", "", |row| figure(row.max_mops), Digits(2)),
    Column::figure("lines", "bare lines", "", |row| figure(row.lines), Digits(2)),
    Column::figure("client_ns", "ns of a client", "", |row| figure(row.client_ns), Digits(0)),
    Column::figure("jain", "Jain", "", |row| figure(row.jain), Digits(2)),
    Column::optional(Column::figure("messages", "messages", "", |row| figure(row.messages as f64), Digits(0))),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;
    use corecast_race::Summary;

    #[test]
    fn the_tables_show_what_json_has() {
        let summary = Summary::of(&[1.0, 2.0, 4.0]);
        let (contender, lines, mops) = ("ump", Some(1.5), Some(12.5));
        let row = MessagePairRow { contender, messages: 9, summary, lines, mops, ..MessagePairRow::default() };
        agree_with_json(PAIR, &row, "bench messages", "pairs[].rows[]");
        agree_with_json(PAIR, &MessagePairRow::default(), "bench messages", "pairs[].rows[]");
        let (min_mops, client_ns) = (Some(11.5), Some(80.0));
        let row = ServerRow { contender, messages: 9, mops, min_mops, lines, client_ns, ..ServerRow::default() };
        agree_with_json(SERVER, &row, "bench messages", "servers[].rows[]");
    }
}
