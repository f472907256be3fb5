//! `corecast bench locks`: what locks cost alone, and what many threads get from them.

use std::time::Duration;

use corecast_bench::{LockCell, LockOptions, LockReport, Options, locks};

use crate::failure::Failure;
use crate::meter::Meter;
use crate::output::Output;
use crate::{gate_text, skipped, table};

use super::Shared;

/// The most threads: each has a stack.
const MOST_THREADS: i64 = 10_000;
/// The most locks: each has lines of its own.
const MOST_LOCKS: i64 = 1 << 20;

/// Options of `bench locks`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shared: Shared,
    /// The numbers of threads [default: 1, 2, 4, 8 and 16, or 1, 2 and 16 with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_THREADS))]
    threads: Vec<usize>,
    /// The numbers of locks, chosen from at random [default: 1, 4, 16, 32, 128 and 512, or 1, 16 and 512 with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_LOCKS))]
    locks: Vec<usize>,
    /// How long each thread spins in the critical section, beyond writing a line, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    hold: u64,
    /// Race these locks only [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
}

fn count(most: i64) -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u64).range(1..=most as u64).map(|count| count as usize)
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let (model, options) = self.shared.prepare(output)?;
        let Self { quick, seed, .. } = *self;
        let options = Options { quick, seed, contenders: self.contenders.clone(), ..options };
        let (threads, locks_asked) = (self.threads.clone(), self.locks.clone());
        let options = LockOptions { options, threads, locks: locks_asked, hold: Duration::from_nanos(self.hold) };
        let report = locks(&model.machine, &options, &mut Meter::start(output))?;
        if output.is_json() { output.json(&report) } else { output.text(&describe(&report)) }
    }
}

fn describe(report: &LockReport) -> String {
    let mut pairs = table::table(&["lock", ">ns", ">best"]);
    for row in &report.pairs {
        pairs.add_row([row.contender.clone(), format!("{:.1}", row.median_ns), format!("{:.1}", row.min_ns)]);
    }
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    format!(
        "lock and unlock by one thread, ns\n{}\n{}\n{}",
        table::text(&pairs),
        cells.join("\n"),
        gate_text::describe(&report.gates)
    )
}

fn describe_cell(cell: &LockCell) -> String {
    let mut rows =
        table::table(&["lock", ">M/s", ">regret", ">Jain", ">most/fewest", ">wait p50 ns", ">p99", ">p99.9"]);
    for row in cell.rows.iter().filter(|row| row.skipped.is_none()) {
        rows.add_row([
            row.contender.clone(),
            table::number(row.mops, 3),
            table::number(row.regret, 2),
            table::number(row.jain, 2),
            table::number(row.most_to_fewest, 1),
            table::number(row.wait_p50_ns, 0),
            table::number(row.wait_p99_ns, 0),
            table::number(row.wait_p999_ns, 0),
        ]);
    }
    let shared = if cell.oversubscribed { ", more threads than CPUs" } else { "" };
    let hold = if cell.hold_ns == 0 { String::new() } else { format!(", each held for {} ns", cell.hold_ns) };
    let skipped = cell.rows.iter().filter_map(|row| Some((row.contender.as_str(), row.skipped.as_deref()?)));
    let head = format!("{}, {}{hold}{shared}", table::many(cell.threads, "thread"), table::many(cell.locks, "lock"));
    format!("{head}\n{}{}", table::text(&rows), skipped::lines(skipped))
}
