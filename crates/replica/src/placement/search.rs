//! The search for a tree whose busiest member has little to do.
//!
//! Plans of broadcasts are no help: they let a member that knows early tell many others, which is what makes it the busiest. The
//! planner's tree for a broadcast has down to 0.39 of the throughput of a binary one. So trees are grown under a limit that no
//! member may exceed, and the limit is halved towards the least for which one was found.
//!
//! The very least is often one long chain, whose answers take many hops. So some throughput is given for shorter responses: up
//! to what predictions are off by, and never so much that a known shape would have more throughput. Within that the tree with
//! the most *power* is taken: the least product of the busiest member's time and the response. Known shapes are among the trees.
//!
//! That product also has the time of all messages by which members learn, the tree's *traffic*. Lines that members move pass
//! the same homes and links of the machine, where the leader's wait, too, which the busiest member's own time does not tell.
//! Without it the tree of 28 simulated replicas led across the dies of a 48-CPU Opteron wherever that spared the busiest member
//! anything: 2490 thousand commands a second, and 2905 with it, where `mst` had 3065.
//!
//! Source of the measure: L. Kleinrock, Power and Deterministic Rules of Thumb for Probabilistic Problems in Computer
//! Communications, ICC 1979. The search is ours.

use corecast_plan::{SHAPES, Tree};

use super::costs::Costs;
use super::growth::{Greed, grow};
use super::load::Load;
use super::roles::{Roles, compare};

/// The limit is known to this part of itself when the search ends.
const PRECISION: f64 = 0.005;
/// The most halvings of the limit.
const HALVINGS: usize = 20;
/// Throughput that may be given for a shorter response: the busiest member has at most this much more to do than in the best
/// tree.
const GIVEN: f64 = 1.25;
/// It has at most this much more to do than in the best known shape.
const OF_A_SHAPE: f64 = 1.02;
/// Limits that are tried between the best tree and what may be given.
const STEPS: i32 = 6;

/// The trees found for some roles, and the most that their busiest member may have to do.
#[derive(Debug)]
pub(super) struct Found {
    trees: Vec<FoundTree>,
    most: f64,
}

/// A tree and the figures that it is judged by.
#[derive(Debug)]
struct FoundTree {
    roles: Roles,
    tree: Tree,
    load: Load,
    /// The time of all messages by which members learn of one command, together.
    traffic: f64,
}

/// Trees for these roles.
pub(super) fn search(costs: Costs<'_>, roles: Roles) -> Found {
    let mut trees = Vec::new();
    let mut add = |tree: Tree| {
        let load = Load::over(costs, roles, &tree);
        let traffic = traffic(costs, &tree);
        trees.push(FoundTree { roles, tree, load, traffic });
        load.busiest
    };
    let shapes = SHAPES.iter().map(|shape| shape.build(costs.problem, Some(roles.acceptor)));
    let best_shape = shapes.map(&mut add).fold(f64::INFINITY, f64::min);
    let mut least = best_shape;
    for greed in [Greed::Soonest, Greed::Cheapest] {
        least = least.min(halved(least, |limit| grow(costs, roles, limit, greed).map(&mut add)));
    }
    let most = (best_shape * OF_A_SHAPE).min(least * GIVEN);
    for step in 1..=STEPS {
        let limit = least * (most / least).powf(f64::from(step) / f64::from(STEPS));
        for greed in [Greed::Soonest, Greed::Cheapest] {
            grow(costs, roles, limit, greed).map(&mut add);
        }
    }
    Found { trees, most }
}

fn traffic(costs: Costs<'_>, tree: &Tree) -> f64 {
    let told = |parent: usize| tree.children(parent).iter().map(move |&child| costs.problem.message(parent, child));
    (0..tree.len()).flat_map(told).sum()
}

/// The least limit under which `found` finds a tree, which then says how busy its busiest member is.
fn halved(known: f64, mut found: impl FnMut(f64) -> Option<f64>) -> f64 {
    let (mut below, mut above) = (0.0, known);
    for _ in 0..HALVINGS {
        if above - below <= PRECISION * above {
            break;
        }
        let limit = f64::midpoint(below, above);
        match found(limit) {
            Some(busiest) => above = busiest.min(limit),
            None => below = limit,
        }
    }
    above
}

/// The tree with the most power for its traffic of those that have throughput enough, whatever the roles.
pub(super) fn choose(found: Vec<Found>) -> (Roles, Tree, Load) {
    let most = found.iter().map(|found| found.most).fold(f64::INFINITY, f64::min);
    let trees = found.into_iter().flat_map(|found| found.trees);
    let good = trees.filter(|found| found.load.busiest <= most * (1.0 + f64::EPSILON));
    let cost = |found: &FoundTree| (found.load.busiest * found.load.response * found.traffic, found.load.busiest);
    let best = good.min_by(|a, b| compare(cost(a), cost(b))).expect("the one with the least is good");
    (best.roles, best.tree, best.load)
}
