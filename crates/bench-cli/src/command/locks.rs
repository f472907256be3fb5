//! `corecast bench locks`: the cost of a lock without contention, and the throughput of many threads.

use std::time::Duration;

use corecast_bench::{LockCell, LockDistance, LockOptions, LockReport, RegretRow, locks};
use corecast_race::Options;

use crate::columns::{self, locks as lists};
use crate::html_arg::HtmlArg;
use crate::page::render_locks;
use crate::{flips_text, lock_situation, readers_text};
use corecast_cli::failure::Failure;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::row_outcome::OwnFailures;
use corecast_cli::{gate_text, table};

use super::{Shared, count};

/// The most threads: each has a stack.
const MOST_THREADS: u64 = 10_000;
/// The most foreign threads, which all want a CPU.
const MOST_FOREIGN: u64 = 1000;
/// The most locks: each has lines of its own.
const MOST_LOCKS: u64 = 1 << 20;

/// The longest that a thread may hold a lock and stay outside, ns: it does not see meanwhile that the run is over.
const MOST_SPUN_NS: u64 = 1_000_000_000;

/// Options of `bench locks`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The numbers of threads [default: 1, 2, 4, 8 and 16, or 1, 2 and 16 with --quick; for readers and writers 1, 2, 4, and two
    /// and eight times the CPUs, or 1, one and eight times the CPUs; for closures 2, 4, 8 and 16, or 2 and 16].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_THREADS))]
    threads: Vec<usize>,
    /// The numbers of locks, chosen from at random [default: 1, 4, 16, 32, 128 and 512, or 1, 16 and 512 with --quick].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = count(MOST_LOCKS))]
    locks: Vec<usize>,
    /// How long each thread spins in the critical section, beyond writing a line, in nanoseconds [default: 0 and 2000].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    hold: Vec<u64>,
    /// How many times as long as it holds a lock each thread stays outside between two, such as 0,1,10 [default: as in SSYNC's
    /// experiment, 200 ns where several threads take one lock, and no time elsewhere].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(..=1000))]
    gap: Vec<u32>,
    /// The numbers of threads beside that spin and take no lock, each bound to a CPU in turn [default: none].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(..=MOST_FOREIGN))]
    foreign: Vec<u64>,
    /// Whether threads are bound to CPUs [default: pinned and unpinned].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    placement: Vec<Placement>,
    /// How many of a hundred accesses of readers and writers are writes [default: 0, 1, 10 and 50].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(..=100))]
    writes: Vec<u32>,
    /// Also let what threads do alternate every 100 ms, and find out how soon each lock settles: some 40 seconds with --quick,
    /// else a minute and a half.
    #[arg(long)]
    flips: bool,
    /// Race these only: mutexes, combine and delegate, locks for readers and writers [default: all]. Also auto-prior, auto-spin,
    /// auto-queue and auto-park: see --ablations.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    contenders: Vec<String>,
    /// Also race auto with something left out: auto-prior decides by costs that are reckoned and not measured, auto-spin,
    /// auto-queue and auto-park keep to a mode; and the ticket locks of SSYNC's figure 3, ticket-plain, ticket-backoff and
    /// ticket-prefetchw. The demands on all locks are not judged then.
    #[arg(long)]
    ablations: bool,
    /// The seed of all random choices [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fewer and shorter blocks.
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    html: HtmlArg,
}

