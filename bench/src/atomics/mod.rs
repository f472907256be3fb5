//! `corecast bench atomics`: the throughput of many threads that work on one word by compare and swap, test and set, fetch
//! and increment, swap, and fetch and increment made of compare and swap.
//!
//! The stress of SSYNC (David, Guerraoui, Trigonakis, SOSP 2013). After each call a thread pauses for at least as long as a
//! line takes between the farthest CPUs. Operations run in turns, in an order drawn anew for each round, each block over a
//! new line; what the line holds in the end is compared with what was counted before a figure counts. How long a call takes
//! is known of one in 16, by a fenced clock whose own time is taken off; no sample is left out.

mod operation;
mod report;
mod stress;

use std::time::Duration;

use corecast::base::{Clock, CpuId};
use corecast::machine::Machine;

use crate::coherence::{Correction, measure_timer};
use crate::counts::{doubled_up_to, or_usual};
use crate::published::{Published, PublishedFigure, beside, is_one_package};
use crate::stats::{Samples, jain, mean, median, median_of, most};
use crate::transfer::{LineTransfer, transfers};
use crate::turns::{Raced, Situation, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::is_crowded;
use corecast_race::options::Options;
use corecast_race::progress::Progress;
use operation::{Cas, Fai, FaiByCas, Operation, Swap, Tas};
pub use report::{AtomicCell, AtomicReport, AtomicRow};
use stress::{Stress, Turn, turn};

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct AtomicOptions {
    /// CPUs, operations (`contenders`), pace, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The numbers of threads; 1, 2, 4, .. up to the number of CPUs, and twice that, by default.
    pub threads: Vec<usize>,
    /// How long each thread pauses after each call; the longest line transfer by default.
    pub pause: Option<Duration>,
}

/// How much is measured.
struct Amount {
    rounds: usize,
    block: Duration,
}

const THOROUGH: Amount = Amount { rounds: 11, block: Duration::from_millis(100) };
/// A block is longer than a scheduler lets a thread run while others wait.
const QUICK: Amount = Amount { rounds: 5, block: Duration::from_millis(20) };

/// One operation.
#[derive(Clone, Copy)]
struct Contender {
    name: &'static str,
    turn: fn(&Stress<'_>) -> Result<Turn, Failure>,
}

fn contenders() -> Vec<Contender> {
    fn contender<O: Operation>(name: &'static str) -> Contender {
        Contender { name, turn: turn::<O> }
    }
    vec![
        contender::<Cas>("cas"),
        contender::<Tas>("tas"),
        contender::<Fai>("fai"),
        contender::<Swap>("swap"),
        contender::<FaiByCas>("fai-by-cas"),
    ]
}

/// Stresses one word with each operation.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, a timer is unsteady, or the run is cancelled.
///
/// # Panics
/// If a number of threads is 0.
pub fn atomics(
    machine: &Machine,
    options: &AtomicOptions,
    progress: &mut dyn Progress,
) -> Result<AtomicReport, BenchError> {
    let AtomicOptions { options: shared, threads, pause } = options;
    assert!(!threads.contains(&0), "a stress has a thread");
    let cpus = shared.usable_cpus(machine)?;
    let contenders = shared.chosen(contenders(), |contender| contender.name)?;
    let (amount, seed) = (if shared.quick { QUICK } else { THOROUGH }, shared.seed_or_draw());
    let mut order = TurnOrder::new(shared, seed);
    progress.step(0.0, "line transfers and timers");
    let lines = transfers(machine, &cpus, shared)?;
    let pause = pause.unwrap_or_else(|| longest(&lines));
    let corrected = |cpu: CpuId| Ok((cpu, measure_timer(cpu)?.1));
    let seats = cpus.iter().map(corrected).collect::<Result<Vec<(CpuId, Correction)>, BenchError>>()?;
    let usual = || doubled_up_to(cpus.len()).into_iter().chain([2 * cpus.len()]).collect();
    let threads = or_usual(threads, usual);
    let mut cells = Vec::new();
    for &count in &threads {
        progress.step(cells.len() as f64 / threads.len() as f64, &format!("{count} threads"));
        let stress = Stress { threads: count, cpus: &seats, pause, time: amount.block, cancel: shared.cancel.clone() };
        cells.push(cell(&contenders, &stress, &amount, &mut order)?);
    }
    progress.step(1.0, "done");
    Ok(AtomicReport {
        machine: machine.name.clone(),
        commit: shared.commit.clone(),
        seed,
        quick: shared.quick,
        cpus: cpus.iter().map(CpuId::get).collect(),
        pause_ns: u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX),
        block_ms: u64::try_from(amount.block.as_millis()).unwrap_or(u64::MAX),
        rounds: amount.rounds,
        published: published(&machine.restricted_to(&cpus), &cells, pause >= longest(&lines) && !lines.is_empty()),
        lines,
        cells,
    })
}

/// The shortest allowed pause, in whole nanoseconds.
fn longest(lines: &[LineTransfer]) -> Duration {
    let longest_ns = most(lines.iter().map(|line| line.line_ns)).unwrap_or(0.0);
    // A pause ends up to a tick early.
    Duration::from_nanos((longest_ns + Clock::get().ns(1)).ceil() as u64)
}

/// All operations with one number of threads.
struct Operations<'a> {
    contenders: &'a [Contender],
    stress: &'a Stress<'a>,
    rounds: usize,
}

