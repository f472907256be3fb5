//! `corecast bench atomics`: the throughput of many threads on one word, by atomic operation.

use std::time::Duration;

use corecast_bench::{AtomicCell, AtomicOptions, AtomicReport, atomics};
use corecast_race::Options;

use crate::columns::{self, atomics::CELL};
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

fn describe_cell(cell: &AtomicCell) -> String {
    let rows = columns::filled(CELL, cell.rows.iter().filter(|row| row.skipped.is_none()));
    let shared = if cell.oversubscribed { ", more threads than CPUs" } else { "" };
    let skipped = cell.rows.iter().filter_map(|row| Some((row.contender, row.skipped.as_deref()?)));
    format!("{}{shared}\n{}{}", many(cell.threads, "thread"), table::text(&rows), skipped::lines(skipped))
}
