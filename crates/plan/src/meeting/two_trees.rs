//! A reduction up one tree and a broadcast down another, whose roots must be one member.
//!
//! The best roots of the two differ as a rule. All roots are ranked by what greedy trees from them cost in both
//! directions together; the search then spends its work on the few best. Where the subset programme is in reach, it
//! tells the best pair of trees, since one table holds the trees from all roots.

use crate::effort::Effort;
use crate::limits::Limits;
use crate::operation::Direction;
use crate::operation::Operation;
use crate::problem::Problem;
use crate::search::earliest_completion::{EarliestCompletion, Preferences};
use crate::search::exact::exact_from_each;
use crate::search::order::Ordered;
use crate::search::{Costs, Found, search};
use crate::settings::Settings;

/// The weight of a member as a relay in the greedy trees that rank the roots.
const RELAY: f64 = 0.5;
/// The most roots that are ranked by trees, for 64 members; fewer for more.
const RANKED: usize = 64;
/// The same with effort quick.
const RANKED_QUICKLY: usize = 16;
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
    /// The cost of the operation over them.
    pub(crate) cost: f64,
    /// True if no two trees with one root, or with the root asked for, cost less.
    pub(crate) is_optimal: bool,
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

    fn pair(&self, up: Found, down: Found, is_only_root: bool) -> TwoTrees {
        let is_optimal = is_only_root && up.is_optimal && down.is_optimal;
        TwoTrees { cost: self.cost(up.best.cost, down.best.cost), up, down, is_optimal }
    }
}

/// The best two trees that the effort finds, from this root or any; `None` if the limits allow none that a greedy rule
/// finds. The settings' share is what both directions and all roots have together, as one search would have.
pub(crate) fn two_trees(phases: &Phases, root: Option<usize>, settings: &Settings<'_>) -> Option<TwoTrees> {
    let mut roots = ranked(phases, root, settings);
    if let Some(proven) = proven(phases, &roots, settings) {
        return Some(proven);
    }
    roots.truncate(if settings.effort == Effort::Quick { 1 } else { SEARCHED });
    let share = settings.share / (2 * roots.len()) as f64;
    // Proving the trees from a few roots would take minutes and still not prove the pair.
    let effort = settings.effort.min(Effort::Patient);
    let settings = Settings { share, effort, ..*settings };
    let is_only_root = root.is_some() || phases.len() == 1;
    let from = |&root: &usize| {
        let up = search(&phases.up, Some(root), &settings)?;
        Some(phases.pair(up, search(&phases.down, Some(root), &settings)?, is_only_root))
    };
    roots.iter().filter_map(from).min_by(|a, b| a.cost.total_cmp(&b.cost))
}

/// The roots, best first by greedy trees.
fn ranked(phases: &Phases, root: Option<usize>, settings: &Settings<'_>) -> Vec<usize> {
    if let Some(root) = root {
        return vec![root];
    }
    let cost = |greedy: Greedy| (phases.cost(greedy.up, greedy.down), greedy.root);
    cheapest_first(greedy_trees(phases, settings.limits, settings.effort).into_iter().map(cost).collect())
}

/// The cost of greedy trees from a root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Greedy {
    pub(crate) root: usize,
    pub(crate) up: f64,
    pub(crate) down: f64,
}

