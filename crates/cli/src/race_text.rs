//! The outcome of a race, for people: a table for each operation, the fastest contender first.

use corecast::{CpuId, CpuSet};
use corecast_race::{Group, Report, Row, Summary, Timing};

use crate::row_outcome::{OwnFailures, finish};
use crate::{gate_text, printable, table};

/// All groups, the gates, and what the reader should know before believing them.
pub fn describe(report: &Report) -> String {
    let gates = if report.gates.is_empty() { String::new() } else { gate_text::describe(&report.gates) + "\n" };
    groups(report) + &gates + &notes(report)
}

/// The same without the gates, which are about corecast and not about the machine.
pub fn without_gates(report: &Report) -> String {
    groups(report) + &notes(report)
}

fn groups(report: &Report) -> String {
    report.groups.iter().map(|group| format!("{}\n{}\n", headline(group), rows(group))).collect()
}

fn notes(report: &Report) -> String {
    let mut text = String::new();
    if let Some(raw_line_ns) = report.raw_line_ns {
        text += &format!("one bare cache line, one way: {} ns\n", table::cost(raw_line_ns));
    }
    text += &format!("seed {}, waiting {}, members are {}\n", report.seed, report.wait, report.place);
    text +=
        &report.warnings.iter().map(|warning| format!("warning: {}\n", printable::line(warning))).collect::<String>();
    text + &own_failures(report).text()
}

fn headline(group: &Group) -> String {
    let cpus: CpuSet = group.cpus.iter().copied().map(CpuId::new).collect();
    let shared = if group.oversubscribed { ", which share CPU time" } else { "" };
    let burst = group.burst.map_or_else(String::new, |burst| format!(", bursts of {burst}"));
    let (members, timed) = (group.participants, timed(group.timing));
    format!("{}{}{burst}: {members} members on CPUs {cpus}{shared}{timed}", group.op, length(group))
}

/// How operations were timed: times of one way compare with no others.
fn timed(timing: Timing) -> &'static str {
    match timing {
        Timing::Batches => "; timed back to back",
        Timing::Windows => "; timed from a common start to the last member's end",
        Timing::LeafEcho => "; timed by the root, with a message from or to each leaf in turn",
        Timing::Separated => "; timed with a barrier after each",
        _ => "",
    }
}

/// The words after the name of an operation that carries another length than the usual one; else none.
pub fn length(group: &Group) -> String {
    if group.is_usual() { String::new() } else { format!(" of {} bytes", group.bytes) }
}

/// The fastest first.
fn rows(group: &Group) -> String {
    let mut table = table::table(&["contender", ">median ns", ">p99 ns", ">spread ns", ">x corecast"]);
    let mut timed: Vec<(&Row, Summary)> = group.rows.iter().filter_map(|row| Some((row, row.summary?))).collect();
    timed.sort_by(|(_, a), (_, b)| a.median_ns.total_cmp(&b.median_ns));
    for (row, Summary { median_ns, p99_ns, mad_ns, .. }) in timed {
        let mark = if row.contender == group.reference { '*' } else { ' ' };
        let name = format!("{mark} {}", row.contender);
        let ratio = row.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        table.add_row([name, table::cost(median_ns), table::cost(p99_ns), table::cost(mad_ns), ratio]);
    }
    finish(&group.rows, table)
}

/// Contenders of corecast's own that broke down.
pub fn own_failures(report: &Report) -> OwnFailures {
    let mut own = OwnFailures::default();
    report.groups.iter().for_each(|group| own.add(&headline(group), &group.rows));
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use corecast_race::Op;

    fn row(contender: &str, median_ns: Option<f64>, skipped: Option<&str>) -> Row {
        let summary = |median_ns| Summary {
            median_ns,
            p10_ns: median_ns,
            p90_ns: median_ns,
            p99_ns: 2.0 * median_ns,
            min_ns: median_ns,
            mad_ns: 1.0,
            samples: 10,
        };
        Row {
            contender: contender.to_owned(),
            ours: contender == "corecast",
            summary: median_ns.map(summary),
            cpu_ns: None,
            discarded: 0,
            ratio: median_ns.map(|median_ns| median_ns / 100.0),
            failed: skipped.is_some_and(|reason| reason.contains("did not finish")),
            skipped: skipped.map(str::to_owned),
        }
    }

    #[test]
    fn the_fastest_is_first_and_the_reference_marked() {
        let group = Group {
            op: Op::Barrier,
            burst: None,
            participants: 4,
            bytes: 0,
            cpus: vec![0, 1, 0, 1],
            oversubscribed: true,
            timing: Timing::Batches,
            root: None,
            raw_line_ns: None,
            raw_line_probes_ns: Vec::new(),
            placement_changes: 0,
            rounds_left_out: 0,
            reference: "corecast".to_owned(),
            rows: vec![
                row("corecast", Some(100.0), None),
                row("std", Some(50.0), None),
                row("a", None, Some("not here")),
            ],
        };
        assert_eq!(headline(&group), "barrier: 4 members on CPUs 0-1, which share CPU time; timed back to back");
        let long = Group { op: Op::Broadcast, bytes: 4096, oversubscribed: false, ..group.clone() };
        assert_eq!(headline(&long), "broadcast of 4096 bytes: 4 members on CPUs 0-1; timed back to back");
        let timed = [Timing::Windows, Timing::LeafEcho, Timing::Separated];
        let told = timed.map(|timing| headline(&Group { timing, ..long.clone() }));
        assert!(told[0].ends_with("; timed from a common start to the last member's end"), "{told:?}");
        assert!(told[1].ends_with("; timed by the root, with a message from or to each leaf in turn"), "{told:?}");
        assert!(told[2].ends_with("; timed with a barrier after each"), "{told:?}");
        let text = rows(&group);
        assert!(text.find("  std").expect("timed") < text.find("* corecast").expect("timed"), "{text}");
        assert!(text.contains("0.50\n") && text.ends_with("   skipped, not here: a\n"), "{text}");
    }

    #[test]
    fn one_of_ours_that_did_not_finish_is_told_twice_and_fails_the_run() {
        let mut report = example::race(&[(2, 2)]);
        assert!(own_failures(&report).check().is_ok(), "a contender that cannot take part is no failure");
        let group = &mut report.groups[0];
        group.rows[0] = Row { ours: true, ..row("corecast", None, Some("members [1] did not finish within 2000 ms")) };
        let text = describe(&report);
        let in_table = text.lines().any(|line| line.split_whitespace().take(2).eq(["corecast", "failed"]));
        assert!(in_table, "{text}");
        assert!(text.contains("   failed, members [1] did not finish within 2000 ms: corecast\n"), "{text}");
        let last = text.lines().last().expect("a summary");
        assert!(last.starts_with("corecast failed in ") && last.ends_with("did not finish within 2000 ms"), "{text}");
        let failure = own_failures(&report).check().expect_err("it did not finish");
        assert_eq!(format!("{:?}", failure.exit_code()), format!("{:?}", std::process::ExitCode::from(1)));
    }
}
