//! The results of a race of channels as text: a table for each length and number of receivers, and the gates.

use corecast_bench::channels::{ChannelGroup, ChannelReport, ChannelRow, Fan, ListedCarrier, Traffic};

use crate::columns::Format::{Cost, Digits, Percent, Thousands};
use crate::columns::{Column, figure, filled};
use corecast_cli::row_outcome::{OwnFailures, finish};
use corecast_cli::{gate_text, printable, table};

/// All groups, the gates, and what the reader should know before believing them.
pub(crate) fn describe(report: &ChannelReport) -> String {
    let mut text = String::new();
    for group in &report.groups {
        text += &format!("{}\n{}\n", headline(group, report), rows(group));
    }
    text += &gate_text::describe(&report.gates);
    if let Some(raw_line_ns) = report.raw_line_ns {
        text += &format!("\none bare cache line, one way: {} ns\n", table::cost(raw_line_ns));
    }
    if let Some(offset_ns) = report.clock_offset_ns {
        text += &format!("the CPUs' clocks differ by at most {} ns\n", table::cost(offset_ns));
    }
    text += &format!("seed {}, waiting {}, kernel {}\n", report.seed, report.wait, report.kernel);
    text +=
        &report.warnings.iter().map(|warning| format!("warning: {}\n", printable::line(warning))).collect::<String>();
    text + &own_failures(report).text()
}

fn headline(group: &ChannelGroup, report: &ChannelReport) -> String {
    let ChannelGroup { bytes, receivers, depth, .. } = group;
    let who = match (*receivers, report.place) {
        (1, "processes") => "1 process".to_owned(),
        (1, _) => "1 thread".to_owned(),
        (n, place) => format!("{n} {place}"),
    };
    let crowd = if group.oversubscribed { ", oversubscribed" } else { "" };
    match report.traffic {
        Traffic::Stream => format!("{bytes} bytes to {who}, {depth} under way{crowd}"),
        traffic => format!("{} of {bytes} bytes among {who}, requests per second{crowd}", traffic.name()),
    }
}

/// A row, and whether others are compared with it.
type Marked<'a> = (&'a ChannelRow, bool);

fn columns<'a>() -> [Column<Marked<'a>>; 10] {
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

/// The fastest first.
fn rows(group: &ChannelGroup) -> String {
    let is_reference = |row: &ChannelRow| Some(row.contender) == group.reference;
    let timed = group.rows.iter().filter(|row| row.messages_per_s.is_some());
    let mut timed: Vec<Marked<'_>> = timed.map(|row| (row, is_reference(row))).collect();
    timed.sort_by(|(a, _), (b, _)| b.messages_per_s.partial_cmp(&a.messages_per_s).expect("rates are numbers"));
    finish(&group.rows, filled(&columns(), &timed))
}

/// Contenders of corecast's own that broke down.
pub(crate) fn own_failures(report: &ChannelReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    report.groups.iter().for_each(|group| own.add(&headline(group, report), &group.rows));
    own
}

fn fan(fan: Fan) -> &'static str {
    match fan {
        Fan::Broadcast => "one send",
        Fan::Unicast => "a send each",
    }
}

/// The table that `--list` prints.
pub(crate) fn list(carriers: &[ListedCarrier]) -> String {
    let mut table = table::table(&["contender", "", "receivers", "arrives", "about"]);
    for ListedCarrier { contender, about, traits } in carriers {
        let receivers = if traits.processes { "threads, processes" } else { "threads" };
        let arrives = if traits.lossless { "all" } else { "what fits" };
        table.add_row([contender, fan(traits.fan), receivers, arrives, about]);
    }
    table::text(&table)
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