impl Situation for Operations<'_> {
    type Block = Turn;
    const IS_CHECKED: bool = false;

    fn wants_round(&mut self, rounds: usize) -> bool {
        rounds < self.rounds
    }

    fn block(&mut self, at: usize) -> Result<Turn, Failure> {
        (self.contenders[at].turn)(self.stress)
    }
}

fn cell(
    contenders: &[Contender],
    stress: &Stress<'_>,
    amount: &Amount,
    order: &mut TurnOrder<'_>,
) -> Result<AtomicCell, BenchError> {
    let mut operations = Operations { contenders, stress, rounds: amount.rounds };
    let raced = order.race(contenders.len(), &mut operations)?;
    let rows = contenders.iter().zip(&raced).map(|(contender, raced)| row(contender.name, raced)).collect();
    Ok(AtomicCell { threads: stress.threads, oversubscribed: is_crowded(stress.threads, stress.cpus.len()), rows })
}

fn row(contender: &'static str, raced: &Raced<Turn>) -> AtomicRow {
    let turns = &raced.blocks;
    let rates =
        |of: fn(&Turn) -> u64| turns.iter().map(|turn| of(turn) as f64 / turn.seconds / 1e6).collect::<Vec<_>>();
    let (mops, latencies) =
        (rates(calls), Samples::of(turns.iter().flat_map(|turn| turn.latencies_ns.iter().copied())));
    let sum = |of: fn(&Turn) -> u64| turns.iter().map(of).sum();
    AtomicRow {
        contender,
        calls: sum(calls),
        successes: sum(|turn| turn.successes),
        tries: sum(|turn| turn.tries),
        mops: median(&mops),
        mean_mops: mean(&mops),
        max_mops: most(mops),
        success_mops: median(&rates(|turn| turn.successes)),
        jain: median_of(turns.iter().map(|turn| jain(&turn.calls))),
        p50_ns: latencies.quantile(0.50),
        p99_ns: latencies.quantile(0.99),
        p999_ns: latencies.quantile(0.999),
        samples: latencies.all().len(),
        skipped: raced.skipped(),
    }
}

fn calls(turn: &Turn) -> u64 {
    turn.calls.iter().sum()
}

