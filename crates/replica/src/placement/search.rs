//! The search for a tree whose busiest member has little to do.
//!
//! Plans of broadcasts are no help: they let a member that knows early tell many others, which is what makes it the busiest. The
//! planner's tree for a broadcast has down to 0.39 of the throughput of a binary one. So trees are grown under a limit that no
//! member may exceed, and the limit is halved towards the least for which one was found. Every known shape is a candidate as well,
//! so that the result is never worse than the best of them.

use corecast_plan::{Problem, SHAPES, Tree};

use super::growth::{Greed, grow};
use super::load::Load;
use super::roles::{Roles, compare};

/// The limit is known to this part of itself when the search ends.
const PRECISION: f64 = 0.005;
/// The most halvings of the limit.
const HALVINGS: usize = 20;
/// Trees whose busiest member has at most this much more to do than that of the best tree are as good: of these the one with the
/// shortest response is taken. Without it the best tree by a hair would often be one long chain.
const AS_GOOD: f64 = 1.02;

/// The tree for these roles, and its load.
pub(super) fn best_tree(problem: &Problem, roles: Roles) -> (Tree, Load) {
    let mut found: Vec<(Tree, Load)> = Vec::new();
    let mut add = |tree: Tree| {
        let load = Load::over(problem, roles, &tree);
        found.push((tree, load));
        load.busiest
    };
    let shapes = SHAPES.iter().map(|shape| shape.build(problem, Some(roles.acceptor)));
    let mut least = shapes.map(&mut add).fold(f64::INFINITY, f64::min);
    for greed in [Greed::Soonest, Greed::Cheapest] {
        let (mut below, mut above) = (0.0, least);
        for _ in 0..HALVINGS {
            if above - below <= PRECISION * above {
                break;
            }
            let limit = f64::midpoint(below, above);
            match grow(problem, roles, limit, greed) {
                Some(tree) => above = add(tree).min(limit),
                None => below = limit,
            }
        }
        least = least.min(above);
    }
    if let Some(tree) = grow(problem, roles, least * AS_GOOD, Greed::Soonest) {
        add(tree);
    }
    choose(found)
}

/// Of those that are as good as the best, the one with the shortest response.
pub(super) fn choose(mut found: Vec<(Tree, Load)>) -> (Tree, Load) {
    let least = found.iter().map(|(_, load)| load.busiest).fold(f64::INFINITY, f64::min);
    found.retain(|(_, load)| load.busiest <= least * AS_GOOD);
    let cost = |one: &(Tree, Load)| (one.1.response, one.1.busiest);
    found.into_iter().min_by(|a, b| compare(cost(a), cost(b))).expect("there is the best one")
}
