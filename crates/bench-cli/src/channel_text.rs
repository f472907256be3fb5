//! The outcome of a race of channels, for people: a table for each length and number of receivers, and the gates.

use corecast_bench::channels::{ChannelGroup, ChannelReport, ChannelRow, Fan, ListedCarrier, Traffic};

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

/// The fastest first.
fn rows(group: &ChannelGroup) -> String {
    let headings = [
        "contender",
        "",
        ">messages/s",
        ">sender ns",
        ">p50 ns",
        ">p99 ns",
        ">p99.9 ns",
        ">CPU s/M",
        ">lost %",
        ">x ours",
    ];
    let mut table = table::table(&headings);
    let mut timed: Vec<(&ChannelRow, f64)> =
        group.rows.iter().filter_map(|row| Some((row, row.messages_per_s?))).collect();
    timed.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    for (row, rate) in timed {
        let cost = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), table::cost);
        let mark = if Some(row.contender) == group.reference { '*' } else { ' ' };
        let lost = row.lost_share.filter(|_| !row.lossless).map(|share| format!("{:.1}", 100.0 * share));
        table.add_row([
            format!("{mark} {}", row.contender),
            fan(row.fan).to_owned(),
            digits(rate),
            cost(row.sender_ns),
            cost(row.latency.map(|latency| latency.p50_ns)),
            cost(row.latency.map(|latency| latency.p99_ns)),
            cost(row.latency.and_then(|latency| latency.p999_ns)),
            row.cpu_s_per_million.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.2}")),
            lost.unwrap_or_default(),
            row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        ]);
    }
    finish(&group.rows, table)
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

/// A rate with its thousands apart: nobody counts nine digits.
fn digits(rate: f64) -> String {
    let plain = format!("{rate:.0}");
    let lead = plain.len() % 3;
    let groups = plain.as_bytes()[lead..].chunks(3).map(|group| String::from_utf8_lossy(group));
    let parts: Vec<_> = (lead > 0).then(|| plain[..lead].into()).into_iter().chain(groups).collect();
    parts.join(" ")
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
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [0.4, 999.0, 1000.0, 1_234_567.0, 12e6].map(digits),
            ["0", "999", "1 000", "1 234 567", "12 000 000"]
        );
    }
}
