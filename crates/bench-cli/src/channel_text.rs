//! The results of a race of channels as text: a table for each length and number of receivers, and the gates.

use corecast_bench::PublishedFigure;
use corecast_bench::channels::{ChannelGroup, ChannelReport, ListedCarrier, Traffic};

use crate::columns::channels::{columns, fan, timed};
use crate::columns::filled;
use crate::published_text;
use corecast_cli::row_outcome::{OwnFailures, finish};
use corecast_cli::{gate_text, printable, table};

/// All groups, the gates, and what the reader should know before believing them.
pub(crate) fn describe(report: &ChannelReport) -> String {
    let mut text = String::new();
    for group in &report.groups {
        text += &format!("{}\n{}\n", headline(group, report), rows(group));
    }
    text += &published_beside(report);
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

/// The published figures of groups that were run, and an empty line: other figures would be lines without a number.
fn published_beside(report: &ChannelReport) -> String {
    let found: Vec<PublishedFigure> = report.published.iter().filter(|figure| figure.here.is_some()).cloned().collect();
    if found.is_empty() { String::new() } else { published_text::describe(&found) + "\n" }
}

/// The situation of a group in words.
pub(crate) fn headline(group: &ChannelGroup, report: &ChannelReport) -> String {
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
    finish(&group.rows, filled(&columns(), &timed(group)))
}

/// Contenders of corecast's own that broke down.
pub(crate) fn own_failures(report: &ChannelReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    report.groups.iter().for_each(|group| own.add(&headline(group, report), &group.rows));
    own
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
