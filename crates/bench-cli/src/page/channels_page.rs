//! A page about channels from one sender to many receivers, with the pictures of ZIMP's authors: throughput against the length
//! of messages for each number of receivers, and against the number of receivers for each length.

use corecast_bench::channels::{ChannelGroup, ChannelReport, ChannelRow, Traffic};
use corecast_cli::report::frame::Frame;
use corecast_cli::report::gates;
use corecast_cli::report::plain_table::row_reasons;
use corecast_cli::table::many;
use maud::{Markup, html};

use super::column_table::table;
use super::published;
use super::throughput::{Rate, Situation, pictures};
use crate::channel_text::headline;
use crate::columns::channels::{columns, timed};

/// The result as an HTML document in UTF-8, which loads and runs nothing, as [`render`](super::render)'s. `created_at` is
/// any text, and `command` what makes it again.
pub(crate) fn render_channels(report: &ChannelReport, created_at: &str, version: &str, command: &str) -> String {
    let heading = "Channels from one sender to many receivers";
    let frame = Frame { kind: "corecast bench channels", heading, machine: &report.machine, created_at, version };
    let what = if report.traffic == Traffic::Stream { "thousands of messages" } else { "thousands of requests" };
    let main = html! {
        section {
            h2 { "Throughput" }
            p { (measured(report.traffic)) " Further up is better." }
            @for warning in &report.warnings { p class="note" { (warning) } }
            (pictures((what, "bytes"), &report.groups.iter().map(|group| by_length(group, report)).collect::<Vec<_>>()))
            (pictures((what, "receivers"), &report.groups.iter().map(|group| by_receivers(group, report)).collect::<Vec<_>>()))
        }
        section {
            h2 { "Tables" }
            p { "The fastest first; `*`: the contender to which ratios refer. `x ours` above 1 is slower." }
            @for group in &report.groups { (table_of_group(group, report)) }
        }
        (published::section(&report.published))
        (gates::section(&report.gates))
        section { h2 { "Make it again" } pre { code { (command) } } }
    };
    frame.around(&frame.header(&html! {}), &main)
}

fn measured(traffic: Traffic) -> &'static str {
    match traffic {
        Traffic::Stream => {
            "The sender writes every byte of a message, and every receiver reads it. A message counts once all receivers have it."
        }
        Traffic::Paxos | Traffic::Checkpoint => {
            "The messages of a program without its computations: one request after the other, each answered by all."
        }
    }
}

/// One step of a curve against lengths. All steps of a curve have the same receivers, so its title tells of a crowd.
fn by_length<'a>(group: &'a ChannelGroup, report: &ChannelReport) -> Situation<'a> {
    let crowd = if group.oversubscribed { ", more participants than CPUs" } else { "" };
    let words = format!("{}{}{crowd}", program(report.traffic), receivers(group.receivers, report.place));
    Situation { words, participants: group.bytes, is_oversubscribed: false, rates: rates(group) }
}

/// One step of a curve against receivers.
fn by_receivers<'a>(group: &'a ChannelGroup, report: &ChannelReport) -> Situation<'a> {
    Situation {
        words: format!("{}{} bytes", program(report.traffic), group.bytes),
        participants: group.receivers,
        is_oversubscribed: group.oversubscribed,
        rates: rates(group),
    }
}

fn program(traffic: Traffic) -> String {
    if traffic == Traffic::Stream { String::new() } else { format!("{}, ", traffic.name()) }
}

fn receivers(receivers: usize, place: &str) -> String {
    format!("{}, {place}", many(receivers, "receiver"))
}

fn rates(group: &ChannelGroup) -> Vec<Rate<'_>> {
    let rate = |row: &ChannelRow| Rate {
        contender: row.contender,
        is_ours: row.ours,
        rate: row.messages_per_s.map(|rate| rate / 1e3),
    };
    group.rows.iter().map(rate).collect()
}

fn table_of_group(group: &ChannelGroup, report: &ChannelReport) -> Markup {
    html! {
        details {
            summary { (headline(group, report)) }
            (table("", &columns(), &timed(group)))
            (row_reasons(&group.rows))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_bench::channels::{Fan, Seating};

    fn group(bytes: usize, receivers: usize) -> ChannelGroup {
        let row = |contender, rate: Option<f64>| ChannelRow {
            contender,
            ours: contender == "mcast",
            fan: Fan::Broadcast,
            lossless: true,
            summary: None,
            messages_per_s: rate,
            deliveries_per_s: rate,
            sender_ns: None,
            latency: None,
            cpu_s_per_million: None,
            lost_share: None,
            ratio: Some(1.25),
            skipped: rate.is_none().then(|| "<b>not here".to_owned()),
            failed: false,
        };
        ChannelGroup {
            bytes,
            receivers,
            cpus: Vec::new(),
            oversubscribed: receivers > 1,
            depth: 64,
            raw_line_ns: None,
            placement_changes: 0,
            reference: Some("mcast"),
            rows: vec![row("zimp", Some(4e6)), row("mcast", Some(5e6)), row("tcp", None)],
        }
    }

    fn report(groups: Vec<ChannelGroup>) -> ChannelReport {
        ChannelReport {
            machine: "<script>box".to_owned(),
            kernel: String::new(),
            commit: None,
            seed: 4,
            quick: true,
            traffic: Traffic::Stream,
            place: "threads",
            seating: Seating::Pinned,
            wait: "adaptive",
            seconds_per_row: 2.0,
            clock_offset_ns: None,
            raw_line_ns: None,
            placement_changes: 0,
            warnings: vec!["<i>read me".to_owned()],
            groups,
            published: Vec::new(),
            gates: Vec::new(),
        }
    }

    #[test]
    fn both_pictures_of_the_paper_are_there_and_hostile_names_stay_text() {
        let groups = vec![group(64, 1), group(4_000, 1), group(64, 2), group(4_000, 2)];
        let page = render_channels(&report(groups), "today", "0.0.0", "corecast bench channels --seed 4");
        assert!(["<script>", "<b>", "<i>"].iter().all(|tag| !page.contains(tag)), "{page}");
        assert_eq!(page.matches("<svg").count(), 4, "two numbers of receivers, two lengths");
        for words in [
            "1 receiver, threads: thousands of messages in a second, against bytes",
            "2 receivers, threads, more participants than CPUs: thousands of messages in a second, against bytes",
            "64 bytes: thousands of messages in a second, against receivers",
            "2*",
            "64 bytes to 1 thread, 64 under way",
            "* mcast",
            "not here",
            "1.25",
            "--seed 4",
        ] {
            assert!(page.contains(words), "'{words}' is not in {page}");
        }
    }

    #[test]
    fn programs_have_requests_and_a_page_may_be_empty() {
        let groups = vec![group(1, 3), group(10_000, 3)];
        let page = |groups| {
            let report = ChannelReport { traffic: Traffic::Paxos, ..report(groups) };
            render_channels(&report, "today", "0.0.0", "")
        };
        let paxos = page(groups);
        assert!(paxos.contains("paxos, 3 receivers") && paxos.contains("thousands of requests"), "{paxos}");
        assert_eq!(page(Vec::new()).matches("<svg").count(), 0);
    }
}
