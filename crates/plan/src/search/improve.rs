//! Improves greedy trees by annealing, in three rounds: a walk from each, again from the best, and a last one from the
//! best of those. Where the effort allows it, all three rounds are repeated.

use super::annealing::{Parents, Walks};
use super::costs::Costs;
use super::moves::Nearest;
use super::order::{Ordered, ordered};
use super::ticks::Ticks;
use crate::effort::Effort;
use crate::parallel;
use crate::settings::Settings;
use crate::tree::Tree;

/// Up to this many members many short walks find more than few long ones, which settle in the first wide valley.
const FEW: usize = 20;
/// The number of trees that are improved.
const STARTS: usize = 6;
const STARTS_OF_FEW: usize = 16;
/// Percent of the moves for each round, and how many trees it begins with at most.
const ROUNDS: [(u64, usize); 3] = [(45, STARTS), (30, 2), (25, 1)];
const ROUNDS_OF_FEW: [(u64, usize); 3] = [(45, STARTS_OF_FEW), (30, 8), (25, 4)];

/// The best tree found from these, which are sorted by cost, and the number of moves made.
pub(crate) fn improve(
    costs: &Costs,
    is_root_fixed: bool,
    starts: &[&Ordered],
    settings: &Settings<'_>,
) -> (Ordered, u64) {
    let ticks = Ticks::of(costs, starts[0].cost);
    let nearest = Nearest::of(&ticks);
    let walks = Walks { ticks: &ticks, nearest: &nearest, is_root_fixed, limits: settings.limits, stop: settings.stop };
    let is_few = costs.len() <= FEW;
    let times = if settings.effort > Effort::Normal { PATIENCE } else { 1 };
    let (repeats, longer) = if is_few { (times as usize, 1) } else { (1, times) };
    let moves = (longer as f64 * moves(costs.len()) as f64 * settings.share) as u64;
    let rounds = if is_few { ROUNDS_OF_FEW } else { ROUNDS };
    let starts: Vec<Parents> = diverse(starts).into_iter().map(|start| parents(&start.tree)).collect();
    let once =
        |repeat: usize| in_rounds(&walks, &starts, rounds, moves, settings.seed.wrapping_add((repeat as u64) << 48));
    let found: Vec<(Parents, u64)> = parallel::map(repeats, once);
    let made = found.iter().map(|(_, made)| made).sum();
    let best = found.into_iter().min().expect("at least once").0;
    (tree_of(costs, &best.parents), made)
}

/// The best tree of three rounds, and the number of moves made.
fn in_rounds(
    walks: &Walks<'_>,
    starts: &[Parents],
    rounds: [(u64, usize); 3],
    moves: u64,
    seed: u64,
) -> (Parents, u64) {
    let mut found = starts.to_vec();
    let mut made = 0;
    for (round, (percent, most)) in rounds.into_iter().enumerate() {
        let from = &found[..found.len().min(most)];
        let each = moves * percent / 100 / from.len() as u64;
        let seed = |at: usize| seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ ((round as u64) << 32 | at as u64);
        let better = parallel::map(from.len(), |at| walks.walk(&from[at].parents, each, seed(at)));
        made += better.iter().map(|(_, made)| made).sum::<u64>();
        found.extend(better.into_iter().map(|(better, _)| better));
        found.sort();
        found.dedup();
    }
    (found.swap_remove(0), made)
}

/// The trees to begin with, best first: among few members the best from each root before a second from the same.
fn diverse<'a>(starts: &[&'a Ordered]) -> Vec<&'a Ordered> {
    let members = starts[0].tree.len();
    if members > FEW {
        return starts.iter().copied().take(STARTS).collect();
    }
    let mut is_known = vec![false; members];
    let (first, again): (Vec<&Ordered>, Vec<&Ordered>) =
        starts.iter().copied().partition(|start| !std::mem::replace(&mut is_known[start.tree.root()], true));
    first.into_iter().chain(again).take(STARTS_OF_FEW).collect()
}

/// The work of effort patient over that of effort normal.
const PATIENCE: u64 = 30;

/// The moves of effort normal: as many as two current cores make in 10 ms to 20 members, in 50 ms to 64, and in
/// 200 ms beyond.
pub(crate) fn moves(members: usize) -> u64 {
    match members {
        0..=20 => 120_000,
        21..=64 => 450_000,
        65..=128 => 1_700_000,
        _ => 1_200_000,
    }
}

/// A tree without a cost from a walk; it sorts after all that have one.
fn parents(tree: &Tree) -> Parents {
    let parents = (0..tree.len()).map(|member| tree.parent(member).unwrap_or(member) as u32).collect();
    Parents { cost: u64::MAX, parents }
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
