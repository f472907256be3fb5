//! `corecast bench locks`: every lock of the registry against those of the standard library, `parking_lot` and the C
//! library.
//!
//! The experiments of SSYNC (David, Guerraoui, Trigonakis, SOSP 2013) that ask what a lock costs which nobody else
//! wants, alone and where another CPU had it last, and how many acquisitions a second threads get from 1 to 512 locks.
//! The best lock of each situation is compared with every lock in all of them: its [regret](regret). Locks run in turns, in an
//! order drawn anew for each round.
//!
//! - [`grid`], [`crowd`], [`cell`]: threads at locks, in every situation; [`flips`]: while what they do changes;
//! - [`combining`]: beside data that closures are sent to; [`readers`]: locks that many may read at once;
//! - [`pair`], [`distance`]: what nobody else wants; [`ticket_variants`]: a figure of SSYNC;
//! - [`gates`], [`fairness`], [`counterparts`]: what is asked; [`steps`]: how far a run is, and how long it may take.

mod ablations;
mod c_locks;
mod cell;
mod chosen;
mod combining;
mod contenders;
mod counterparts;
mod crates;
mod crowd;
mod distance;
mod fairness;
mod flips;
mod gates;
mod grid;
mod guarded;
mod interleaved;
mod pair;
mod published;
mod readers;
mod regret;
mod report;
mod settled;
mod steps;
mod ticket_variants;
mod together;

use std::time::{Duration, Instant};

use corecast::base::CpuId;
use corecast::lock::{Domains, Params};
use corecast::machine::Machine;

use crate::stats::{least, median};
use crate::turns::{Raced, TurnOrder};
use chosen::Chosen;
use contenders::Contender;
use corecast_race::error::BenchError;
use corecast_race::options::Options;
use corecast_race::progress::Progress;
use crowd::Crowd;
use flips::Flips;
use grid::{Grid, alone};
pub(crate) use guarded::{Guarded, Line, Pthread};
use interleaved::interleaved;
pub use published::PublishedScaling;
pub use readers::{ReaderCell, ReaderPairRow, ReaderReport, ReaderRow};
use regret::Outcome;
pub use report::{
    DistanceRow, FlipPhase, FlipRow, LockCell, LockDistance, LockFlips, LockReport, LockRow, PairRow, RegretRow,
};
use steps::{Allowance, Steps, weight_s};

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct LockOptions {
    /// CPUs, contenders, pace, seed, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The numbers of threads; 1, 2, 4, 8 and 16 by default, 1, 2 and 16 if quick. Of readers and writers 1, 2, 4, and two and
    /// eight times the CPUs, or 1, one and eight times the CPUs if quick; of those that send closures 2, 4, 8 and 16, or 2 and
    /// 16.
    pub threads: Vec<usize>,
    /// The numbers of locks; 1, 4, 16, 32, 128 and 512 by default, 1, 16 and 512 if quick.
    pub locks: Vec<usize>,
    /// How long threads spin in the critical section beyond writing a line; 0 and 2 us by default.
    pub holds: Vec<Duration>,
    /// How many times as long as they hold a lock threads stay outside between two; by default what SSYNC does: 200 ns where
    /// several take one lock, and none elsewhere.
    pub gaps: Vec<u32>,
    /// The numbers of threads beside that spin and take no lock; none by default.
    pub foreign: Vec<usize>,
    /// Whether threads are bound to CPUs; both by default.
    pub pinned: Vec<bool>,
    /// Whether `auto` with something left out, and the ticket locks of SSYNC, are raced too, if no contenders are named.
    pub ablations: bool,
    /// Of readers and writers: how many of a hundred accesses are writes; 0, 1, 10 and 50 by default.
    pub writes: Vec<u32>,
    /// Whether there are also runs in which the number of threads, or how long they hold a lock, changes every 100 ms.
    pub flips: bool,
}

/// The time of one lock and unlock alone, about.
const PAIR: Duration = Duration::from_nanos(20);

