//! A trace for people at a terminal: its tables, and a line for each event.

use std::fmt::Write;

use corecast_cli::printable;
use corecast_cli::table::{self, table};

use super::events::{Phase, Request, Wait};
use super::outcome::TraceOutcome;
use super::tables::{Cells, by_distance, by_line, reach_words};

/// The machine, and the tables.
pub(crate) fn summary(outcome: &TraceOutcome) -> String {
    format!(
        "{}\n{}\n{}\n{}\n\n{}\n{}",
        printable::line(&outcome.headline()),
        outcome.circumstances(),
        printable::line(&outcome.costs),
        outcome.operations_words(),
        text(&by_distance(outcome)),
        text(&by_line(outcome)),
    )
}

fn text(cells: &Cells) -> String {
    let headings: Vec<&str> = cells.headings.iter().map(String::as_str).collect();
    let mut table = table(&headings);
    cells.rows.iter().for_each(|row| {
        table.add_row(row);
    });
    table::text(&table)
}

/// A line for each event, by the times at which they begin, or at which a request is served.
pub(crate) fn events(outcome: &TraceOutcome) -> String {
    let requests = outcome.requests.iter().map(|request| (request.served_ns, request_words(outcome, request)));
    let waits = outcome.waits.iter().map(|wait| (wait.begin_ns, wait_words(outcome, wait)));
    let phases = outcome.phases.iter().map(|phase| (phase.begin_ns, phase_words(outcome, phase)));
    let mut events: Vec<(f64, String)> = requests.chain(waits).chain(phases).collect();
    events.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut text = "       ns\n".to_owned();
    for (ns, words) in events {
        writeln!(text, "{ns:9.1}  {words}").expect("a text takes what is written to it");
    }
    text
}

/// A request, in words.
pub(super) fn request_words(outcome: &TraceOutcome, request: &Request) -> String {
    let Request { line, byte, cpu, thread, access, asked_ns, served_ns, comes_ns, from_cpu, reach, .. } = request;
    let by = thread.map_or_else(|| format!("CPU {cpu}"), |thread| outcome.thread_name(thread));
    let verb = match *access {
        "load" => "loads from",
        "store" => "stores to",
        _ => "exchanges in",
    };
    let byte = byte.map(|byte| format!(" byte {byte}")).unwrap_or_default();
    let from = match (request.answerer, from_cpu) {
        (Some("holder"), Some(from)) => format!("from CPU {from}, {}", reach_words(*reach)),
        (Some("home"), Some(from)) => format!("from its home, that of CPU {from}, {}", reach_words(*reach)),
        (Some(_), Some(from)) => format!("from memory at CPU {from}"),
        _ => "which it has by then".to_owned(),
    };
    let waited = served_ns - asked_ns;
    let queued = if waited > 0.0 { format!(", asked for {waited:.1} ns before") } else { String::new() };
    format!("{by} {verb} line {line} ({}{byte}) {from}, comes at {comes_ns:.1}{queued}", outcome.place(*line))
}

/// A wait, in words.
pub(super) fn wait_words(outcome: &TraceOutcome, wait: &Wait) -> String {
    let lines = wait.lines.iter().map(|&line| format!("line {line} ({})", outcome.place(line)));
    let lines = lines.collect::<Vec<_>>().join(" and ");
    let words = match wait.reason {
        "polls" => format!("polls {lines}"),
        "sleeps" => format!("sleeps at {lines}"),
        "stores" => "waits for its stores".to_owned(),
        "cpu" => "waits for its CPU".to_owned(),
        reason => format!("is {reason}"),
    };
    format!("{} {words}, until {:.1}", outcome.thread_name(wait.thread), wait.end_ns)
}

/// A phase, in words.
pub(super) fn phase_words(outcome: &TraceOutcome, phase: &Phase) -> String {
    format!("{} {}, until {:.1}", outcome.thread_name(phase.thread), phase.phase, phase.end_ns)
}
