//! The Lagrangian bound: a broadcast that need not inform every member exactly once, with prices that make it nearly do
//! so.
//!
//! Every member has a price and so has every cluster. A tree informs each member once and enters each cluster, so it
//! earns at least the sum of all prices. The most that can be earned in t ticks without that duty is computed for all t
//! at once ([`Relaxed`]). If it earns less than the sum, no tree takes t ticks: the first t in which it earns the sum
//! is a bound, for any prices. Good prices come from the constraints that the best earners exceed or miss ([`Hull`]).
//!
//! `docs/design/bounds.md` has the proof, what else was tried, and how tight the bound is.

use super::super::costs::Costs;
use super::super::stop::Stop;
use super::budgets::Budgets;
use super::grid::{Grid, ROUNDING};
use super::network::Network;
use super::prices::Constraints;
use super::quick::quick_bound;
use super::relaxed::Relaxed;
use super::root::Root;

/// A lower bound for trees from `root`, or from any root: at most `upper`, the cost of a known tree.
///
/// Reaches [`quick_bound`] at least, and more the more iterations it may take: up to 300 or so from a given root, and
/// thousands from any of 128. It ends early when `stop` says so, when the known tree turns out to be optimal (the bound
/// is `upper` then, but for a rounding of 1e-10 of it), or when no prices can be better. The same on every machine.
pub(crate) fn lower_bound(costs: &Costs, root: Option<usize>, upper: f64, iterations: u32, stop: Stop) -> f64 {
    let quick = quick_bound(costs, root).min(upper);
    if !upper.is_finite() || quick >= upper {
        return quick;
    }
    let grid = Grid::new(costs, upper, steps(costs, upper));
    if grid.lag == 0 {
        // Messages that take no time at all have no order.
        return quick;
    }
    let mut search = Search::new(costs, root, &grid);
    for _ in 0..iterations {
        if stop() || search.ticks() == grid.steps || search.improve().is_none() {
            break;
        }
    }
    quick.max(search.ticks() as f64 / grid.steps as f64 * upper * (1.0 - 2.0 * ROUNDING))
}

/// The number of ticks in the cost of the known tree: where all costs are whole numbers, they are the ticks.
///
/// Rounding costs half a tick for each message on the longest path: about 0.2 % with 1000 steps.
fn steps(costs: &Costs, upper: f64) -> usize {
    let pairs = || (0..costs.len()).flat_map(|p| (0..costs.len()).map(move |c| (p, c)));
    let is_whole = |cost: f64| cost.fract() == 0.0;
    if upper <= 2000.0
        && is_whole(upper)
        && pairs().all(|(p, c)| is_whole(costs.send(p, c)) && is_whole(costs.edge(p, c)))
    {
        return upper as usize;
    }
    if costs.len() <= 24 { 2000 } else { 1000 }
}

/// This many roots learn from prices that were made for one of them: those of which least is known.
const LEARNING: usize = 32;
/// Work on a root ends after this many rounds in a row that brought nothing.
const PATIENCE: u32 = 10;

/// The search for prices, for each root its own: one price for all roots lets half a tree start at one root and half at
/// another, and is up to a quarter short.
struct Search {
    constraints: Constraints,
    network: Network,
    steps: usize,
    /// That which is worked on first, then by what is known.
    roots: Vec<Root>,
    /// The first root gets this many more rounds that bring nothing.
    patience: u32,
}

impl Search {
    fn new(costs: &Costs, root: Option<usize>, grid: &Grid) -> Self {
        let constraints = Constraints::new(costs);
        let of = |member: usize| Root::new(member, grid.delays(member), &constraints);
        let roots = root.map_or(0..costs.len(), |root| root..root + 1).map(of).collect();
        let network = Network::new(grid, root, Budgets::of(costs));
        Self { constraints, network, steps: grid.steps, roots, patience: 0 }
    }

    /// No tree from any of the roots takes fewer ticks.
    fn ticks(&self) -> usize {
        self.roots.iter().map(|root| root.ticks).min().expect("there is a root")
    }