/// The contenders, the CPUs, and how much is measured.
struct Field<'a> {
    contenders: &'a [Contender],
    cpus: &'a [CpuId],
    domains: &'a Domains,
    amount: &'a Amount,
    options: &'a Options,
}

/// How much is measured.
struct Amount {
    /// Even: the best is chosen in one half, and compared in the other.
    rounds: usize,
    pairs: u32,
    block: Duration,
    /// Acquisitions of each of two that take a lock in turns, over all rounds.
    handed: usize,
    /// Those of a round take no longer.
    handed_time: Duration,
    /// No round after the second is begun later, if that is said.
    until: Option<Instant>,
}

impl Amount {
    /// True if there is no time for another round after `rounds` of them. The number of rounds stays even.
    fn is_over(&self, rounds: usize) -> bool {
        rounds >= 2 && rounds % 2 == 0 && self.until.is_some_and(|until| Instant::now() >= until)
    }
}

const THOROUGH: Amount = Amount {
    rounds: 10,
    pairs: 200_000,
    block: Duration::from_millis(20),
    handed: 10_000,
    handed_time: Duration::from_millis(100),
    until: None,
};
const QUICK: Amount = Amount {
    rounds: 4,
    pairs: 20_000,
    block: Duration::from_millis(4),
    handed: 1000,
    handed_time: Duration::from_millis(10),
    until: None,
};

/// Races all locks. From then on those of this process decide by the costs of `machine`.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, or the run is cancelled.
pub fn locks(machine: &Machine, options: &LockOptions, progress: &mut dyn Progress) -> Result<LockReport, BenchError> {
    let shared = &options.options;
    let usable = shared.usable_cpus(machine)?;
    let cpus: Vec<CpuId> = usable.iter().collect();
    let chosen = Chosen::of(options)?;
    Params::of(machine).set_for_process();
    let (amount, domains) = (if shared.quick { &QUICK } else { &THOROUGH }, Domains::of_machine(machine));
    let field = Field { contenders: &chosen.locks, cpus: &cpus, domains: &domains, amount, options: shared };
    let mut report = field.race(&machine.restricted_to(&usable), &chosen, options, progress)?;
    let is_all = shared.contenders.is_empty() && !options.ablations;
    report.gates = gates::judge(is_all.then_some(&chosen.locks[..]), &report);
    Ok(report)
}

