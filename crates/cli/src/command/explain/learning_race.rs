//! A short race between replicas that learn directly and over a tree: the same members on the same CPUs, in turns.
//!
//! Both groups are among threads of this process. In a block every member has a client that writes, each write once the last
//! has its result; the figure is the time of the block for each write. Which one goes first changes from round to round. A
//! round counts for the faster one, and whether there is a winner is for the sign test to say: from a machine that is busy, or
//! where the two are alike, an honest answer is that it is not decided.

use std::fmt;

use corecast::CpuId;
use corecast::replica::placement::{LearnTree, PlacementPlan};
use corecast::replica::{Config, Learning, Node, Replicated, SharedMemory};
use serde::Serialize;

use super::racing_group::{RacingGroup, Sum, bound_to};
use crate::failure::Failure;

/// Rounds of one block each.
pub(super) const ROUNDS: usize = 15;
/// The most members that race: each is two nodes with two threads.
const MOST_MEMBERS: usize = 128;
/// By chance alone a winner may be declared this often.
pub(super) const CHANCE: f64 = 0.05;

/// The result.
#[derive(Debug, Clone, Serialize)]
pub(super) struct LearningRace {
    rounds: usize,
    direct_ns: f64,
    tree_ns: f64,
    rounds_of_tree: usize,
    p: f64,
    winner: Option<&'static str>,
    /// True if the members do not have a CPU each.
    crowded: bool,
    skipped: Option<&'static str>,
}

/// Races members on these CPUs, which this process may use.
///
/// # Errors
/// A failure of the environment: no memory, or a write that got no answer.
pub(super) fn run(cpus: &[CpuId], plan: &PlacementPlan) -> Result<LearningRace, Failure> {
    let skipped = match plan.tree.depth() {
        _ if cpus.len() > MOST_MEMBERS => Some("more than 128 members would be too many threads for a race"),
        0 | 1 => Some("the tree has one level: the acceptor wakes all others, which is learning directly"),
        _ => None,
    };
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let crowded = sorted.len() < cpus.len();
    if skipped.is_some() {
        return Ok(LearningRace::not_run(skipped, crowded));
    }
    let tree = LearnTree::of_plan(plan).map_err(Failure::input)?;
    let mut direct = start(cpus, Learning::Direct)?;
    let mut over_tree = start(cpus, Learning::Tree(tree))?;
    let writes = direct.trial()?.max(over_tree.trial()?);
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let is_direct_first = round % 2 == 0;
        let first = if is_direct_first { direct.block(writes)? } else { over_tree.block(writes)? };
        let second = if is_direct_first { over_tree.block(writes)? } else { direct.block(writes)? };
        rounds.push(if is_direct_first { (first, second) } else { (second, first) });
    }
    direct.check()?;
    over_tree.check()?;
    Ok(LearningRace::judge(&rounds, crowded))
}

fn start(cpus: &[CpuId], learning: Learning) -> Result<RacingGroup<SharedMemory>, Failure> {
    let config = Config::default().slots(cpus.len()).window(4096).bulk_bytes(4096).learning(learning);
    let mut nodes: Vec<Node<Sum>> = Vec::new();
    for &cpu in cpus {
        let (config, first) = (&config, nodes.first());
        let join = || match first {
            None => Replicated::create(config, Sum::default()).map_err(Failure::environment),
            Some(first) => Replicated::attach_fd(config, first.share().map_err(Failure::environment)?)
                .map_err(Failure::environment),
        };
        nodes.push(bound_to(cpu, join)?);
    }
    RacingGroup::of(cpus, nodes)
}

impl LearningRace {
    fn not_run(skipped: Option<&'static str>, crowded: bool) -> Self {
        Self { rounds: 0, direct_ns: 0.0, tree_ns: 0.0, rounds_of_tree: 0, p: 1.0, winner: None, crowded, skipped }
    }

    /// The times of a write, directly and over the tree, for each round.
    fn judge(rounds: &[(f64, f64)], crowded: bool) -> Self {
        let rounds_of_tree = rounds.iter().filter(|(direct, tree)| tree < direct).count();
        let p = sign_test(rounds_of_tree, rounds.len());
        let winner = if rounds_of_tree * 2 > rounds.len() { "tree" } else { "direct" };
        Self {
            rounds: rounds.len(),
            direct_ns: median(rounds.iter().map(|round| round.0)),
            tree_ns: median(rounds.iter().map(|round| round.1)),
            rounds_of_tree,
            p,
            winner: (p < CHANCE).then_some(winner),
            crowded,
            skipped: None,
        }
    }
}

impl fmt::Display for LearningRace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = self.skipped {
            return write!(f, "no race: {reason}");
        }
        let Self { rounds, direct_ns, tree_ns, rounds_of_tree, p, .. } = self;
        writeln!(
            f,
            "race of {rounds} rounds here, a client at each member: a write takes {direct_ns:.0} ns if all learn directly,"
        )?;
        write!(f, "{tree_ns:.0} ns over the tree, which was the faster one in {rounds_of_tree} rounds: ")?;
        match self.winner {
            Some(winner) => {
                let (slow, fast) = if winner == "tree" { (direct_ns, tree_ns) } else { (tree_ns, direct_ns) };
                write!(f, "{winner} wins by {:.2} times (p = {p:.3})", slow / fast)?;
            }
            None => write!(f, "not decided (p = {p:.3})")?,
        }
        if self.crowded {
            write!(f, "\nmembers share CPUs: this is about wake-ups, not about messages")
        } else {
            Ok(())
        }
    }
}

/// The probability that one side wins this number of the rounds, or one as far from half, if both are alike.
pub(super) fn sign_test(wins: usize, rounds: usize) -> f64 {
    let fewer = wins.min(rounds - wins);
    let mut ways = 1.0;
    let mut sum = 0.0;
    for k in 0..=fewer {
        sum += ways;
        ways = ways * (rounds - k) as f64 / (k + 1) as f64;
    }
    (2.0 * sum / 2f64.powi(rounds as i32)).min(1.0)
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sign_test_counts_both_tails() {
        assert_eq!((sign_test(0, 1), sign_test(7, 15)), (1.0, 1.0));
        assert!((sign_test(0, 10) - 2.0 / 1024.0).abs() < 1e-12);
        assert!((sign_test(11, 15) - 2.0 * (1 + 15 + 105 + 455 + 1365) as f64 / 32768.0).abs() < 1e-12);
        assert_eq!(sign_test(11, 15), sign_test(4, 15));
    }

    #[test]
    fn few_rounds_more_are_no_victory() {
        let even: Vec<_> = (0..15).map(|n| if n < 10 { (10.0, 9.0) } else { (10.0, 11.0) }).collect();
        let race = LearningRace::judge(&even, false);
        assert_eq!((race.winner, race.rounds_of_tree), (None, 10));
        assert!(race.to_string().contains("not decided (p = 0.302)"), "{race}");
        let clear = LearningRace::judge(&[(10.0, 20.0); 15], true);
        assert_eq!(clear.winner, Some("direct"));
        assert!(clear.to_string().contains("direct wins by 2.00 times") && clear.to_string().contains("share CPUs"));
    }
}
