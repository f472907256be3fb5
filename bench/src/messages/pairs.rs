//! Messages between two, or between several pairs at once, at each distance.

use corecast::base::{Clock, CpuId};
use corecast::machine::{Machine, distance_classes};

use super::race::{Entrant, Outcome, Run, ticks};
use super::report::{MessagePairRow, PairCell, Trip};
use crate::channels::Wire;
use crate::counts::{doubled_up_to, or_usual};
use crate::stats::{Summary, median};
use corecast_race::error::BenchError;
use corecast_race::harness::Stamps;

/// Where some pairs run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seating {
    distance: Option<&'static str>,
    /// Of each pair the CPU of the sender, then that of the receiver.
    seats: Vec<CpuId>,
}

impl Seating {
    fn pairs(&self) -> usize {
        self.seats.len() / 2
    }
}

/// The numbers of pairs asked for at each distance; by default 1, 2, 4, .. up to all that have CPUs of their own. Further
/// pairs share the same CPUs in turn.
pub(super) fn seatings(machine: &Machine, asked: &[usize]) -> Vec<Seating> {
    let id = |position: usize| machine.cpus[position].id;
    let classes = distance_classes(machine);
    let mut places: Vec<(Option<&'static str>, Vec<[CpuId; 2]>)> =
        classes.iter().map(|class| (Some(class.name), apart(&class.pairs, id))).collect();
    if places.is_empty() {
        places.push((None, vec![[id(0), id(0)]]));
    }
    let mut seatings = Vec::new();
    for (distance, pairs) in places {
        for count in or_usual(asked, || doubled_up_to(pairs.len())) {
            let seats = pairs.iter().copied().cycle().take(count).flatten().collect();
            seatings.push(Seating { distance, seats });
        }
    }
    seatings
}

/// Pairs of which no two have a CPU in common, taken greedily.
fn apart(pairs: &[(usize, usize)], id: impl Fn(usize) -> CpuId) -> Vec<[CpuId; 2]> {
    let mut taken: Vec<[CpuId; 2]> = Vec::new();
    for pair in pairs.iter().map(|&(first, second)| [id(first), id(second)]) {
        if !taken.iter().flatten().any(|cpu| pair.contains(cpu)) {
            taken.push(pair);
        }
    }
    taken
}

/// One situation.
pub(super) fn cell(run: &mut Run<'_>, seating: &Seating, bytes: usize, trip: Trip) -> Result<PairCell, BenchError> {
    let mut distinct = seating.seats.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let oversubscribed = distinct.len() < seating.seats.len() || run.is_crowded(seating.seats.len());
    let wake_ns = run.wake_cost.map(|cost| u64::try_from(cost.as_nanos()).unwrap_or(u64::MAX));
    let wire = Wire { wake_ns, ..Wire::new(bytes, 1, oversubscribed, run.order.options.wait) };
    let contenders = run.contenders.iter().copied().filter(|contender| contender.is_pair).collect();
    let raced = run.race(&seating.seats, contenders, &|contender, abort| {
        let pairs = (0..seating.pairs()).map(|_| contender.pair(&wire, trip, abort));
        Ok(pairs.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })?;
    let Outcome { entrants, line_ns, placement_changes } = raced;
    Ok(PairCell {
        distance: seating.distance,
        pairs: seating.pairs(),
        cpus: seating.seats.iter().map(|cpu| cpu.get()).collect(),
        oversubscribed,
        bytes,
        trip,
        line_ns,
        placement_changes,
        rows: entrants.iter().map(|entrant| row(entrant, line_ns)).collect(),
    })
}

fn row(entrant: &Entrant, line_ns: Option<f64>) -> MessagePairRow {
    let (clock, each) = (Clock::get(), entrant.iterations as f64);
    let pairs = |block: &[Stamps]| block.len() as f64 / 2.0;
    let of_pairs = entrant.raced.blocks.iter().flat_map(|block| block.chunks(2));
    let samples: Vec<f64> = of_pairs.map(|pair| clock.ns(ticks(pair)) / each).collect();
    let mops: Vec<f64> =
        entrant.raced.blocks.iter().map(|block| pairs(block) * each * 1e3 / clock.ns(ticks(block))).collect();
    let summary = Summary::of(&samples);
    MessagePairRow {
        contender: entrant.contender.name,
        ours: entrant.contender.ours,
        messages: samples.len() as u64 * entrant.iterations,
        summary,
        lines: summary.zip(line_ns).map(|(summary, line_ns)| summary.median_ns / line_ns),
        mops: median(&mops),
        skipped: entrant.raced.skipped(),
        failed: entrant.raced.has_failed(),
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::{Cpu, Topology};

    use super::*;

    fn machine(cores: &[u32]) -> Machine {
        let cpu = |(id, &core): (usize, &u32)| Cpu { core: Some(core), ..Cpu::flat(CpuId::new(id as u32)) };
        let cpus = cores.iter().enumerate().map(cpu).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    fn seats(seating: &Seating) -> Vec<u32> {
        seating.seats.iter().map(|cpu| cpu.get()).collect()
    }

    #[test]
    fn pairs_double_until_every_cpu_has_one_and_share_cpus_beyond() {
        let machine = machine(&[0, 1, 0, 1, 2]);
        let usual = seatings(&machine, &[]);
        let near = Some("same core (SMT siblings)");
        assert!(usual[..2].iter().all(|seating| seating.distance == near) && usual[2].distance != near);
        assert_eq!(
            usual.iter().map(seats).collect::<Vec<_>>(),
            [vec![0, 2], vec![0, 2, 1, 3], vec![0, 1], vec![0, 1, 2, 3]]
        );
        assert_eq!(seatings(&machine, &[3]).iter().map(seats).collect::<Vec<_>>()[0], [0, 2, 1, 3, 0, 2]);
    }

    #[test]
    fn one_cpu_has_a_pair_on_it() {
        let alone = seatings(&machine(&[0]), &[]);
        assert_eq!((alone.len(), alone[0].distance, seats(&alone[0])), (1, None, vec![0, 0]));
    }
}
