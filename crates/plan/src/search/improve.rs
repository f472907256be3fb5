//! Improves greedy trees by annealing: a walk from each, again from the two best, and a last one from the winner.

use rayon::prelude::*;

use super::annealing::{Nearest, Parents, Setting, anneal};
use super::costs::Costs;
use super::order::{Ordered, ordered};
use super::ticks::Ticks;
use crate::effort::Effort;
use crate::request::Settings;
use crate::tree::Tree;

/// How many greedy trees are improved.
const STARTS: usize = 6;
/// Percent of the moves for the walks from every start, for the two best, and for the winner.
const SHARES: [u64; 3] = [45, 30, 25];

/// The best tree found from these, which are sorted by cost, and the number of moves.
pub(crate) fn improve(
    costs: &Costs,
    is_root_fixed: bool,
    starts: &[Ordered],
    settings: &Settings<'_>,
) -> (Ordered, u64) {
    let ticks = Ticks::of(costs, starts[0].cost);
    let nearest = Nearest::of(&ticks);
    let setting =
        Setting { ticks: &ticks, nearest: &nearest, is_root_fixed, limits: settings.limits, stop: settings.stop };
    let moves = (moves(costs.len(), settings.effort) as f64 * settings.share) as u64;
    let starts: Vec<Vec<u32>> = starts.iter().take(STARTS).map(|start| parents(&start.tree)).collect();
    let walks = |starts: &[Vec<u32>], share: u64, round: u64| -> Vec<Parents> {
        let each = moves * share / 100 / starts.len() as u64;
        let seed = |at: usize| settings.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (round << 32 | at as u64);
        let walk = |(at, start): (usize, &Vec<u32>)| anneal(&setting, start, each, seed(at));
        starts.par_iter().enumerate().map(walk).collect()
    };
    let mut found = walks(&starts, SHARES[0], 1);
    found.sort();
    found.dedup();
    let two: Vec<Vec<u32>> = found.iter().take(2).map(|found| found.parents.clone()).collect();
    found.extend(walks(&two, SHARES[1], 2));
    found.sort();
    let winner = [found[0].parents.clone()];
    found.extend(walks(&winner, SHARES[2], 3));
    let best = found.into_iter().min().expect("a walk from each start");
    (tree_of(costs, &best.parents), moves)
}

/// Moves for so many members, by the speed of one current core.
pub(crate) fn moves(members: usize, effort: Effort) -> u64 {
    let normal = match members {
        0..=20 => 30_000,
        21..=64 => 150_000,
        _ => 500_000,
    };
    match effort {
        Effort::Quick => 0,
        Effort::Normal => normal,
        Effort::Patient | Effort::Exact => 15_000_000,
    }
}

fn parents(tree: &Tree) -> Vec<u32> {
    (0..tree.len()).map(|member| tree.parent(member).unwrap_or(member) as u32).collect()
}

fn tree_of(costs: &Costs, parents: &[u32]) -> Ordered {
    let mut children = vec![Vec::new(); parents.len()];
    let mut root = 0;
    for (member, &parent) in parents.iter().enumerate() {
        if parent as usize == member {
            root = member;
        } else {
            children[parent as usize].push(member);
        }
    }
    ordered(costs, root, children)
}
