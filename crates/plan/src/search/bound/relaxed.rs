//! The most that a broadcast earns in a given time, if every message earns its price and members may be informed more
//! than once, within budgets.
//!
//! ```text
//! going(a, t)    = max(0, max over c of price + informed(c, t - edge) + going(a, t - send))
//! informed(a, t) = going(a, t) + what a earns by the messages that cost it nothing, each sent once, at once
//! ```
//!
//! where a has t ticks left; a stands for a member in a state. Both never decrease in t. Prices are whole numbers and
//! sums that count stay far below what an `i16` holds; larger ones saturate.

use super::earnings::Earnings;
use super::network::Network;

/// The largest sum that is sure to be exact: a price and two such sums saturate to more than it.
pub(super) const LARGEST: i16 = (1 << 14) - 1;

/// The earnings of every member in 0 to `steps - 1` ticks.
pub(super) struct Relaxed<'a> {
    network: &'a Network,
    /// `prices[parent * len + child]`.
    prices: &'a [i16],
    earnings: Earnings,
}

impl<'a> Relaxed<'a> {
    /// `prices[parent * len + child]` are whole numbers from -2^13 to 2^13.
    pub(super) fn new(network: &'a Network, prices: &'a [i16]) -> Self {
        Self { network, prices, earnings: Earnings::new(network, prices) }
    }

    /// The least time in which `a` earns this much; `None` if there is none below the known tree's.
    pub(super) fn first(&self, a: usize, goal: i16) -> Option<usize> {
        let first = self.row(a).partition_point(|&sum| sum < goal);
        (first < self.network.times).then_some(first)
    }

    /// The longest time that there is.
    pub(super) fn last(&self) -> usize {
        self.network.times - 1
    }

    /// The earnings of `a`, informed from outside its cluster.
    fn row(&self, a: usize) -> &[i16] {
        self.earnings.informed(self.network.budgets.full(a))
    }

    /// From this number of ticks on sums are too large to be exact, if member `a` is informed after `delay[a]` ticks at
    /// best.
    pub(super) fn exact_until(&self, delays: &[usize]) -> usize {
        let until = |a: usize| delays[a] + self.row(a).partition_point(|&sum| sum <= LARGEST);
        (0..delays.len()).map(until).min().unwrap_or(0)
    }

    /// Reports the messages by which `a` earns the most in `ticks`.
    pub(super) fn trace(&self, a: usize, ticks: usize, visit: &mut dyn FnMut(usize, usize)) {
        let network = self.network;
        let mut open = vec![(a, network.budgets.full(a), ticks)];
        let mut left_over = 64 * network.len();
        while let Some((a, mut state, ticks)) = open.pop() {
            for &(child, edge) in network.free[a].iter().filter(|(_, edge)| *edge <= ticks) {
                if self.earned(a, child, network.budgets.full(child), ticks - edge) > 0 {
                    visit(a, child);
                    open.push((child, network.budgets.full(child), ticks - edge));
                }
            }
            let mut left = ticks;
            while self.earnings.going(state)[left] > 0 && left_over > 0 {
                left_over -= 1;
                let (child, edge, send, after, below, first) = self.message(a, state, left);
                visit(a, child);
                open.push((child, below, first - edge));
                state = after;
                left = first - send;
            }
        }
    }

    /// The message by which `a` earns the most: child, edge, send, states of both after it, and the least time in which
    /// as much is earned.
    fn message(&self, a: usize, state: usize, ticks: usize) -> (usize, usize, usize, usize, usize, usize) {
        let network = self.network;
        let row = self.earnings.going(state);
        let sum = row[ticks];
        let left = row.partition_point(|&earlier| earlier < sum);
        for group in network.groups(a) {
            for given in network.budgets.given(a, group.kind) {
                let Some(after) = network.budgets.after(a, state, group.kind, given) else { continue };
                for &(child, edge) in group.children.iter().filter(|(_, edge)| *edge <= left) {
                    let below = network.budgets.below(child, group.kind, given);
                    let earned = self.earned(a, child, below, left - edge);
                    if earned.saturating_add(self.earnings.going(after)[left - group.send]) == sum {
                        return (child, edge, group.send, after, below, left);
                    }
                }
            }
        }
        unreachable!("some message has earned it")
    }

