//! Prices for the parts of trees from one root, where only trees better than a known one matter.

use super::super::costs::Costs;
use super::super::stop::Stop;
use super::budgets::Budgets;
use super::grid::Grid;
use super::hull::Hull;
use super::network::Network;
use super::prices::Constraints;
use super::relaxed::Relaxed;

/// The number of ticks in the known tree's time.
pub(super) const STEPS: usize = 2000;
/// Rounds of the search for prices. With 30 the subset programme takes ten times as long where ten roots are nearly as
/// good, since few of them are ruled out; with 300 no less.
const ROUNDS: u32 = 100;
/// The least earnings of a tree, roughly: prices are whole numbers.
const GOAL: f64 = (1 << 17) as f64;
/// No price is larger.
const LARGEST: f64 = (1 << 22) as f64;

/// The earnings from informing members and entering sets of them: whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PartPrices {
    /// Of each member, of any sign.
    pub(crate) members: Vec<f64>,
    /// Of sets, not negative; members are bits, and sets of one member smallest first.
    pub(crate) sets: Vec<(u64, f64)>,
}

impl PartPrices {
    /// Good prices for trees from `root`; `None` if no tree from there costs less than `upper`, where there is an
    /// order ([`super::Potential::has_order`]). They are worse when `stop` says so early.
    pub(crate) fn of(costs: &Costs, root: usize, upper: f64, stop: Stop) -> Option<Self> {
        let nothing = Self { members: vec![0.0; costs.len()], sets: Vec::new() };
        let grid = Grid::new(costs, upper, STEPS);
        let constraints = Constraints::new(costs);
        let network = Network::new(&grid, Some(root), Budgets::of(costs));
        let delays = grid.delays(root);
        let mut hull = Hull::new(costs.len(), constraints.failed(root));
        let mut best = (0, nothing);
        for _ in 0..ROUNDS {
            let Some(proportions) = hull.prices().filter(|_| !stop()) else { break };
            let Some(prices) = constraints.prices(&proportions, root) else { break };
            let relaxed = Relaxed::new(&network, &prices.messages);
            let first = relaxed.first(root, prices.goals[root]);
            if first.is_none() && relaxed.exact_until(&delays) >= STEPS {
                return None;
            }
            let Some(first) = first else { break };
            let mut times = vec![first, first.midpoint(best.0), best.0];
            times.truncate(if best.0 > first { 3 } else { 1 });
            for ticks in times {
                let mut done = constraints.failed(root);
                relaxed.trace(root, ticks, &mut |parent, child| constraints.count(parent, child, &mut done));
                hull.add(done);
            }
            if first >= best.0 {
                best = (first, Self::in_proportion(&constraints, (costs.len(), root), &proportions));
            }
        }
        Some(best.1)
    }

    /// Whole prices in these proportions: members first, then sets.
    fn in_proportion(constraints: &Constraints, (len, root): (usize, usize), proportions: &[f64]) -> Self {
        let goal: f64 = constraints.failed(root).iter().zip(proportions).map(|(failed, price)| -failed * price).sum();
        let whole = |price: &f64| (price * GOAL / goal).round().clamp(-LARGEST, LARGEST);
        let (members, sets) = proportions.split_at(len);
        // A root has no duty to enter the sets that hold it.
        let failed: Vec<Vec<f64>> = (0..members.len()).map(|v| constraints.failed(v)).collect();
        let is_in = |v: usize, at: usize| failed[v][members.len() + at] == 0.0;
        let bits = |at: usize| (0..members.len()).filter(|&v| is_in(v, at)).fold(0, |bits, v| bits | 1 << v);
        let priced = sets.iter().map(whole).enumerate().filter(|(_, price)| *price > 0.0);
        Self {
            members: members.iter().map(whole).collect(),
            sets: priced.map(|(at, price)| (bits(at), price)).collect(),
        }
    }

    /// The earnings of a message.
    pub(super) fn message(&self, parent: usize, child: usize) -> f64 {
        let is_entered = |set: u64| set >> child & 1 == 1 && set >> parent & 1 == 0;
        self.members[child] + self.sets.iter().filter(|set| is_entered(set.0)).map(|set| set.1).sum::<f64>()
    }
}