/// Where threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Placement {
    /// Each on a CPU of its own, as far as there are enough.
    Pinned,
    /// Wherever the system puts them.
    Unpinned,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        self.html.check()?;
        self.check_spinning()?;
        let (model, options) = Shared::of_machine(&self.machine).prepare(output)?;
        let Self { quick, seed, flips, ablations, .. } = *self;
        let options = Options { quick, seed, contenders: self.contenders.clone(), ..options };
        let (threads, locks_asked) = (self.threads.clone(), self.locks.clone());
        let holds = self.hold.iter().map(|&ns| Duration::from_nanos(ns)).collect();
        let pinned = self.placement.iter().map(|&placement| placement == Placement::Pinned).collect();
        let foreign = self.foreign.iter().map(|&threads| threads as usize).collect();
        let (gaps, writes) = (self.gap.clone(), self.writes.clone());
        let options = LockOptions {
            options,
            threads,
            locks: locks_asked,
            holds,
            gaps,
            foreign,
            pinned,
            writes,
            flips,
            ablations,
        };
        let report = locks(&model.machine, &options, &mut Meter::start(output))?;
        self.html.tell(output, (&report, report.seed), describe, render_locks)?;
        own_failures(&report).check()
    }

    /// Every hold is combined with every gap.
    fn check_spinning(&self) -> Result<(), Failure> {
        let (hold, gap) = (self.hold.iter().max().copied().unwrap_or(0), self.gap.iter().max().copied().unwrap_or(0));
        if hold * (u64::from(gap) + 1) <= MOST_SPUN_NS {
            return Ok(());
        }
        Err(Failure::input(format!(
            "with --hold {hold} and --gap {gap} a thread would spin for more than 1 s between two looks at whether the run is \
             over, expected hold x (gap + 1) to be {MOST_SPUN_NS} ns at most"
        )))
    }
}

fn describe(report: &LockReport) -> String {
    let distances: Vec<String> = report.distances.iter().map(describe_distance).collect();
    let cells: Vec<String> = report.cells.iter().map(describe_cell).collect();
    format!(
        "lock and unlock by one thread, ns\n{}\n{}\n{}\n{}{}{}{}\n{}{}",
        columns::contenders(lists::PAIR, &report.pairs),
        distances.join("\n"),
        cells.join("\n"),
        describe_combining(&report.combining),
        readers_text::describe(&report.readers),
        flips_text::describe(&report.flips),
        describe_regrets(&report.regrets),
        gate_text::describe(&report.gates),
        left_out(report.left_out) + &own_failures(report).text()
    )
}

fn left_out(situations: usize) -> String {
    if situations == 0 {
        return String::new();
    }
    format!("the time was over: {} left out, and not judged\n", table::many(situations, "situation"))
}

fn own_failures(report: &LockReport) -> OwnFailures {
    let mut own = OwnFailures::default();
    own.add("lock and unlock by one thread", &report.pairs);
    report.distances.iter().for_each(|distance| own.add(&distance_title(distance), &distance.rows));
    report.cells.iter().chain(&report.combining).for_each(|cell| own.add(&cell_title(cell), &cell.rows));
    readers_text::add_own_failures(&report.readers, &mut own);
    flips_text::add_own_failures(&report.flips, &mut own);
    own
}

fn describe_distance(distance: &LockDistance) -> String {
    format!("{}\n{}", distance_title(distance), columns::contenders(lists::DISTANCE, &distance.rows))
}

fn distance_title(distance: &LockDistance) -> String {
    let cpus = distance.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
    match distance.cpus.len() {
        1 => format!("taken again and again on CPU {cpus}"),
        _ => format!("taken in turns by CPUs {cpus}: {}", distance.distance),
    }
}

fn describe_combining(cells: &[LockCell]) -> String {
    let tables = cells.iter().map(|cell| format!("closures sent, or the data locked: {}", describe_cell(cell)));
    tables.collect()
}

fn describe_regrets(regrets: &[RegretRow]) -> String {
    format!(
        "over all situations: throughput of the lock that was best in the odd rounds / of this one, in the even ones\n{}",
        table::text(&columns::filled(lists::REGRET, regrets))
    )
}

fn describe_cell(cell: &LockCell) -> String {
    format!("{}\n{}", cell_title(cell), columns::contenders(lists::CELL, &cell.rows))
}

fn cell_title(cell: &LockCell) -> String {
    let shared = if cell.oversubscribed { ", more threads than CPUs" } else { "" };
    let free = if cell.pinned { "" } else { ", unpinned" };
    let words = lock_situation::words(cell);
    format!("{}, {}{words}{free}{shared}", table::many(cell.threads, "thread"), table::many(cell.locks, "lock"))
}
