//! The tables of channels from one sender to many receivers.

use corecast_bench::channels::{ChannelGroup, ChannelRow, Fan};

use super::Format::{Cost, Digits, Percent, Thousands};
use super::{Column, figure};

/// A row, and whether others are compared with it.
pub(crate) type Marked<'a> = (&'a ChannelRow, bool);

/// The columns of a table: what channels carry in one group.
pub(crate) fn columns<'a>() -> [Column<Marked<'a>>; 10] {
    [
        Column::words("", "contender", |(row, is_reference)| name(row, *is_reference).into()),
        Column::words("", "", |(row, _)| fan(row.fan).into()),
        Column::figure("messages_per_s", "messages/s", "", |(row, _)| figure(row.messages_per_s), Thousands),
        Column::figure("sender_ns", "sender", "ns", |(row, _)| figure(row.sender_ns), Cost),
        Column::figure(
            "latency/p50_ns",
            "p50",
            "ns",
            |(row, _)| figure(row.latency.map(|latency| latency.p50_ns)),
            Cost,
        ),
        Column::figure(
            "latency/p99_ns",
            "p99",
            "ns",
            |(row, _)| figure(row.latency.map(|latency| latency.p99_ns)),
            Cost,
        ),
        Column::figure(
            "latency/p999_ns",
            "p99.9",
            "ns",
            |(row, _)| figure(row.latency.and_then(|latency| latency.p999_ns)),
            Cost,
        ),
        Column::figure("cpu_s_per_million", "CPU s/M", "", |(row, _)| figure(row.cpu_s_per_million), Digits(2)),
        Column::figure("", "lost", "%", |(row, _)| figure(row.lost_share.filter(|_| !row.lossless)), Percent),
        Column::figure("ratio", "x ours", "", |(row, _)| figure(row.ratio), Digits(2)),
    ]
}

fn name(row: &ChannelRow, is_reference: bool) -> String {
    format!("{} {}", if is_reference { '*' } else { ' ' }, row.contender)
}

/// The rows that were timed, the fastest first.
pub(crate) fn timed(group: &ChannelGroup) -> Vec<Marked<'_>> {
    let is_reference = |row: &ChannelRow| Some(row.contender) == group.reference;
    let timed = group.rows.iter().filter(|row| row.messages_per_s.is_some());
    let mut timed: Vec<Marked<'_>> = timed.map(|row| (row, is_reference(row))).collect();
    timed.sort_by(|(a, _), (b, _)| b.messages_per_s.partial_cmp(&a.messages_per_s).expect("rates are numbers"));
    timed
}

/// The way in which a message reaches many.
pub(crate) fn fan(fan: Fan) -> &'static str {
    match fan {
        Fan::Broadcast => "one send",
        Fan::Unicast => "a send each",
    }
}

#[cfg(test)]
mod tests {
    use corecast_bench::channels::Latency;

    use super::*;
    use crate::columns::tests::{assert_documented, assert_values};

    #[test]
    fn the_table_shows_what_json_has() {
        let row = ChannelRow {
            contender: "ump",
            ours: true,
            fan: Fan::Unicast,
            lossless: true,
            summary: None,
            messages_per_s: Some(2e6),
            deliveries_per_s: None,
            sender_ns: Some(15.5),
            latency: Some(Latency { p50_ns: 90.5, p99_ns: 121.0, p999_ns: None, samples: 100 }),
            cpu_s_per_million: Some(0.5),
            lost_share: Some(0.0),
            ratio: Some(1.0),
            skipped: None,
            failed: false,
        };
        assert_documented(&columns(), "bench channels", "rows[]");
        assert_values(&columns(), &(&row, true), &row);
    }
}