    /// The earnings of a message and of its receiver, which has this much time left.
    fn earned(&self, parent: usize, child: usize, below: usize, ticks: usize) -> i16 {
        let price = self.prices[parent * self.network.len() + child];
        self.earnings.informed(below)[ticks].saturating_add(price)
    }
}

#[cfg(test)]
mod tests {
    use super::super::budgets::Budgets;
    use super::super::grid::Grid;
    use super::*;
    use crate::search::Costs;
    use fastrand::Rng;

    /// The earnings by the definition, one time after the other.
    fn by_definition(network: &Network, prices: &[i16]) -> Vec<Vec<i16>> {
        let budgets = &network.budgets;
        let mut going = vec![vec![0; network.times]; budgets.total()];
        let mut informed = going.clone();
        let states = (0..network.len()).flat_map(|a| budgets.rows(a).map(move |state| (a, state)));
        for (t, (a, state)) in (0..network.times).flat_map(|t| states.clone().map(move |of| (t, of))) {
            let earned = |informed: &[Vec<i16>], child: usize, below: usize, edge: usize| {
                if edge > t { -1 } else { informed[below][t - edge].saturating_add(prices[a * network.len() + child]) }
            };
            for (group, given) in
                network.groups(a).flat_map(|group| budgets.given(a, group.kind).map(move |g| (group, g)))
            {
                let Some(after) = budgets.after(a, state, group.kind, given) else { continue };
                for &(child, edge) in group.children.iter().filter(|(_, edge)| *edge <= t) {
                    let sum = earned(&informed, child, budgets.below(child, group.kind, given), edge);
                    going[state][t] = sum.saturating_add(going[after][t - group.send]).max(going[state][t]);
                }
            }
            let free = network.free[a].iter().map(|&(child, edge)| earned(&informed, child, budgets.full(child), edge));
            informed[state][t] = free.fold(going[state][t], |sum, free| sum.saturating_add(free.max(0)));
        }
        informed
    }

    #[test]
    fn blocks_hold_what_the_definition_says() {
        let mut rng = Rng::with_seed(7);
        for near in [0.0, 3.0, 11.0, 40.0] {
            let random: Vec<f64> = (0..144).map(|_| rng.f64()).collect();
            let far = |p: usize, c: usize| {
                if p / 2 == c / 2 {
                    0.2
                } else if p / 4 == c / 4 {
                    1.0
                } else {
                    4.0
                }
            };
            let send = |p: usize, c: usize| (near * far(p, c) * (0.9 + 0.2 * random[p * 12 + c])).floor();
            let costs = Costs::of_fn(12, send, |p, c| (30.0 * far(p, c)).floor());
            let grid = Grid::new(&costs, 300.0, 300);
            let network = Network::new(&grid, Some(5), Budgets::of(&costs));
            assert!(network.budgets.total() > 12, "there are clusters");
            let prices: Vec<i16> = (0..144).map(|_| rng.i16(-3..10)).collect();
            let relaxed = Relaxed::new(&network, &prices);
            for (state, expected) in by_definition(&network, &prices).iter().enumerate() {
                assert_eq!(relaxed.earnings.informed(state), expected, "sends from {near}, state {state}");
            }
            // Long broadcasts are cut off.
            let mut sum = 0_i16;
            relaxed.trace(5, 50, &mut |p, c| sum = sum.saturating_add(prices[p * 12 + c]));
            assert_eq!(sum, relaxed.row(5)[50], "sends from {near}");
        }
    }
}