impl Field<'_> {
    /// Everything that was asked for; nothing is judged.
    fn race(
        &self,
        machine: &Machine,
        chosen: &Chosen,
        options: &LockOptions,
        progress: &mut dyn Progress,
    ) -> Result<LockReport, BenchError> {
        let Self { contenders, cpus, domains, amount, options: shared } = *self;
        let seed = shared.seed_or_draw();
        let mut order = TurnOrder::new(shared, seed);
        let situations = self.situations(chosen, options, seed)?;
        let reading = readers::Field { contenders: &chosen.readers, cpus, domains, amount, seed };
        let mut steps = self.steps(progress, machine, self.situations_s(&situations, &reading, chosen));
        let Situations { crowds, many, axes, flips } = situations;
        steps.next(self.pairs_s(), amount, "locks alone");
        let pairs = pairs(contenders, domains, amount, &mut order)?;
        let distances = self.measure(machine, &mut order, &mut steps)?;
        let (cells, outcomes) = self.cells(&crowds, &mut order, &mut steps)?;
        let combining = self.combining(&chosen.combining, &many, &mut order, &mut steps)?;
        let readers = reading.measure(&axes, &mut order, &mut steps)?;
        let flips = self.flips(&flips, &mut order, &mut steps)?;
        steps.progress.step(1.0, "done");
        Ok(LockReport {
            machine: machine.name.clone(),
            commit: shared.commit.clone(),
            seed,
            quick: shared.quick,
            cpus: cpus.iter().map(|cpu| cpu.get()).collect(),
            pairs,
            distances,
            regrets: regret::rows(contenders, &outcomes, &mut order.random),
            published: published::beside(&cells),
            cells,
            combining,
            readers,
            flips,
            left_out: steps.left_out(),
            gates: Vec::new(),
        })
    }

    /// An error if a contender was named that has no situation: closures are sent by two threads or more.
    fn situations<'b>(
        &'b self,
        chosen: &Chosen,
        options: &LockOptions,
        seed: u64,
    ) -> Result<Situations<'b>, BenchError> {
        let usual = alone(self.cpus, self.domains, self.amount.block, seed);
        let crowds = if chosen.locks.is_empty() { Vec::new() } else { Grid::of(options).crowds(usual) };
        let many = if chosen.combining.is_empty() { Vec::new() } else { combining::crowds(options, usual) };
        let axes = if chosen.readers.is_empty() { Vec::new() } else { readers::axes(options, self.cpus.len()) };
        let flips = if options.flips { self.flip_situations() } else { Vec::new() };
        if many.is_empty() && !chosen.combining.is_empty() && !options.options.contenders.is_empty() {
            return Err(BenchError::TooFewForClosures);
        }
        Ok(Situations { crowds, many, axes, flips })
    }

    /// All situations of the grid, and what is lost in them.
    fn cells(
        &self,
        crowds: &[Crowd<'_>],
        order: &mut TurnOrder<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<(Vec<LockCell>, Vec<Outcome>), BenchError> {
        let mut found = Vec::new();
        for crowd in crowds {
            let words = format!("{} threads, {} locks", crowd.threads, crowd.locks);
            let Some(amount) = steps.next(self.cell_s(crowd), self.amount, &words) else { continue };
            let (mut cell, outcome) = cell::measure(self.contenders, crowd, &amount, order)?;
            cell::share(self.contenders, crowd, (&amount, self.options.quick), order, &mut cell)?;
            found.push((cell, outcome));
        }
        Ok(found.into_iter().unzip())
    }

    /// The steps of a run, by what situations weigh: those that flip and all others.
    fn steps<'b>(
        &self,
        progress: &'b mut dyn Progress,
        machine: &Machine,
        (flips_s, others_s): (f64, f64),
    ) -> Steps<'b> {
        let alone_s = self.pairs_s() + self.distances_s(machine);
        let allowance = self.allowance().and(Duration::from_secs_f64(flips_s));
        Steps::begin(progress, allowance, alone_s + flips_s + others_s)
    }

    /// How long all of it may take.
    fn allowance(&self) -> Allowance {
        let usual = if self.options.quick { Allowance::QUICK } else { Allowance::THOROUGH };
        self.options.budget.map_or(usual, |budget| Allowance { usual: budget, longest: 2 * budget })
    }

    /// The weight of a situation, in seconds.
    fn crowd_s(&self, crowd: &Crowd<'_>, contenders: usize) -> f64 {
        weight_s(contenders, self.amount, crowd.time, crowd.threads + crowd.foreign)
    }

    /// The weight of a situation of the grid, in seconds.
    fn cell_s(&self, crowd: &Crowd<'_>) -> f64 {
        let sharing_s = cell::sharing_s(self.contenders, crowd, self.options.quick);
        self.crowd_s(crowd, self.contenders.len()) + sharing_s
    }

    /// The weight of the situations that flip, and that of all others.
    fn situations_s(&self, all: &Situations<'_>, reading: &readers::Field<'_>, chosen: &Chosen) -> (f64, f64) {
        let sending = self.sending(&chosen.combining);
        let crowds_s: f64 = all.crowds.iter().map(|crowd| self.cell_s(crowd)).sum();
        let many_s: f64 = all.many.iter().map(|crowd| self.crowd_s(crowd, sending)).sum();
        let axes_s: f64 = all.axes.iter().map(|&axes| reading.cell_s(axes)).sum();
        (all.flips.iter().map(|flips| self.flips_s(flips)).sum(), crowds_s + many_s + axes_s)
    }

    /// The weight of the single-thread measurement.
    fn pairs_s(&self) -> f64 {
        let pairs = self.contenders.len() * self.amount.rounds * self.amount.pairs as usize;
        pairs as f64 * PAIR.as_secs_f64()
    }
}

