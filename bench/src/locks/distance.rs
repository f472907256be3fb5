//! What taking and freeing a lock costs that another CPU had last, and nobody wants meanwhile.
//!
//! Two threads on a pair of CPUs take it in turns. They meet over lines of their own in between, so nobody waits for the lock;
//! but its line, and that of the data, must come from the other CPU. Taking and freeing are timed apart, and what looking at
//! the clock costs is taken off, so that a sample may lie below zero. Freeing is timed until the store is issued, not until the
//! line is here. [`BareCas`] is the yardstick: no lock, but the one exchange that every lock needs.

use corecast::base::CpuId;
use corecast::lock::{Domains, Setup};
use corecast::machine::{Machine, distance_classes};

use super::contenders::{Contender, yardstick};
use super::guarded::Guarded;
use super::report::{DistanceRow, LockDistance};
use crate::coherence::{Correction, Group, measure_timer};
use crate::error::BenchError;
use crate::failure::Failure;
use crate::harness::{percentile, sorted};
use crate::options::Options;

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

/// Each lock alone, and between two CPUs at each distance.
pub(super) fn measure(
    machine: &Machine,
    contenders: &[Contender],
    domains: &Domains,
    count: usize,
    options: &Options,
) -> Result<Vec<LockDistance>, BenchError> {
    let cpu = |position: usize| machine.cpus[position].id;
    let pairs = distance_classes(machine).into_iter().map(|class| {
        let (first, second) = class.pairs[0];
        (class.name, vec![cpu(first), cpu(second)])
    });
    let alone = std::iter::once(("alone", vec![cpu(0)]));
    alone
        .chain(pairs)
        .map(|(distance, cpus)| at_distance(distance, cpus, contenders, domains, count, options))
        .collect()
}

fn at_distance(
    distance: &str,
    cpus: Vec<CpuId>,
    contenders: &[Contender],
    domains: &Domains,
    count: usize,
    options: &Options,
) -> Result<LockDistance, BenchError> {
    let corrections = cpus.iter().map(|&cpu| Ok(measure_timer(cpu)?.1)).collect::<Result<Vec<_>, BenchError>>()?;
    let group = Group { cpus, cancel: options.cancel.clone() };
    let mut rows = Vec::new();
    for contender in std::iter::once(&yardstick()).chain(contenders) {
        options.go_on()?;
        rows.push(match (contender.handed)(&group, count, domains) {
            Ok(handed) => row(contender, &handed, &corrections),
            Err(Failure::Aborted) => return Err(options.go_on().expect_err("only the user stops it")),
            Err(failure) => DistanceRow { skipped: Some(failure.to_string()), ..row(contender, &[], &[]) },
        });
    }
    let cpus = group.cpus.iter().map(|cpu| cpu.get()).collect();
    Ok(LockDistance { distance: distance.to_owned(), cpus, rows })
}

fn row(contender: &Contender, handed: &[Handed], corrections: &[Correction]) -> DistanceRow {
    let ns = |of: fn(&Handed) -> &[u64]| {
        let each = handed.iter().zip(corrections);
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
    }
}

#[cfg(test)]
mod tests {
    use super::super::contenders::contenders;
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn every_lock_is_taken_alone_and_in_turns_beside_the_bare_exchange() {
        let machine = this_machine();
        let found =
            measure(&machine, &contenders(), &Domains::of_machine(&machine), 50, &Options::default()).expect("it runs");
        assert_eq!(found[0].distance, "alone");
        assert_eq!(found.len(), 1 + distance_classes(&machine).len());
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
        let machine = this_machine();
        let stopped = measure(&machine, &contenders(), &Domains::of_machine(&machine), 50, &options);
        assert!(matches!(stopped, Err(BenchError::Cancelled)), "{stopped:?}");
    }
}
