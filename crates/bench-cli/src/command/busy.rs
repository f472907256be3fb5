//! `corecast bench busy`: how corecast and its rivals wait beside foreign load.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use corecast_bench::{
    BusyCell, BusyOptions, BusyReport, BusyRow, MAX_HOGS, MAX_ROUNDS, Neighbour, busy, busy_member, busy_operations,
};
use corecast_race::{Gate, Options, Verdict};

use crate::columns::Format::{Digits, Micros};
use crate::columns::{self, Column, count as counted, figure};
use corecast_cli::failure::Failure;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::table::{self, many};
use corecast_cli::{gate_text, own_program, skipped};

use super::{Shared, count};
use crate::tell::tell;

/// The hidden subcommand by which a process is this program again, and that of a member of a collective.
pub(super) const MEMBER: [&str; 1] = ["busy-member"];
const COLLECTIVE_MEMBER: [&str; 1] = ["collective-member"];
/// The most members: each is a thread or a process.
const MOST_MEMBERS: i64 = 256;

/// Options of `bench busy`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// The operations [default: all, or the core with --quick].
    #[arg(long = "op", value_name = "LIST", value_delimiter = ',', value_parser = operations())]
    ops: Vec<String>,
    /// The numbers of foreign processes, each with one busy thread [default: 0,1,2,4, or 0,1,2 with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, value_parser = hogs())]
    hogs: Vec<usize>,
    /// The numbers of members [default: 2,4,8, or 2,4 with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = members())]
    members: Vec<usize>,
    /// Whether members are bound to CPUs [default: both, or yes with --quick].
    #[arg(long, value_name = "WHETHER", value_parser = ["yes", "no", "both"])]
    pinned: Option<String>,
    /// Members that are threads only.
    #[arg(long, conflicts_with = "processes")]
    threads: bool,
    /// Members that are processes only [default: threads and processes, or threads with --quick].
    #[arg(long)]
    processes: bool,
    /// How the foreign processes stand with the scheduler: as any, with nice 19, or in the idle class.
    #[arg(long, value_name = "STANDING", default_value = Neighbour::Normal.name(), value_parser = neighbours())]
    neighbour: Neighbour,
    /// Let the foreign processes work for 1 ms and sleep for 1 ms, in turns.
    #[arg(long)]
    bursts: bool,
    /// Grant each contender this many CPUs' worth of time, such as 0.5, by a control group.
    #[arg(long, value_name = "CPUS", value_parser = quota)]
    quota: Option<f64>,
    /// Race these only, beside corecast's default.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Rounds asked of each run, which are repeated where they are over soon [default: 2000, or 300 with --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_ROUNDS))]
    rounds: Option<u64>,
    /// The longest time of a run, in milliseconds, before it is ended as unfinished [default: 3000, or 1000 with --quick].
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=600_000))]
    limit: Option<u64>,
    /// Runs of each contender in each situation [default: 3].
    #[arg(long, value_name = "N", value_parser = count(99))]
    repetitions: Option<usize>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer situations and rounds, and a shorter limit: less than a minute.
    #[arg(long)]
    quick: bool,
}

fn operations() -> PossibleValuesParser {
    PossibleValuesParser::new(busy_operations().iter().map(|operation| operation.op).collect::<Vec<_>>())
}

fn neighbours() -> impl TypedValueParser<Value = Neighbour> {
    let named = |name: String| Neighbour::ALL.into_iter().find(|known| known.name() == name);
    PossibleValuesParser::new(Neighbour::ALL.map(Neighbour::name)).map(move |name| named(name).unwrap_or_default())
}

fn hogs() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(i64).range(0..=MAX_HOGS as i64).map(|hogs| hogs as usize)
}

fn members() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(i64).range(2..=MOST_MEMBERS).map(|members| members as usize)
}

/// A number of CPUs that a quota can grant.
fn quota(text: &str) -> Result<f64, String> {
    let is_quota = |cpus: &f64| (0.01..=1024.0).contains(cpus);
    text.parse().ok().filter(is_quota).ok_or_else(|| "expected a number of CPUs from 0.01 to 1024".to_owned())
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.shared.prepare(output)?;
        let report = busy(&model.machine, &self.options(options)?, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        match report.failed().count() {
            0 => Ok(()),
            _ => Err(Failure::environment(failed_words(&report))),
        }
    }

    fn options(&self, options: Options) -> Result<BusyOptions, Failure> {
        let Self { quick, seed, neighbour, bursts, rounds, repetitions, .. } = *self;
        let pinned = match self.pinned.as_deref() {
            None => Vec::new(),
            Some("yes") => vec![true],
            Some("no") => vec![false],
            Some(_) => vec![true, false],
        };
        let processes = if self.processes || self.threads { vec![self.processes] } else { Vec::new() };
        let program = own_program::path()?;
        Ok(BusyOptions {
            options: Options { quick, seed, contenders: self.contenders.clone(), ..options },
            program,
            arguments: MEMBER.map(str::to_owned).to_vec(),
            collective_arguments: COLLECTIVE_MEMBER.map(str::to_owned).to_vec(),
            ops: self.ops.clone(),
            hogs: self.hogs.clone(),
            members: self.members.clone(),
            pinned,
            processes,
            neighbour,
            bursts,
            quota_cpus: self.quota,
            rounds,
            limit: self.limit.map(Duration::from_millis),
            repetitions,
        })
    }
}

