//! The cost of taking and freeing a free lock that another CPU had last, by the distance to that CPU.
//!
//! Two threads on a pair of CPUs take it in turns. They meet over lines of their own in between, so nobody waits for the lock;
//! but its line, and that of the data, must come from the other CPU. Taking and freeing are timed apart, and what looking at
//! the clock costs is taken off, so that a sample may lie below zero. Freeing is timed until the store is issued, not until the
//! line is here. [`BareCas`] is the yardstick: no lock, but the one exchange that every lock needs.

use std::time::{Duration, Instant};

use corecast::base::CpuId;
use corecast::base::sync::{AtomicBool, Ordering};
use corecast::lock::{Domains, Setup};
use corecast::machine::{Machine, distance_classes};

use super::Field;
use super::contenders::{Contender, yardstick};
use super::guarded::Guarded;
use super::interleaved::interleaved;
use super::report::{DistanceRow, LockDistance};
use super::steps::{Steps, weight_s};
use crate::coherence::{Correction, Group, measure_timer};
use crate::stats::Samples;
use crate::turns::{Raced, TurnOrder};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::skip::Skip;

/// The time of an acquisition by each of two threads, about.
const HANDED: Duration = Duration::from_micros(1);

/// Ticks, the clock's own included, of all samples of one participant.
#[derive(Debug, Default, Clone)]
pub(super) struct Handed {
    acquire: Vec<u64>,
    release: Vec<u64>,
}

/// How many acquisitions, and what they may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turns {
    /// Of each participant.
    pub(super) count: usize,
    /// Fewer are made if they take longer, as on a machine that is busy; one at least.
    pub(super) time: Duration,
}

/// Lets each participant acquire this many times, in turns.
pub(super) fn handed<G: Guarded>(group: &Group, turns: Turns, domains: &Domains) -> Result<Vec<Handed>, Failure> {
    G::is_there()?;
    let mut setup = Setup::of_threads(group.cpus.len());
    setup.domains = domains.clone();
    let guarded = G::new(&setup);
    let (is_over, start) = (AtomicBool::new(false), Instant::now());
    let done = group.run(&|rank, meeting| {
        let mut handed = Handed::default();
        for done in 0..turns.count {
            if rank == 0 && done > 0 && start.elapsed() >= turns.time {
                // ORDERING: Relaxed, the meeting below orders it: every thread that was there sees it
                is_over.store(true, Ordering::Relaxed);
            }
            meeting.meet()?;
            // ORDERING: Relaxed, as above; it changes only before a meeting that all have to come to
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            for turn in 0..group.cpus.len() {
                meeting.meet()?;
                meeting.heed_user();
                if turn == rank {
                    take(&guarded, &mut handed);
                }
            }
        }
        Ok(handed)
    })?;
    let counted = guarded.with(|line| line.0);
    let expected: u64 = done.iter().map(|handed| handed.acquire.len() as u64).sum();
    if counted == expected {
        Ok(done)
    } else {
        Err(Failure::Wrong(format!("{expected} acquisitions in turns have counted to {counted}")))
    }
}

fn take<G: Guarded>(guarded: &G, handed: &mut Handed) {
    let clock = corecast::base::Clock::get();
    let asked = clock.ticks_in_order();
    let (taken, freed) = guarded.with(|line| {
        let taken = clock.ticks_in_order();
        line.0 += 1;
        (taken, clock.ticks_in_order())
    });
    let done = clock.ticks_in_order();
    handed.acquire.push(taken.saturating_sub(asked));
    handed.release.push(done.saturating_sub(freed));
}