/// The situations to be run; only those with a contender.
struct Situations<'a> {
    crowds: Vec<Crowd<'a>>,
    /// Of those that send closures.
    many: Vec<Crowd<'a>>,
    /// Of readers and writers.
    axes: Vec<(usize, u32)>,
    flips: Vec<Flips<'a>>,
}

/// The cost of every lock that no other thread wants.
fn pairs(
    contenders: &[Contender],
    domains: &Domains,
    amount: &Amount,
    order: &mut TurnOrder<'_>,
) -> Result<Vec<PairRow>, BenchError> {
    let found = interleaved(contenders, amount, order, |contender| (contender.pair_ns)(amount.pairs, domains))?;
    let row = |(contender, times): (&Contender, Raced<f64>)| PairRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        median_ns: median(&times.blocks),
        skipped: times.skipped(),
        failed: times.has_failed(),
        min_ns: least(times.blocks),
    };
    Ok(contenders.iter().zip(found).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::contenders::contenders;
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn every_lock_counts_right_and_is_told_with_its_fairness() {
        let options = Options { quick: true, ..Options::default() };
        let holds = vec![Duration::ZERO];
        let (threads, locks_asked, writes) = (vec![1, 3], vec![1, 4], vec![10]);
        let options = LockOptions { options, threads, locks: locks_asked, holds, writes, ..LockOptions::default() };
        let report = locks(&this_machine(), &options, &mut ()).expect("it runs");
        let names: Vec<_> = contenders().iter().map(|contender| contender.name).collect();
        assert_eq!(report.pairs.iter().map(|row| row.contender.as_str()).collect::<Vec<_>>(), names);
        assert_eq!(report.cells.len(), 8);
        for cell in &report.cells {
            for row in &cell.rows {
                let is_absent = |why: &str| why.contains("apt-get install");
                let is_too_many = |why: &str| cell.oversubscribed && why.contains("never gives up its CPU");
                if !row.ours && row.skipped.as_ref().is_some_and(|why| is_absent(why) || is_too_many(why)) {
                    continue;
                }
                assert_eq!(row.skipped, None, "{}", row.contender);
                assert!(row.mops.is_some() && row.regret.is_some(), "{row:?}");
                let fairest = 1.0 + 1e-9;
                assert!(row.jain.is_none_or(|jain| jain >= 1.0 / cell.threads as f64 - 1e-9 && jain <= fairest));
            }
            assert!(
                cell.rows.iter().any(|row| row.regret == Some(1.0)),
                "the best of the odd rounds is its own measure"
            );
        }
    }

    #[test]
    fn contenders_that_are_not_named_are_not_run() {
        let run = |name: &str| {
            let options = Options { quick: true, contenders: vec![name.to_owned()], ..Options::default() };
            let (threads, locks_asked, writes) = (vec![1], vec![1], vec![10]);
            locks(
                &this_machine(),
                &LockOptions { options, threads, locks: locks_asked, writes, ..LockOptions::default() },
                &mut (),
            )
        };
        let readers = run("seq").expect("it runs");
        assert!(readers.pairs.is_empty() && readers.distances.is_empty() && readers.cells.is_empty());
        assert_eq!((readers.readers.pairs.len(), readers.readers.cells.len()), (1, 1));
        let mutex = run("tas").expect("it runs");
        assert!(mutex.readers.pairs.is_empty() && mutex.readers.cells.is_empty() && !mutex.cells.is_empty());
        let error = run("combine").expect_err("one thread sends no closures");
        assert_eq!(error, BenchError::TooFewForClosures);
        let error = run("futex").expect_err("there is none");
        assert!(error.to_string().contains("'futex'"), "{error}");
    }
}