/// The work of a process that disturbs or competes.
pub(super) fn member() -> Result<(), Failure> {
    busy_member().map_err(Failure::of_member)
}

fn describe(report: &BusyReport) -> String {
    let cells: Vec<String> = report.cells.iter().map(|cell| describe_cell(report, cell)).collect();
    format!("{}\n\n{}\n{}", describe_method(report), cells.join("\n"), describe_outcome(report))
}

fn describe_method(report: &BusyReport) -> String {
    let bursts = if report.bursts { ", in bursts of 1 ms" } else { "" };
    let quota = report.quota_cpus.map_or(String::new(), |cpus| format!("; contenders get {cpus} CPUs' worth of time"));
    format!(
        "{} of each contender, each a process of its own, ended after {} ms; {} empty steps between operations; hogs are \
         {}{bursts}; corecast waits {}{quota}",
        many(report.repetitions, "run"),
        report.limit_ms,
        report.steps,
        report.neighbour.name(),
        report.wait
    )
}

const CELL: &[Column<BusyRow>] = &[
    Column::words("contender", "contender", |row| row.contender.into()),
    Column::words("", "sleeps", |row| if row.sleeps { "yes" } else { "no" }.into()),
    Column::figure("runs", "runs", "", |row| counted(row.runs), Digits(0)),
    Column::figure("wall_ms", "all, ms", "", |row| figure(row.wall_ms), Digits(2)),
    Column::figure("ratio", "ratio", "", |row| figure(row.ratio), Digits(2)),
    Column::figure("median_ns", "median", "us", |row| figure(row.median_ns), Micros),
    Column::figure("p99_ns", "p99", "us", |row| figure(row.p99_ns), Micros),
    Column::figure("longest_ns", "longest", "us", |row| figure(row.longest_ns), Micros),
    Column::figure("cpu_s", "CPU s", "", |row| figure(row.cpu_s), Digits(3)),
    Column::figure("hogs_cpus", "hogs' CPUs", "", |row| figure(row.hogs_cpus), Digits(2)),
];

fn describe_cell(report: &BusyReport, cell: &BusyCell) -> String {
    let rows = columns::filled(CELL, cell.rows.iter().filter(|row| row.runs > 0));
    let verdict = match report.holds(cell) {
        Some(true) => "holds",
        Some(false) => "missed",
        None => "not judged",
    };
    let head = format!("{}, {}: {verdict}", cell.situation(), many(cell.rounds as usize, "round"));
    let absent = cell.rows.iter().filter_map(|row| Some((row.contender, row.skipped.as_deref()?)));
    format!("{head}\n{}{}{}", table::text(&rows), unfinished_lines(cell), skipped::lines(absent))
}

fn unfinished_lines(cell: &BusyCell) -> String {
    let line = |row: &BusyRow| Some(format!("   unfinished, {}: {}\n", row.contender, row.unfinished.as_ref()?));
    cell.rows.iter().filter_map(line).collect()
}

/// How many cells hold, which do not, and which contenders did not come to their ends.
fn describe_outcome(report: &BusyReport) -> String {
    let verdicts: Vec<Option<bool>> = report.cells.iter().map(|cell| report.holds(cell)).collect();
    let counted = |verdict: Option<bool>| verdicts.iter().filter(|&&found| found == verdict).count();
    let judged = counted(Some(true)) + counted(Some(false));
    let mut text =
        format!("{} of {} hold, all that is asked in them", counted(Some(true)), many(judged, "judged cell"));
    match counted(None) {
        0 => text.push('\n'),
        unjudged => text.push_str(&format!("; {} not judged\n", many(unjudged, "cell"))),
    }
    let missed: Vec<Gate> = report.gates.iter().filter(|gate| gate.verdict == Verdict::Missed).cloned().collect();
    if !missed.is_empty() {
        text.push_str(&gate_text::describe(&missed));
    }
    let unfinished = report.unfinished();
    let line = |(cell, row): (&BusyCell, &BusyRow)| {
        format!("unfinished: {} at {}: {}\n", row.contender, cell.situation(), row.unfinished.as_deref().unwrap_or(""))
    };
    text.extend(unfinished.map(line));
    text
}

fn failed_words(report: &BusyReport) -> String {
    let named: Vec<String> =
        report.failed().map(|(cell, row)| format!("{} at {}", row.contender, cell.situation())).collect();
    format!("contenders of corecast did not come to their ends: {}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let row =
            BusyRow { contender: "std", runs: 3, wall_ms: Some(1.5), median_ns: Some(2500.0), ..BusyRow::default() };
        agree_with_json(CELL, &row, "bench busy", "cells[].rows[]");
        assert!(columns::plain(CELL, [&row]).contains(" 2.50 "));
    }
}