impl Field<'_> {
    /// Each lock alone, and between two CPUs at each distance.
    pub(super) fn measure(
        &self,
        machine: &Machine,
        order: &mut TurnOrder<'_>,
        steps: &mut Steps<'_>,
    ) -> Result<Vec<LockDistance>, BenchError> {
        let cpu = |position: usize| machine.cpus[position].id;
        let pairs = distance_classes(machine).into_iter().map(|class| {
            let (first, second) = class.pairs[0];
            (class.name, vec![cpu(first), cpu(second)])
        });
        if self.contenders.is_empty() {
            return Ok(Vec::new());
        }
        let alone = std::iter::once(("alone", vec![cpu(0)]));
        let all: Vec<_> = alone.chain(pairs).collect();
        let each_s = self.distances_s(machine) / all.len() as f64;
        let mut found = Vec::new();
        for (distance, cpus) in all {
            if steps.next(each_s, self.amount, &format!("locks handed over, {distance}")).is_some() {
                found.push(self.at_distance(distance, cpus, order)?);
            }
        }
        Ok(found)
    }

    /// The weight of all distances, in seconds.
    pub(super) fn distances_s(&self, machine: &Machine) -> f64 {
        let amount = self.amount;
        let handed = HANDED * u32::try_from(amount.handed / amount.rounds).unwrap_or(u32::MAX);
        let distances = if self.contenders.is_empty() { 0 } else { 1 + distance_classes(machine).len() };
        distances as f64 * weight_s(1 + self.contenders.len(), amount, handed, 2)
    }

    fn at_distance(
        &self,
        distance: &str,
        cpus: Vec<CpuId>,
        order: &mut TurnOrder<'_>,
    ) -> Result<LockDistance, BenchError> {
        let contenders: Vec<Contender> = std::iter::once(yardstick()).chain(self.contenders.iter().copied()).collect();
        let timers: Result<Vec<_>, BenchError> = cpus.iter().map(|&cpu| Ok(measure_timer(cpu)?.1)).collect();
        let rows = match timers {
            Ok(corrections) => self.rows(&contenders, &cpus, &corrections, order)?,
            Err(unsteady) => contenders.iter().map(|contender| row(contender, &unfit(&unsteady), &[])).collect(),
        };
        let cpus = cpus.iter().map(|cpu| cpu.get()).collect();
        Ok(LockDistance { distance: distance.to_owned(), cpus, rows })
    }

    fn rows(
        &self,
        contenders: &[Contender],
        cpus: &[CpuId],
        corrections: &[Correction],
        order: &mut TurnOrder<'_>,
    ) -> Result<Vec<DistanceRow>, BenchError> {
        let group = Group { cpus: cpus.to_vec(), cancel: self.options.cancel.clone() };
        let count = self.amount.handed.div_ceil(self.amount.rounds);
        let turns = Turns { count, time: self.amount.handed_time };
        let found =
            interleaved(contenders, self.amount, order, |contender| (contender.handed)(&group, turns, self.domains))?;
        Ok(contenders.iter().zip(&found).map(|(contender, raced)| row(contender, raced, corrections)).collect())
    }
}

/// Nothing was raced, for this reason.
fn unfit(reason: &BenchError) -> Raced<Vec<Handed>> {
    Raced { blocks: Vec::new(), skip: Some(Skip::unfit(reason)) }
}

fn row(contender: &Contender, raced: &Raced<Vec<Handed>>, corrections: &[Correction]) -> DistanceRow {
    let ns = |of: fn(&Handed) -> &[u64]| {
        let each = raced.blocks.iter().flat_map(|handed| handed.iter().zip(corrections));
        Samples::of(each.flat_map(|(handed, own)| of(handed).iter().map(|&ticks| own.ns(ticks, false))))
    };
    let (acquire, release) = (ns(|handed| &handed.acquire), ns(|handed| &handed.release));
    DistanceRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        acquire_p50_ns: acquire.quantile(0.50),
        acquire_p99_ns: acquire.quantile(0.99),
        release_p50_ns: release.quantile(0.50),
        release_p99_ns: release.quantile(0.99),
        skipped: raced.skipped(),
        failed: raced.has_failed(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::contenders::contenders;
    use super::super::steps::Allowance;
    use super::super::{Amount, QUICK};
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::options::Options;
    use corecast_testing::skipped;

    const AMOUNT: Amount = Amount { rounds: 2, handed: 50, ..QUICK };

    fn measured(options: &Options) -> Result<Vec<LockDistance>, BenchError> {
        let (machine, contenders) = (this_machine(), contenders());
        let domains = Domains::of_machine(&machine);
        let field = Field { contenders: &contenders, cpus: &[], domains: &domains, amount: &AMOUNT, options };
        let mut ignored = ();
        let mut steps = Steps::begin(&mut ignored, Allowance::THOROUGH, 1.0);
        field.measure(&machine, &mut TurnOrder::new(options, 3), &mut steps)
    }

    #[test]
    fn every_lock_is_taken_alone_and_in_turns_beside_the_bare_exchange() {
        let found = measured(&Options::default()).expect("it runs");
        assert_eq!(found[0].distance, "alone");
        assert_eq!(found.len(), 1 + distance_classes(&this_machine()).len());
        for distance in &found {
            assert_eq!(distance.rows.len(), 1 + contenders().len());
            assert_eq!(distance.rows[0].contender, "bare-cas");
            for row in &distance.rows {
                let absent = row.skipped.as_ref().filter(|why| !row.ours && why.contains("apt-get install"));
                if let Some(why) = absent {
                    // Once for each lock.
                    if distance.distance == "alone" {
                        skipped(&format!("lock {}", row.contender), why);
                    }
                    continue;
                }
                assert!(row.skipped.is_none() && row.acquire_p50_ns <= row.acquire_p99_ns, "{row:?}");
            }
        }
    }

    #[test]
    fn the_user_stops_it() {
        let options = Options::default();
        options.cancel.cancel();
        let stopped = measured(&options);
        assert!(matches!(stopped, Err(BenchError::Cancelled)), "{stopped:?}");
    }
}