/// SSYNC's figure, beside the most that any operation gets from the most threads that have a CPU each, if these are
/// several, all in one package, and pause for long enough that others get the line.
fn published(machine: &Machine, cells: &[AtomicCell], is_long_enough: bool) -> Vec<PublishedFigure> {
    let is_like = is_long_enough && is_one_package(machine);
    let seated = cells.iter().filter(|cell| !cell.oversubscribed && cell.threads > 1 && is_like);
    let largest = seated.max_by_key(|cell| cell.threads);
    let here = largest.and_then(|cell| most(cell.rows.iter().map(|row| row.mops)));
    let figure = Published {
        figure: "threads of one socket on one word, millions of operations in a second",
        machine: "multi-socket machines of 2010 to 2012",
        there: [20.0, 20.0],
        here: |here: &Option<f64>| *here,
    };
    beside(&[figure], &here)
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Cpu, Topology};

    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn every_operation_counts_right_and_is_told_with_its_times() {
        let options = Options { quick: true, ..Options::default() };
        let options = AtomicOptions { options, threads: vec![1, 3], pause: None };
        let report = atomics(&this_machine(), &options, &mut ()).expect("it runs");
        assert_eq!(report.cells.iter().map(|cell| cell.threads).collect::<Vec<_>>(), [1, 3]);
        for cell in &report.cells {
            let names: Vec<&str> = cell.rows.iter().map(|row| row.contender).collect();
            assert_eq!(names, ["cas", "tas", "fai", "swap", "fai-by-cas"]);
            for row in &cell.rows {
                assert_eq!(row.skipped, None, "{}", row.contender);
                assert!(row.successes > 0 && row.successes <= row.calls && row.calls <= row.tries, "{row:?}");
                let always = cell.threads == 1 || !["cas", "tas"].contains(&row.contender);
                assert!(!always || row.successes == row.calls, "{row:?}");
                assert!(row.success_mops <= row.mops && row.mops <= row.max_mops && row.samples > 0, "{row:?}");
                assert!(row.p50_ns <= row.p99_ns && row.p99_ns <= row.p999_ns, "{row:?}");
                assert!(row.jain.is_some_and(|jain| jain <= 1.0 + 1e-9), "{row:?}");
            }
        }
        let longest = report.lines.iter().filter_map(|line| line.line_ns).fold(0.0, f64::max);
        assert!(report.pause_ns as f64 >= longest, "{report:?}");
    }

    #[test]
    fn an_operation_that_loses_a_call_has_no_figure() {
        let broken = Contender { name: "lossy", turn: |_| Err(Failure::Wrong("the word is 3".to_owned())) };
        let seats = [(corecast::machine::pin::affinity().expect("own mask").as_slice()[0])]
            .map(|cpu| (cpu, measure_timer(cpu).expect("a steady timer").1));
        let stress = Stress {
            threads: 2,
            cpus: &seats,
            pause: Duration::ZERO,
            time: Duration::from_millis(1),
            cancel: corecast_race::Cancel::new(),
        };
        let (amount, options) = (Amount { rounds: 2, ..QUICK }, Options::default());
        let all = [broken, contenders()[2]];
        let cell = cell(&all, &stress, &amount, &mut TurnOrder::new(&options, 1)).expect("not stopped");
        assert!(cell.oversubscribed);
        assert_eq!(cell.rows[0].skipped.as_deref(), Some("wrong result: the word is 3"));
        assert_eq!((cell.rows[0].mops, cell.rows[1].mops.is_some()), (None, true));
    }

    #[test]
    fn the_published_figure_stands_beside_threads_of_one_package() {
        let machine = |packages: [u32; 2]| {
            let cpus = packages
                .iter()
                .enumerate()
                .map(|(id, &package)| Cpu { package: Some(package), ..Cpu::flat(CpuId::new(id as u32)) });
            Machine::from_topology(&Topology { cpus: cpus.collect(), ..Topology::default() })
        };
        let cell = |threads, mops| AtomicCell {
            threads,
            oversubscribed: threads > 2,
            rows: vec![AtomicRow { mops: Some(mops), ..AtomicRow::default() }],
        };
        let cells = [cell(1, 90.0), cell(2, 30.0), cell(4, 50.0)];
        let here = |packages, cells: &[AtomicCell]| published(&machine(packages), cells, true)[0].here;
        assert_eq!((here([0, 0], &cells), here([0, 1], &cells), here([0, 0], &cells[..1])), (Some(30.0), None, None));
    }

    #[test]
    #[should_panic(expected = "a stress has a thread")]
    fn a_stress_of_nobody_is_refused() {
        let options = AtomicOptions { threads: vec![2, 0], ..AtomicOptions::default() };
        let _refused = atomics(&this_machine(), &options, &mut ());
    }

    #[test]
    fn the_user_stops_it_and_an_unknown_operation_is_named() {
        let run = |options| {
            let options = AtomicOptions { options, threads: vec![2], pause: None };
            atomics(&this_machine(), &options, &mut ()).expect_err("no report")
        };
        let unknown = run(Options { contenders: vec!["xor".to_owned()], ..Options::default() }).to_string();
        assert_eq!(unknown, "no contender is called 'xor': there are cas, tas, fai, swap, fai-by-cas");
        let stopped = Options::default();
        stopped.cancel.cancel();
        assert_eq!(run(stopped), BenchError::Cancelled);
    }
}
