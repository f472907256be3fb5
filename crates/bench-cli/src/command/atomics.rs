//! `corecast bench atomics`: the throughput of many threads on one word, by atomic operation.

use std::time::Duration;

use corecast_bench::{AtomicCell, AtomicOptions, AtomicReport, AtomicRow, atomics};
use corecast_race::Options;

use crate::columns::Format::Digits;
use crate::columns::{self, Column, figure};
use crate::html_arg::HtmlArg;
use crate::page::render_atomics;
use crate::published_text;
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::table::many;
use corecast_cli::{skipped, table};

/// The most threads: each has a stack.
const MOST_THREADS: u64 = 10_000;
/// The longest pause, a second.
const LONGEST_PAUSE_NS: u64 = 1_000_000_000;

/// Options of `bench atomics`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The numbers of threads [default: 1, 2, 4, .. and that of the CPUs, and twice that].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = super::count(MOST_THREADS))]
    threads: Vec<usize>,
    /// How long each thread pauses after each call, in nanoseconds [default: the longest line transfer, measured].
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u64).range(..=LONGEST_PAUSE_NS))]
    pause: Option<u64>,
    /// Stress with these only: cas, tas, fai, swap, fai-by-cas [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    html: HtmlArg,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        let model = self.machine.model(output)?;
        let (cpus, cancel) = (Some(model.machine.cpu_set()), Interrupt::watch()?.cancel());
        let Self { quick, seed, .. } = *self;
        let options = Options { cpus, cancel, quick, seed, contenders: self.contenders.clone(), ..Options::default() };
        let pause = self.pause.map(Duration::from_nanos);
        let options = AtomicOptions { options, threads: self.threads.clone(), pause };
        let report = atomics(&model.machine, &options, &mut Meter::start(output))?;
        self.html.tell(output, (&report, report.seed), describe, render_atomics)
    }
}

fn describe(report: &AtomicReport) -> String {
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    format!(
        "one word; each thread pauses for {} ns after each call; {} blocks of {} ms\n{}\n{}\n{}",
        report.pause_ns,
        report.rounds,
        report.block_ms,
        published_text::lines(&report.lines),
        cells.join("\n"),
        published_text::describe(&report.published)
    )
}

const CELL: &[Column<AtomicRow>] = &[
    Column::words("contender", "operation", |row| row.contender.into()),
    Column::figure("mops", "M/s", "", |row| figure(row.mops), Digits(2)),
    Column::figure("mean_mops", "mean", "", |row| figure(row.mean_mops), Digits(2)),
    Column::figure("max_mops", "most", "", |row| figure(row.max_mops), Digits(2)),
    Column::figure("success_mops", "successful M/s", "", |row| figure(row.success_mops), Digits(2)),
    Column::figure("jain", "Jain", "", |row| figure(row.jain), Digits(2)),
    Column::figure("", "instructions/call", "", |row| figure(instructions_per_call(row)), Digits(2)),
    Column::figure("p50_ns", "p50", "ns", |row| figure(row.p50_ns), Digits(0)),
    Column::figure("p99_ns", "p99", "", |row| figure(row.p99_ns), Digits(0)),
    Column::figure("p999_ns", "p99.9", "", |row| figure(row.p999_ns), Digits(0)),
];

fn instructions_per_call(row: &AtomicRow) -> Option<f64> {
    (row.calls > 0).then(|| row.tries as f64 / row.calls as f64)
}

fn describe_cell(cell: &AtomicCell) -> String {
    let rows = columns::filled(CELL, cell.rows.iter().filter(|row| row.skipped.is_none()));
    let shared = if cell.oversubscribed { ", more threads than CPUs" } else { "" };
    let skipped = cell.rows.iter().filter_map(|row| Some((row.contender, row.skipped.as_deref()?)));
    format!("{}{shared}\n{}{}", many(cell.threads, "thread"), table::text(&rows), skipped::lines(skipped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;

    #[test]
    fn the_table_shows_what_json_has() {
        let row = AtomicRow { contender: "cas", calls: 2, tries: 3, mops: Some(21.5), ..AtomicRow::default() };
        agree_with_json(CELL, &row);
        assert_eq!((instructions_per_call(&row), instructions_per_call(&AtomicRow::default())), (Some(1.5), None));
    }
}
