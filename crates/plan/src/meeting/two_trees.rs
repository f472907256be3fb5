//! A reduction up one tree and a broadcast down another, whose roots must be one member.
//!
//! The best root of the one is seldom that of the other. All roots are ranked by what greedy trees from them cost in both
//! directions together; the search then spends its work on the few best. Where the subset programme is in reach, it tells
//! the best pair of trees, since one table holds the trees from all roots.

use crate::effort::Effort;
use crate::limits::Limits;
use crate::operation::Operation;
use crate::problem::Problem;
use crate::request::Settings;
use crate::schedule::Direction;
use crate::search::earliest_completion::{EarliestCompletion, Preferences};
use crate::search::exact::exact_from_each;
use crate::search::order::Ordered;
use crate::search::{Costs, Found, search};

/// How much a member counts as a relay in the greedy trees that rank the roots.
const RELAY: f64 = 0.5;
/// The most roots that are ranked by trees, for 64 members; fewer for more.
const RANKED: usize = 64;
/// How many of the best roots are searched.
const SEARCHED: usize = 3;

/// The costs of both directions, and how often each is paid.
#[derive(Clone, Debug)]
pub(crate) struct Phases {
    pub(crate) up: Costs,
    pub(crate) down: Costs,
    broadcasts: f64,
}

/// Two trees with one root.
#[derive(Clone, Debug)]
pub(crate) struct TwoTrees {
    pub(crate) up: Found,
    pub(crate) down: Found,
    /// What the operation costs over them.
    pub(crate) cost: f64,
}

impl Phases {
    pub(crate) fn of(problem: &Problem, operation: Operation) -> Self {
        let broadcasts = if operation == Operation::TwoPhaseCommit { 2.0 } else { 1.0 };
        Self { up: Costs::of(problem, Direction::Up), down: Costs::of(problem, Direction::Down), broadcasts }
    }

    /// The phases among some of the members, numbered as in this list.
    pub(crate) fn among(&self, members: &[usize]) -> Self {
        Self { up: self.up.among(members), down: self.down.among(members), ..*self }
    }

    pub(crate) fn len(&self) -> usize {
        self.up.len()
    }

    fn cost(&self, up: f64, down: f64) -> f64 {
        up + self.broadcasts * down
    }

    fn pair(&self, up: Found, down: Found) -> TwoTrees {
        TwoTrees { cost: self.cost(up.best.cost, down.best.cost), up, down }
    }
}

/// The best two trees that the effort finds, from this root or any; `None` if the limits allow none that a greedy rule
/// finds. The settings' share is what both directions and all roots have together, as one search would have.
pub(crate) fn two_trees(phases: &Phases, root: Option<usize>, settings: &Settings<'_>) -> Option<TwoTrees> {
    let mut roots = ranked(phases, root, settings.limits);
    if let Some(proven) = proven(phases, &roots, settings) {
        return Some(proven);
    }
    roots.truncate(if settings.effort == Effort::Quick { 1 } else { SEARCHED });
    let share = settings.share / (2 * roots.len()) as f64;
    let settings = Settings { share, ..*settings };
    let from = |&root: &usize| {
        let up = search(&phases.up, Some(root), &settings)?;
        Some(phases.pair(up, search(&phases.down, Some(root), &settings)?))
    };
    let found = roots.iter().filter_map(from);
    let best = found.min_by(|a, b| a.cost.total_cmp(&b.cost))?;
    Some(best)
}

/// The roots, best first by greedy trees.
fn ranked(phases: &Phases, root: Option<usize>, limits: Limits) -> Vec<usize> {
    if let Some(root) = root {
        return vec![root];
    }
    let len = phases.len();
    let total = |root: usize| {
        let edges = (0..len).map(|other| phases.cost(phases.up.edge(root, other), phases.down.edge(root, other)));
        edges.sum::<f64>()
    };
    let roots = cheapest_first((0..len).map(|root| (total(root), root)).collect());
    let (up, down) = (Preferences::new(&phases.up, RELAY), Preferences::new(&phases.down, RELAY));
    let up = EarliestCompletion::new(&up, &[], limits);
    let down = EarliestCompletion::new(&down, &[], limits);
    let tree = |root: usize| Some((phases.cost(up.from(root)?.cost, down.from(root)?.cost), root));
    let most = (RANKED * RANKED / len.max(RANKED)).max(1);
    cheapest_first(roots.into_iter().take(most).filter_map(tree).collect())
}

fn cheapest_first(mut roots: Vec<(f64, usize)>) -> Vec<usize> {
    roots.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    roots.into_iter().map(|(_, root)| root).collect()
}

/// The best two trees of all from these roots; `None` beyond the reach of the subset programme.
fn proven(phases: &Phases, roots: &[usize], settings: &Settings<'_>) -> Option<TwoTrees> {
    let most = match settings.effort {
        Effort::Quick => 2,
        Effort::Normal => 12,
        Effort::Patient | Effort::Exact => 16,
    };
    let is_pairwise = phases.up.undrained().is_empty() && phases.down.undrained().is_empty();
    if phases.len() > most || !settings.limits.is_none() || !is_pairwise {
        return None;
    }
    let best_of_each = |costs: &Costs| exact_from_each(costs, star_from_each(costs), settings.stop);
    let (up, down) = (best_of_each(&phases.up)?, best_of_each(&phases.down)?);
    let sum = |&root: &usize| phases.cost(up[root].cost, down[root].cost);
    let best = roots.iter().copied().min_by(|a, b| sum(a).total_cmp(&sum(b)))?;
    let entries = (phases.len() as u64) << (phases.len() - 1);
    let found = |best: &Ordered| Found { best: best.clone(), by: "exact", iterations: entries, is_optimal: true };
    Some(phases.pair(found(&up[best]), found(&down[best])))
}

/// At least what a tree of one level costs from any root.
fn star_from_each(costs: &Costs) -> f64 {
    let len = costs.len();
    let star = |root: usize| {
        let others = || (0..len).filter(|&other| other != root);
        let sends: f64 = others().map(|other| costs.send(root, other)).sum();
        sends + others().map(|other| costs.receive(root, other)).fold(0.0, f64::max)
    };
    (0..len).map(star).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
}
