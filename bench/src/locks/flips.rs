//! The throughput of one lock while the number of threads, or how long they hold it, changes again and again, and how long
//! the lock takes to settle after a change.
//!
//! Two phases of 100 ms alternate. In the one with fewer threads the others sleep. Between two critical sections each thread
//! spins for as long as in SSYNC's experiment, and looks at the clock: what all got done is counted by the millisecond.
//! [`settled`](super::settled) says what settling is.

use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use corecast::base::sync::spin_for;
use corecast::base::{Clock, CpuId};
use corecast::lock::{Domains, Setup};

use super::contenders::Contender;
use super::crowd::{PAUSE, refuse_crowd};
use super::guarded::Guarded;
use super::interleaved::interleaved;
use super::report::{FlipPhase, FlipRow, LockFlips};
use super::settled::settled_ms;
use super::steps::weight_s;
use super::together::{in_turn, together};
use super::{Amount, Field, Steps};
use crate::stats::median_of;
use crate::turns::{Raced, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::is_crowded;

/// The time over which acquisitions are counted together. Settling is told in whole bins.
pub(super) const BIN: Duration = Duration::from_millis(1);
/// The bins of a phase.
const PHASE: usize = 100;
/// Phases of a block, and blocks of each lock.
const THOROUGH: (usize, usize) = (9, 2);
const QUICK: (usize, usize) = (7, 1);
/// The longer hold time.
const LONG: Duration = Duration::from_micros(20);
/// Threads of a crowd for each CPU.
const CROWD: usize = 8;

/// The two phases that alternate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    threads: usize,
    hold: Duration,
}

/// One block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flips<'a> {
    phases: [Phase; 2],
    /// The bins of each.
    bins: usize,
    /// Both together; the first one follows no flip.
    count: usize,
    cpus: &'a [CpuId],
    domains: &'a Domains,
}

/// The results of one phase that followed a flip.
#[derive(Clone, Debug)]
pub(super) struct Flipped {
    /// Which of the two it was.
    which: usize,
    mops: f64,
    /// Acquisitions of all threads by the bin.
    counts: Vec<u64>,
}

/// Runs one block over a new lock.
pub(super) fn flips<G: Guarded>(flips: &Flips<'_>) -> Result<Vec<Flipped>, Failure> {
    let threads = flips.most_threads();
    refuse_crowd::<G>(threads, flips.cpus.len())?;
    let mut setup = Setup::of_threads(threads);
    setup.domains = flips.domains.clone();
    let (guarded, start) = (G::new(&setup), OnceLock::new());
    let seats: Vec<_> = in_turn(flips.cpus, threads).collect();
    let counts = together(&seats, flips.time(), &|rank, _| {
        let start = *start.get_or_init(|| Clock::get().ticks());
        alternate(flips, &guarded, rank, start)
    })?;
    let all = (0..flips.bins * flips.count).map(|bin| counts.iter().map(|counts| counts[bin]).sum::<u64>());
    let all: Vec<u64> = all.collect();
    let (counted, behind) = (all.iter().sum::<u64>(), guarded.with(|line| line.0));
    if counted == behind {
        Ok(all.chunks(flips.bins).enumerate().skip(1).map(flipped).collect())
    } else {
        Err(Failure::Wrong(format!("{counted} acquisitions have counted to {behind}")))
    }
}

impl Flips<'_> {
    /// How long a block lasts.
    fn time(&self) -> Duration {
        BIN * u32::try_from(self.bins * self.count).unwrap_or(u32::MAX)
    }

    fn most_threads(&self) -> usize {
        self.phases.map(|phase| phase.threads).into_iter().max().unwrap_or(0)
    }
}

fn flipped((number, bins): (usize, &[u64])) -> Flipped {
    let seconds = BIN.as_secs_f64() * bins.len() as f64;
    let mops = bins.iter().sum::<u64>() as f64 / seconds / 1e6;
    Flipped { which: number % 2, mops, counts: bins.to_vec() }
}

/// One thread: its acquisitions by the bin in which they came to an end.
fn alternate<G: Guarded>(flips: &Flips<'_>, guarded: &G, rank: usize, start: u64) -> Vec<u64> {
    let clock = Clock::get();
    let bin_ticks = clock.ticks_in(BIN).max(1);
    let mut counts = vec![0; flips.bins * flips.count];
    let mut taken = 0;
    loop {
        let ticks = clock.ticks().saturating_sub(start);
        let bin = (ticks / bin_ticks) as usize;
        let last = counts.len() - 1;
        counts[bin.min(last)] += std::mem::take(&mut taken);
        if bin > last {
            return counts;
        }
        let number = bin / flips.bins;
        let phase = flips.phases[number % 2];
        if rank >= phase.threads {
            let next = ((number + 1) * flips.bins) as u64 * bin_ticks;
            thread::sleep(Duration::from_nanos(clock.ns(next - ticks) as u64));
            continue;
        }
        guarded.with(|line| {
            line.0 += 1;
            if !phase.hold.is_zero() {
                spin_for(phase.hold);
            }
        });
        taken = 1;
        spin_for(PAUSE);
    }
}

