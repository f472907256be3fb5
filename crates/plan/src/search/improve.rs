//! Improves greedy trees by annealing, in three rounds: a walk from each, again from the two best, and a last one from
//! the winner.

use rayon::prelude::*;

use super::annealing::{Parents, Walks};
use super::costs::Costs;
use super::moves::Nearest;
use super::order::{Ordered, ordered};
use super::ticks::Ticks;
use crate::effort::Effort;
use crate::request::Settings;
use crate::tree::Tree;

/// How many trees are improved: among few members one from each root, which an annealing rarely changes.
const STARTS: usize = 6;
const STARTS_OF_FEW: usize = 16;
const FEW: usize = 20;
/// Percent of the moves for each round, and how many trees it begins with at most.
const ROUNDS: [(u64, usize); 3] = [(45, usize::MAX), (30, 2), (25, 1)];

/// The best tree found from these, which are sorted by cost, and the number of moves.
pub(crate) fn improve(
    costs: &Costs,
    is_root_fixed: bool,
    starts: &[&Ordered],
    settings: &Settings<'_>,
) -> (Ordered, u64) {
    let ticks = Ticks::of(costs, starts[0].cost);
    let nearest = Nearest::of(&ticks);
    let walks = Walks { ticks: &ticks, nearest: &nearest, is_root_fixed, limits: settings.limits, stop: settings.stop };
    let moves = (moves(costs.len(), settings.effort) as f64 * settings.share) as u64;
    let start = |start: &Ordered| Parents { cost: u64::MAX, parents: parents(&start.tree) };
    let mut found: Vec<Parents> = diverse(starts).into_iter().map(start).collect();
    for (round, (percent, most)) in ROUNDS.into_iter().enumerate() {
        let from = &found[..found.len().min(most)];
        let each = moves * percent / 100 / from.len() as u64;
        let seed = |at: usize| settings.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ ((round as u64) << 32 | at as u64);
        let walk = |(at, start): (usize, &Parents)| walks.walk(&start.parents, each, seed(at));
        let better: Vec<Parents> = from.par_iter().enumerate().map(walk).collect();
        found.extend(better);
        found.sort();
        found.dedup();
    }
    (tree_of(costs, &found[0].parents), moves)
}

/// The trees to begin with: the best, and the best from every other root before a second from the same.
fn diverse<'a>(starts: &[&'a Ordered]) -> Vec<&'a Ordered> {
    let members = starts[0].tree.len();
    let mut is_known = vec![false; members];
    let (first, again): (Vec<&Ordered>, Vec<&Ordered>) =
        starts.iter().copied().partition(|start| !std::mem::replace(&mut is_known[start.tree.root()], true));
    let most = if members <= FEW { STARTS_OF_FEW } else { STARTS };
    let (first, again) = if members <= FEW { (first, again) } else { (starts.to_vec(), Vec::new()) };
    first.into_iter().chain(again).take(most).collect()
}

/// Moves for so many members, by the speed of one current core.
pub(crate) fn moves(members: usize, effort: Effort) -> u64 {
    let normal = match members {
        0..=20 => 60_000,
        21..=64 => 250_000,
        65..=128 => 900_000,
        _ => 700_000,
    };
    match effort {
        Effort::Quick => 0,
        Effort::Normal => normal,
        Effort::Patient | Effort::Exact => normal.max(250_000) * 30,
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
