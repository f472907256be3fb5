//! The Lagrangian bound: a broadcast that need not inform everybody just once, paid so that it nearly does.
//!
//! Every member has a price and so has every cluster. A tree informs each member once and enters each cluster, so it
//! earns at least the sum of all prices. What earns the most in t ticks without that duty is computed for all t at
//! once ([`Relaxed`]). If it earns less than the sum, no tree takes t ticks: the first t in which it earns the sum is a
//! bound, for any prices. Good prices come from what the best earners do too often and not at all ([`Hull`]).
//!
//! `docs/design/bounds.md` has the proof, what else was tried, and how tight the bound is.

use std::ops::Range;

use super::super::costs::Costs;
use super::super::exact::Stop;
use super::budgets::Budgets;
use super::grid::{Grid, ROUNDING};
use super::hull::Hull;
use super::prices::{Constraints, Prices};
use super::quick::quick_bound;
use super::relaxed::{Network, Relaxed};

/// No tree from `root`, or from any root, is cheaper, as far as that matters: at most `upper`, the cost of a known tree.
///
/// Reaches [`quick_bound`] at least, and more the more iterations it may take, up to 300 or so. It ends early when
/// `stop` says so, when the known tree turns out to be optimal (the bound is `upper` then, but for a rounding of 1e-10
/// of it), or when no prices can be better. The same on every machine.
pub(crate) fn lower_bound(costs: &Costs, root: Option<usize>, upper: f64, iterations: u32, stop: Stop) -> f64 {
    let quick = quick_bound(costs, root).min(upper);
    if !upper.is_finite() || quick >= upper {
        return quick;
    }
    let grid = Grid::new(costs, upper, steps(costs, upper));
    if grid.lag == 0 {
        // Messages that take no time at all: who sends how many of them has no order.
        return quick;
    }
    let mut search = Search::new(costs, root, &grid);
    for _ in 0..iterations {
        if stop() || search.ticks == grid.steps || search.improve().is_none() {
            break;
        }
    }
    quick.max(search.ticks as f64 / grid.steps as f64 * upper * (1.0 - 2.0 * ROUNDING))
}

/// Into how many ticks the cost of the known tree is cut: where all costs are whole numbers, they are the ticks.
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

/// The search for prices.
struct Search {
    root: Option<usize>,
    constraints: Constraints,
    network: Network,
    hull: Hull,
    delays: Vec<usize>,
    steps: usize,
    /// No tree takes fewer.
    ticks: usize,
}

impl Search {
    fn new(costs: &Costs, root: Option<usize>, grid: &Grid) -> Self {
        let constraints = Constraints::new(costs, root);
        let members = costs.len();
        // Whoever sends nothing takes no time, and fails in every duty.
        let hull = Hull::new(members, constraints.failed());
        let network = Network::new(grid, root, Budgets::of(costs));
        Self { root, constraints, network, hull, delays: grid.delays(root), steps: grid.steps, ticks: 0 }
    }

    /// Tries other prices; `None` if there are none that can be better.
    fn improve(&mut self) -> Option<()> {
        let prices = self.constraints.prices(&self.hull.prices()?)?;
        let relaxed = Relaxed::new(&self.network, &prices.messages);
        let first = (0..self.steps).find(|&t| self.best_root(&relaxed, &prices, t).1 >= prices.goal);
        let reached = first.unwrap_or(self.steps).min(relaxed.exact_until(&self.delays));
        self.ticks = self.ticks.max(reached);
        // Three broadcasts for one table: in the time in which one first earns enough, and in times that no tree takes.
        let first = first?.min(self.steps - 1);
        let last = self.ticks.min(self.steps - 1);
        let mut times = vec![first, first.midpoint(last), last];
        times.retain(|&t| t >= first);
        times.dedup();
        for t in times {
            let (root, _) = self.best_root(&relaxed, &prices, t);
            let point = self.point(&relaxed, root, t);
            self.hull.add(point);
        }
        Some(())
    }

    /// The root from which the most is earned in `ticks`, and how much.
    fn best_root(&self, relaxed: &Relaxed<'_>, prices: &Prices, ticks: usize) -> (usize, f32) {
        let earned = |root: usize| (root, relaxed.informed(root, ticks) + prices.roots[root]);
        self.roots().map(earned).max_by(|a, b| a.1.total_cmp(&b.1)).expect("there is a root")
    }

    fn roots(&self) -> Range<usize> {
        self.root.map_or(0..self.delays.len(), |root| root..root + 1)
    }

    /// What the broadcast that earns the most from this root in this time does beyond the duty of a tree.
    fn point(&self, relaxed: &Relaxed<'_>, root: usize, ticks: usize) -> Vec<f64> {
        let mut done = self.constraints.failed();
        if self.root.is_none() {
            self.constraints.count(None, root, &mut done);
        }
        relaxed.trace(root, ticks, &mut |parent, child| self.constraints.count(Some(parent), child, &mut done));
        done
    }
}
