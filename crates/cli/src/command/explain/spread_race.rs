//! A short race between the ways in which the acceptor's word gets to replicas that share no state: one send after another,
//! along the learn tree, and once into a ring that all read (mcast).
//!
//! It is run as the race of replicas in shared memory is ([`learning_race`](super::learning_race)), with the same nodes but for
//! the way. Each round begins with another one. The winner is the one with the best median, if it beats the second one in
//! more rounds than chance explains.

use std::fmt;

use corecast::CpuId;
use corecast::replica::net::{self, Group, MAX_NODES, Messages, Spread};
use corecast::replica::placement::PlacementPlan;
use serde::Serialize;

use super::learning_race::{CHANCE, ROUNDS, median, sign_test};
use super::racing_group::{RacingGroup, Sum, bound_to};
use crate::failure::Failure;

/// The result.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SpreadRace {
    rounds: usize,
    /// The fastest first.
    entries: Vec<Entry>,
    p: f64,
    winner: Option<&'static str>,
    skipped: Option<&'static str>,
}

/// A way, and the median time of a write.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Entry {
    spread: &'static str,
    ns: f64,
}

/// Races members on these CPUs, which this process may use.
///
/// # Errors
/// A failure of the environment: no memory, or a write that got no answer.
pub(super) fn run(cpus: &[CpuId], plan: &PlacementPlan) -> Result<SpreadRace, Failure> {
    let skipped = match cpus.len() {
        0..=2 => Some("the acceptor's word goes to one other member, whichever way"),
        members if members > MAX_NODES => Some("a group over messages has at most 64 members"),
        _ => None,
    };
    if skipped.is_some() {
        return Ok(SpreadRace { rounds: 0, entries: Vec::new(), p: 1.0, winner: None, skipped });
    }
    let order = order(plan);
    let cpus: Vec<CpuId> = order.iter().map(|&rank| cpus[rank]).collect();
    let ways =
        [("sequential", Spread::Sequential), ("tree", Spread::Tree(parents(plan, &order))), ("mcast", Spread::Ring)];
    let names = ways.each_ref().map(|(name, _)| *name);
    let mut groups = ways.into_iter().map(|(_, spread)| start(&cpus, spread)).collect::<Result<Vec<_>, _>>()?;
    let mut writes = 0;
    for group in &mut groups {
        writes = writes.max(group.trial()?);
    }
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let mut times = [0.0; 3];
        for turn in 0..groups.len() {
            let at = (round + turn) % groups.len();
            times[at] = groups[at].block(writes)?;
        }
        rounds.push(times);
    }
    groups.iter().try_for_each(RacingGroup::check)?;
    Ok(SpreadRace::judge(names, &rounds))
}

/// The ranks by node: nodes 0 and 1 lead and accept in the beginning.
fn order(plan: &PlacementPlan) -> Vec<usize> {
    let mut order = vec![plan.roles.leader, plan.roles.acceptor];
    order.dedup();
    let others = (0..plan.tree.len()).filter(|rank| !order.contains(rank));
    let others: Vec<usize> = others.collect();
    order.extend(others);
    order
}

/// The parents of the nodes that have these ranks.
fn parents(plan: &PlacementPlan, order: &[usize]) -> Vec<Option<usize>> {
    let node_of = |rank| order.iter().position(|&other| other == rank).expect("each rank has a node");
    order.iter().map(|&rank| plan.tree.parent(rank).map(node_of)).collect()
}

fn start(cpus: &[CpuId], spread: Spread) -> Result<RacingGroup<Messages>, Failure> {
    let config = net::Config::new(cpus.len()).spread(spread);
    let group = Group::create(&config).map_err(Failure::environment)?;
    let join = |(slot, &cpu)| {
        let group = &group;
        bound_to(cpu, move || group.join(slot, Sum::default()).map_err(Failure::environment))
    };
    let nodes = cpus.iter().enumerate().map(join).collect::<Result<_, _>>()?;
    RacingGroup::of(cpus, nodes)
}

impl SpreadRace {
    /// The times of a write, for each round, by way.
    fn judge(names: [&'static str; 3], rounds: &[[f64; 3]]) -> Self {
        let entry = |way: usize| Entry { spread: names[way], ns: median(rounds.iter().map(|times| times[way])) };
        let mut ways = [0, 1, 2].map(|way| (way, entry(way)));
        ways.sort_by(|(_, a), (_, b)| a.ns.total_cmp(&b.ns));
        let [(first, best), (second, _), _] = ways;
        let wins = rounds.iter().filter(|times| times[first] < times[second]).count();
        let p = sign_test(wins, rounds.len());
        let is_won = p < CHANCE && wins * 2 > rounds.len();
        let entries = ways.map(|(_, entry)| entry).to_vec();
        Self { rounds: rounds.len(), entries, p, winner: is_won.then_some(best.spread), skipped: None }
    }
}

impl fmt::Display for SpreadRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = self.skipped {
            return write!(f, "no race over messages: {reason}");
        }
        let times: Vec<_> = self.entries.iter().map(|Entry { spread, ns }| format!("{spread} {ns:.0} ns")).collect();
        write!(f, "race of {} rounds over messages: a write takes {}: ", self.rounds, times.join(", "))?;
        match self.winner {
            Some(winner) => {
                let factor = self.entries[1].ns / self.entries[0].ns;
                write!(f, "{winner} wins by {factor:.2} times (p = {:.3})", self.p)
            }
            None => write!(f, "not decided (p = {:.3})", self.p),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["sequential", "tree", "mcast"];

    #[test]
    fn the_best_median_wins_if_it_beats_the_second_often_enough() {
        let race = SpreadRace::judge(NAMES, &[[30.0, 20.0, 10.0]; 15]);
        let entries: Vec<_> = race.entries.iter().map(|entry| (entry.spread, entry.ns)).collect();
        assert_eq!(
            (race.winner, entries),
            (Some("mcast"), vec![("mcast", 10.0), ("tree", 20.0), ("sequential", 30.0)])
        );
        assert!(race.to_string().contains("mcast wins by 2.00 times"), "{race}");
        let even: Vec<_> =
            (0..15).map(|round| if round < 10 { [30.0, 20.0, 10.0] } else { [30.0, 5.0, 10.0] }).collect();
        let race = SpreadRace::judge(NAMES, &even);
        assert_eq!(race.winner, None);
        assert!(race.to_string().contains("not decided (p = 0.302)"), "{race}");
    }

    #[test]
    fn leader_and_acceptor_are_the_first_nodes() {
        let machine = crate::report::example::machine(6);
        let plan = PlacementPlan::separate(&corecast::plan::Problem::of_machine(&machine).expect("a problem"));
        let order = order(&plan);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!((order[0], order[1], sorted), (plan.roles.leader, plan.roles.acceptor, Vec::from_iter(0..6)));
        let parents = parents(&plan, &order);
        let root = parents.iter().position(Option::is_none).expect("a root");
        assert_eq!((order[root], parents.len()), (plan.roles.acceptor, 6));
    }
}