    /// Tries other prices for a root; `None` if none can be better for the least known one.
    ///
    /// Work on one root helps all similar roots.
    fn improve(&mut self) -> Option<()> {
        if self.patience == 0 {
            self.roots.sort_by_key(|root| (root.ticks, root.member));
            self.patience = PATIENCE;
        }
        let before = self.roots[0].ticks;
        let Some(prices) = self.roots[0].prices(&self.constraints) else {
            self.patience = 0;
            return (before > self.ticks()).then_some(());
        };
        let relaxed = Relaxed::new(&self.network, &prices.messages);
        for (rank, root) in self.roots.iter_mut().enumerate() {
            if let Some(first) = root.raise(&prices, &relaxed, self.steps).filter(|_| rank < LEARNING) {
                root.learn(first, rank == 0, &self.constraints, &relaxed);
            }
        }
        self.roots[1..].sort_by_key(|root| (root.ticks, root.member));
        self.patience = match self.roots[0].ticks {
            ticks if ticks == self.steps => 0,
            ticks if ticks > before => PATIENCE,
            _ => self.patience - 1,
        };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::exact::exact_from_each;
    use proptest::prelude::*;

    const GO_ON: Stop = &|| false;

    /// Arbitrary costs: zeros, equal ones, some 1000 times as large as others.
    fn some_costs() -> impl Strategy<Value = Costs> {
        let cost = prop_oneof![2 => (0_u32..4).prop_map(f64::from), 1 => 0.1..1.0_f64, 1 => 1.0..100.0_f64];
        (2..=7_usize).prop_flat_map(move |n| {
            prop::collection::vec((cost.clone(), cost.clone()), n * n)
                .prop_map(move |all| Costs::of_fn(n, |p, c| all[p * n + c].0, |p, c| all[p * n + c].1))
        })
    }

    /// Clusters of some size with noise, near members up to 30 times as near.
    fn clustered_costs() -> impl Strategy<Value = Costs> {
        let noise = prop::collection::vec(1.0..1.2_f64, 81);
        (3..=9_usize, 2..=4_usize, 1.5..30.0_f64, 0.05..0.9_f64, noise).prop_map(|(n, size, ratio, share, noise)| {
            let cost =
                move |p: usize, c: usize| noise[p * 9 + c] * if p / size == c / size { 10.0 } else { 10.0 * ratio };
            Costs::of_fn(n, |p, c| share * cost(p, c), |p, c| (1.0 - share) * cost(p, c))
        })
    }

    /// The optimum from each root.
    fn optima(costs: &Costs) -> Vec<f64> {
        let all = (0..costs.len() * costs.len()).map(|at| costs.edge(at / costs.len(), at % costs.len()));
        let upper = all.fold(0.0, f64::max) * costs.len() as f64;
        exact_from_each(costs, upper, GO_ON).expect("not stopped").into_iter().map(|best| best.cost).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn no_tree_is_below_the_bound(costs in prop_oneof![some_costs(), clustered_costs()], above in 1.0..1.5_f64) {
            let optima = optima(&costs);
            for (root, &optimum) in optima.iter().enumerate() {
                let bound = lower_bound(&costs, Some(root), optimum * above, 12, GO_ON);
                prop_assert!(bound <= optimum * (1.0 + 1e-9), "{bound} from {root}, {optimum}");
                prop_assert!(bound >= quick_bound(&costs, Some(root)).min(optimum));
            }
            let optimum = optima.into_iter().fold(f64::INFINITY, f64::min);
            let bound = lower_bound(&costs, None, optimum * above, 12, GO_ON);
            prop_assert!(bound <= optimum * (1.0 + 1e-9), "{bound} from any root, {optimum}");
        }

        #[test]
        fn prices_made_for_one_root_hold_for_every_other(
            costs in clustered_costs(),
            proportions in prop::collection::vec(-0.2..1.0_f64, 16),
            above in 1.0..1.5_f64,
        ) {
            let optima = optima(&costs);
            let upper = above * optima.iter().copied().fold(0.0, f64::max);
            let (grid, constraints) = (Grid::new(&costs, upper, 500), Constraints::new(&costs));
            let network = Network::new(&grid, None, Budgets::of(&costs));
            let of = |(at, price): (usize, &f64)| if at < costs.len() { *price } else { price.abs() };
            let count = constraints.failed(0).len();
            let proportions: Vec<f64> = proportions[..count].iter().enumerate().map(of).collect();
            for priced in 0..costs.len() {
                let Some(prices) = constraints.prices(&proportions, priced) else { continue };
                let relaxed = Relaxed::new(&network, &prices.messages);
                for (member, &optimum) in optima.iter().enumerate() {
                    let mut root = Root::new(member, grid.delays(member), &constraints);
                    root.raise(&prices, &relaxed, grid.steps);
                    let bound = root.ticks as f64 / 500.0 * upper;
                    prop_assert!(bound <= optimum * (1.0 + 1e-9), "{bound} from {member}, {optimum}");
                }
            }
        }

        #[test]
        fn the_bound_of_clustered_costs_is_near_the_optimum(costs in clustered_costs()) {
            let optimum = optima(&costs)[0];
            let bound = lower_bound(&costs, Some(0), optimum, 100, GO_ON);
            prop_assert!(bound >= 0.9 * optimum, "{bound}, {optimum}");
        }
    }

    /// Two sockets, of eight and of six, in pairs, no two costs equal.
    fn two_sockets() -> Costs {
        let cost = |p: usize, c: usize| match p ^ c {
            1 => 20.0,
            2..8 => 60.0,
            _ => 180.0,
        };
        let uneven = move |p: usize, c: usize| cost(p, c) + ((p * 31 + c * 17) % 13) as f64 / 7.0;
        Costs::of_fn(14, move |p, c| 0.2 * uneven(p, c), move |p, c| 0.8 * uneven(p, c))
    }

    #[test]
    fn members_on_two_sockets_are_bounded_within_two_percent() {
        for root in [Some(0), None] {
            let optimum = crate::search::exact::exact(&two_sockets(), root, 1000.0, GO_ON).expect("not stopped").cost;
            let bound = lower_bound(&two_sockets(), root, optimum, 100, GO_ON);
            assert!(bound <= optimum && bound >= 0.98 * optimum, "{bound}, {optimum}");
        }
    }

    #[test]
    fn equal_whole_costs_are_proven_at_once() {
        let costs = Costs::of_fn(30, |_, _| 2.0, |_, _| 5.0);
        let mut free = std::collections::BTreeSet::from([(0, 0)]);
        let mut last = 0;
        for child in 1..30 {
            let (now, parent) = free.pop_first().expect("somebody is informed");
            last = now + 7;
            free.extend([(now + 2, parent), (last, child)]);
        }
        let upper = f64::from(last);
        assert!(lower_bound(&costs, Some(3), upper, 50, GO_ON) >= upper * (1.0 - 1e-9));
    }

    #[test]
    fn more_iterations_are_no_worse_and_a_stop_is_heard() {
        let costs = two_sockets();
        let bounds: Vec<f64> = [0, 1, 5, 20, 60].map(|most| lower_bound(&costs, Some(0), 700.0, most, GO_ON)).to_vec();
        assert!(bounds.is_sorted() && bounds[4] > bounds[0], "{bounds:?}");
        assert_eq!(lower_bound(&costs, Some(0), 700.0, 60, &|| true), bounds[0]);
        assert_eq!(bounds[0], quick_bound(&costs, Some(0)));
    }

    #[test]
    fn hostile_costs_are_bounded() {
        for (cost, rare) in [(0.0, 0.0), (0.0, 1.0), (5e-324, 1e308), (1.0, 1e15), (1.0, f64::INFINITY)] {
            let send = |p: usize, c: usize| if (p, c) == (1, 2) { rare } else { cost };
            let costs = Costs::of_fn(5, send, |_, _| cost);
            for upper in [5.0 * cost, f64::INFINITY, 0.0] {
                let bound = lower_bound(&costs, None, upper, 5, GO_ON);
                assert!(bound >= 0.0 && bound <= upper.min(5.0 * cost), "{cost} {rare} {upper}: {bound}");
            }
        }
    }
}