/// Greedy trees from the roots that are near the others, fewer with effort quick.
pub(crate) fn greedy_trees(phases: &Phases, limits: Limits, effort: Effort) -> Vec<Greedy> {
    let len = phases.len();
    let total = |root: usize| {
        let edges = (0..len).map(|other| phases.cost(phases.up.edge(root, other), phases.down.edge(root, other)));
        edges.sum::<f64>()
    };
    let roots = cheapest_first((0..len).map(|root| (total(root), root)).collect());
    let (up, down) = (Preferences::new(&phases.up, RELAY), Preferences::new(&phases.down, RELAY));
    let up = EarliestCompletion::new(&up, &[], limits);
    let down = EarliestCompletion::new(&down, &[], limits);
    let greedy = |root| Some(Greedy { root, up: up.from(root)?.cost, down: down.from(root)?.cost });
    let ranked = if effort == Effort::Quick { RANKED_QUICKLY } else { RANKED };
    let most = (ranked * RANKED / len.max(RANKED)).max(1);
    roots.into_iter().take(most).filter_map(greedy).collect()
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
    // Neither tree of the best pair exceeds the cost of the pair; roots that do may count as endless.
    let greedy = greedy_trees(phases, settings.limits, settings.effort)
        .into_iter()
        .filter(|greedy| roots.contains(&greedy.root));
    let known = greedy.map(|greedy| phases.cost(greedy.up, greedy.down)).reduce(f64::min)?;
    let best_of_each = |costs: &Costs| exact_from_each(costs, known, settings.stop);
    let (up, down) = (best_of_each(&phases.up)?, best_of_each(&phases.down)?);
    let sum = |&root: &usize| phases.cost(up[root].cost, down[root].cost);
    let best = roots.iter().copied().min_by(|a, b| sum(a).total_cmp(&sum(b)))?;
    let found = |best: &Ordered| Found { best: best.clone(), by: "exact", iterations: 0, is_optimal: true };
    Some(phases.pair(found(&up[best]), found(&down[best]), true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::exact::exact;
    use proptest::prelude::*;

    fn some_phases(most: usize) -> impl Strategy<Value = Phases> {
        let cost = prop_oneof![(0_u32..5).prop_map(f64::from), 1.0..100.0_f64];
        (1..=most, prop_oneof![Just(1.0), Just(2.0)]).prop_flat_map(move |(n, broadcasts)| {
            prop::collection::vec([cost.clone(), cost.clone(), cost.clone(), cost.clone()], n * n).prop_map(
                move |all| {
                    let costs =
                        |s: usize, r: usize| Costs::of_fn(n, |p, c| all[p * n + c][s], |p, c| all[p * n + c][r]);
                    Phases { up: costs(0, 1), down: costs(2, 3), broadcasts }
                },
            )
        })
    }

    /// A lower limit for the cost of a tree of one level from any root.
    fn star_from_each(costs: &Costs) -> f64 {
        let len = costs.len();
        let star = |root: usize| {
            let others = || (0..len).filter(|&other| other != root);
            let sends: f64 = others().map(|other| costs.send(root, other)).sum();
            sends + others().map(|other| costs.receive(root, other)).fold(0.0, f64::max)
        };
        (0..len).map(star).fold(0.0, f64::max)
    }

    /// The least sum over all common roots of the optimum in each direction.
    fn optimum(phases: &Phases, root: Option<usize>) -> f64 {
        let roots = root.map_or(0..phases.len(), |root| root..root + 1);
        let best = |costs, root| exact(costs, Some(root), star_from_each(costs), &|| false).expect("not stopped").cost;
        let sums = roots.map(|root| best(&phases.up, root) + phases.broadcasts * best(&phases.down, root));
        sums.fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn few_members_get_the_best_two_trees_of_all(phases in some_phases(6), given in any::<bool>()) {
            let root = given.then(|| phases.len() / 2);
            let found = two_trees(&phases, root, &Settings::default()).expect("no limits");
            let least = optimum(&phases, root);
            prop_assert!(found.is_optimal);
            prop_assert!((found.cost - least).abs() <= 1e-6 * least, "{} is not {}", found.cost, least);
            prop_assert_eq!(found.up.best.tree.root(), found.down.best.tree.root());
            prop_assert!(root.is_none_or(|root| root == found.up.best.tree.root()));
            let quick = Settings { effort: Effort::Quick, ..Settings::default() };
            let greedy = two_trees(&phases, root, &quick).expect("no limits");
            prop_assert!(greedy.cost >= found.cost * (1.0 - 1e-6));
        }
    }

    #[test]
    fn one_very_dear_pair_blurs_no_proof() {
        for dear in [1e7, 1e9, 1e15] {
            for seed in 0..20 {
                let mut rng = fastrand::Rng::with_seed(seed);
                let mut costs = |most: u32, pair: usize| -> Vec<f64> {
                    (0..36).map(|at| if at == pair { dear } else { f64::from(rng.u32(1..most)) }).collect()
                };
                let all = [costs(30, 8), costs(100, 99), costs(30, 99), costs(100, 15)];
                let costs = |s: usize, r: usize| Costs::of_fn(6, |p, c| all[s][p * 6 + c], |p, c| all[r][p * 6 + c]);
                let phases = Phases { up: costs(0, 1), down: costs(2, 3), broadcasts: 1.0 };
                let found = two_trees(&phases, None, &Settings::default()).expect("no limits");
                let best = |costs, root| exact(costs, Some(root), 1000.0, &|| false).expect("not stopped").cost;
                let least = (0..6).map(|root| best(&phases.up, root) + best(&phases.down, root)).reduce(f64::min);
                let least = least.expect("six roots");
                assert!(found.is_optimal && found.cost <= least * (1.0 + 1e-6), "{} is not {least}", found.cost);
            }
        }
    }

    #[test]
    fn beyond_the_programme_roots_are_searched_and_nothing_is_proven() {
        let costs = Costs::of_fn(14, |p, c| (1 + (3 * p + c) % 4) as f64, |p, c| (3 + (p + 5 * c) % 7) as f64);
        let phases = Phases { up: costs.clone(), down: costs, broadcasts: 1.0 };
        let of = |effort| two_trees(&phases, None, &Settings { effort, ..Settings::default() }).expect("no limits");
        let (greedy, searched) = (of(Effort::Quick), of(Effort::Normal));
        assert!(searched.cost <= greedy.cost && searched.up.iterations > 0 && !searched.is_optimal);
    }
}
