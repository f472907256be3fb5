//! What taking and freeing a lock costs that another CPU had last, and nobody wants meanwhile.
//!
//! Two threads on a pair of CPUs take it in turns. They meet over lines of their own in between, so nobody waits for the lock;
//! but its line, and that of the data, must come from the other CPU. Taking and freeing are timed apart, and what looking at
//! the clock costs is taken off, so that a sample may lie below zero. Freeing is timed until the store is issued, not until the
//! line is here. [`BareCas`] is the yardstick: no lock, but the one exchange that every lock needs.

use corecast::base::CpuId;
use corecast::lock::{Domains, Setup};
use corecast::machine::{Machine, distance_classes};
use fastrand::Rng;

use super::contenders::{Contender, yardstick};
use super::every_round::every_round;
use super::guarded::Guarded;
use super::report::{DistanceRow, LockDistance};
use super::{Field, rounds};
use crate::coherence::{Correction, Group, measure_timer};
use crate::error::BenchError;
use crate::failure::Failure;
use crate::harness::{percentile, sorted};
use crate::skip::Skip;

/// Ticks, the clock's own included, of all samples of one participant.
#[derive(Debug, Default, Clone)]
pub(super) struct Handed {
    acquire: Vec<u64>,
    release: Vec<u64>,
}

/// So many acquisitions of each participant, in turns.
pub(super) fn handed<G: Guarded>(group: &Group, count: usize, domains: &Domains) -> Result<Vec<Handed>, Failure> {
    let mut setup = Setup::of_threads(group.cpus.len());
    setup.domains = domains.clone();
    let guarded = G::new(&setup);
    let done = group.run(|rank, meeting| {
        let mut handed = Handed::default();
        for _ in 0..count {
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
    let (counted, expected) = (guarded.with(|line| line.0), (count * group.cpus.len()) as u64);
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
    pub(super) fn measure(&self, machine: &Machine, random: &mut Rng) -> Result<Vec<LockDistance>, BenchError> {
        let cpu = |position: usize| machine.cpus[position].id;
        let pairs = distance_classes(machine).into_iter().map(|class| {
            let (first, second) = class.pairs[0];
            (class.name, vec![cpu(first), cpu(second)])
        });
        if self.contenders.is_empty() {
            return Ok(Vec::new());
        }
        let alone = std::iter::once(("alone", vec![cpu(0)]));
        alone.chain(pairs).map(|(distance, cpus)| self.at_distance(distance, cpus, random)).collect()
    }

    fn at_distance(&self, distance: &str, cpus: Vec<CpuId>, random: &mut Rng) -> Result<LockDistance, BenchError> {
        let contenders: Vec<Contender> = std::iter::once(yardstick()).chain(self.contenders.iter().copied()).collect();
        let timers: Result<Vec<_>, BenchError> = cpus.iter().map(|&cpu| Ok(measure_timer(cpu)?.1)).collect();
        let rows = match timers {
            Ok(corrections) => self.rows(&contenders, &cpus, &corrections, random)?,
            Err(unsteady) => contenders.iter().map(|contender| skipped(contender, Skip::unfit(&unsteady))).collect(),
        };
        let cpus = cpus.iter().map(|cpu| cpu.get()).collect();
        Ok(LockDistance { distance: distance.to_owned(), cpus, rows })
    }

    fn rows(
        &self,
        contenders: &[Contender],
        cpus: &[CpuId],
        corrections: &[Correction],
        random: &mut Rng,
    ) -> Result<Vec<DistanceRow>, BenchError> {
        let group = Group { cpus: cpus.to_vec(), cancel: self.options.cancel.clone() };
        let count = self.amount.handed.div_ceil(self.amount.rounds);
        let found = rounds(contenders, self.amount, random, self.options, |contender| {
            (contender.handed)(&group, count, self.domains)
        })?;
        // Who was stopped in its round was stopped by the user.
        self.options.go_on()?;
        let row = |(contender, rounds): (&Contender, Vec<_>)| match every_round(contender.name, contender.ours, rounds)?
        {
            Ok(rounds) => Ok(row(contender, &rounds, corrections)),
            Err(why) => Ok(skipped(contender, why)),
        };
        contenders.iter().zip(found).map(row).collect()
    }
}

fn skipped(contender: &Contender, Skip { reason, failed }: Skip) -> DistanceRow {
    DistanceRow { skipped: Some(reason), failed, ..row(contender, &[], &[]) }
}

fn row(contender: &Contender, rounds: &[Vec<Handed>], corrections: &[Correction]) -> DistanceRow {
    let ns = |of: fn(&Handed) -> &[u64]| {
        let each = rounds.iter().flat_map(|handed| handed.iter().zip(corrections));
        sorted(each.flat_map(|(handed, own)| of(handed).iter().map(|&ticks| own.ns(ticks, false))))
    };
    let (acquire, release) = (ns(|handed| &handed.acquire), ns(|handed| &handed.release));
    let at = |samples: &[f64], share| (!samples.is_empty()).then(|| percentile(samples, share));
    DistanceRow {
        contender: contender.name.to_owned(),
        ours: contender.ours,
        acquire_p50_ns: at(&acquire, 0.50),
        acquire_p99_ns: at(&acquire, 0.99),
        release_p50_ns: at(&release, 0.50),
        release_p99_ns: at(&release, 0.99),
        skipped: None,
        failed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::contenders::contenders;
    use super::super::{Amount, QUICK};
    use super::*;
    use crate::options::Options;
    use crate::this_machine::this_machine;

    const AMOUNT: Amount = Amount { rounds: 2, handed: 50, ..QUICK };

    fn measured(options: &Options) -> Result<Vec<LockDistance>, BenchError> {
        let (machine, contenders) = (this_machine(), contenders());
        let domains = Domains::of_machine(&machine);
        let field = Field { contenders: &contenders, cpus: &[], domains: &domains, amount: &AMOUNT, options };
        field.measure(&machine, &mut Rng::with_seed(3))
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