/// The phases that alternate on this number of CPUs.
fn situations(cpus: usize) -> Vec<[Phase; 2]> {
    let short = |threads| Phase { threads, hold: Duration::ZERO };
    let crowd = [short(cpus), short(CROWD * cpus)];
    if cpus == 1 {
        return vec![crowd];
    }
    vec![[short(1), short(cpus)], [short(cpus), Phase { threads: cpus, hold: LONG }], crowd]
}

impl<'a> Field<'a> {
    /// The situations to be run; none if there is no lock.
    pub(super) fn flip_situations(&self) -> Vec<Flips<'a>> {
        let count = if self.options.quick { QUICK.0 } else { THOROUGH.0 };
        let Self { contenders, cpus, domains, .. } = *self;
        let situations = situations(cpus.len()).into_iter().filter(|_| !contenders.is_empty());
        situations.map(|phases| Flips { phases, bins: PHASE, count, cpus, domains }).collect()
    }

    fn flip_rounds(&self) -> usize {
        if self.options.quick { QUICK.1 } else { THOROUGH.1 }
    }

    /// The weight of a situation, in seconds.
    pub(super) fn flips_s(&self, flips: &Flips<'_>) -> f64 {
        let amount = Amount { rounds: self.flip_rounds(), ..*self.amount };
        weight_s(self.contenders.len(), &amount, flips.time(), flips.most_threads())
    }

    /// All locks in each situation, in turns.
    pub(super) fn flips(
        &self,
        situations: &[Flips<'_>],
        order: &mut TurnOrder<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<LockFlips>, BenchError> {
        let rounds = self.flip_rounds();
        let mut found = Vec::new();
        for flips in situations {
            let (words, amount) =
                (format!("{} threads, flips", flips.most_threads()), Amount { rounds, ..*self.amount });
            let Some(amount) = steps.next(self.flips_s(flips), &amount, &words) else { continue };
            found.push(self.flips_of(flips, &amount, order)?);
        }
        Ok(found)
    }

    fn flips_of(&self, flips: &Flips<'_>, amount: &Amount, order: &mut TurnOrder<'_>) -> Result<LockFlips, BenchError> {
        let found = interleaved(self.contenders, amount, order, |contender| (contender.flips)(flips))?;
        let rows = self.contenders.iter().zip(&found).map(|(contender, raced)| row(contender, raced)).collect();
        let told = |phase: Phase| FlipPhase { threads: phase.threads, hold_ns: phase.hold.as_nanos() as u64 };
        let oversubscribed = is_crowded(flips.most_threads(), self.cpus.len());
        let phase_ms = (BIN * flips.bins as u32).as_millis() as u64;
        Ok(LockFlips { phases: flips.phases.map(told), phase_ms, oversubscribed, rows })
    }
}

fn row(contender: &Contender, raced: &Raced<Vec<Flipped>>) -> FlipRow {
    let phase = |which| raced.blocks.iter().flatten().filter(move |flipped| flipped.which == which);
    let mops = |which| median_of(phase(which).map(|flipped| flipped.mops));
    let settled = |which| settled_ms(&phase(which).map(|flipped| &flipped.counts[..]).collect::<Vec<_>>());
    FlipRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        mops: [0, 1].map(mops),
        settled_ms: [0, 1].map(settled),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::QUICK as AMOUNT;
    use super::super::contenders::contenders;
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::options::Options;

    #[test]
    fn the_number_of_threads_and_the_hold_alternate_and_crowds_come_last() {
        let told = |cpus| situations(cpus).into_iter().map(|phases| phases.map(|phase| (phase.threads, phase.hold)));
        let short = |threads| (threads, Duration::ZERO);
        assert_eq!(told(1).collect::<Vec<_>>(), [[short(1), short(8)]]);
        let expected = [[short(1), short(4)], [short(4), (4, LONG)], [short(4), short(32)]];
        assert_eq!(told(4).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn each_phase_after_a_flip_is_told_with_its_throughput() {
        let machine = this_machine();
        let cpus: Vec<CpuId> = machine.cpus.iter().map(|cpu| cpu.id).collect();
        let domains = Domains::one();
        let named = |contender: &Contender| ["tas", "auto"].contains(&contender.name);
        let contenders: Vec<Contender> = contenders().into_iter().filter(named).collect();
        let options = Options::default();
        let field =
            Field { contenders: &contenders, cpus: &cpus, domains: &domains, amount: &AMOUNT, options: &options };
        let phases = [Phase { threads: 1, hold: Duration::ZERO }, Phase { threads: 3, hold: Duration::from_micros(5) }];
        let flips = Flips { phases, bins: 8, count: 5, cpus: &cpus, domains: &domains };
        let amount = Amount { rounds: 2, ..AMOUNT };
        let found = field.flips_of(&flips, &amount, &mut TurnOrder::new(&options, 1)).expect("it runs");
        assert_eq!((found.phase_ms, found.phases[1].threads, found.phases[1].hold_ns), (8, 3, 5000));
        for row in &found.rows {
            assert_eq!(row.skipped, None, "{}", row.contender);
            let [_, long] = row.mops.map(|mops| mops.expect("measured"));
            assert!(long <= 0.2, "a section of 5 us leaves no more: {row:?}");
            assert!(row.settled_ms.iter().all(|ms| ms.is_some_and(|ms| ms <= 4.0)), "half of a phase at most: {row:?}");
        }
    }
}
