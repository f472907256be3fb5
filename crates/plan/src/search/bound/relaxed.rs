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

/// What everybody earns in 0 to `steps - 1` ticks.
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

    /// The least time in which `a` earns so much; `None` if there is none below the known tree's.
    pub(super) fn first(&self, a: usize, goal: i16) -> Option<usize> {
        let first = self.row(a).partition_point(|&sum| sum < goal);
        (first < self.network.times).then_some(first)
    }

    /// What `a`, informed from outside its cluster, earns.
    fn row(&self, a: usize) -> &[i16] {
        self.earnings.informed(self.network.budgets.full(a))
    }

    /// From so many ticks on sums are too large to be exact, if member `a` is informed after `delay[a]` ticks at best.
    pub(super) fn exact_until(&self, delays: &[usize]) -> usize {
        let until = |a: usize| delays[a] + self.row(a).partition_point(|&sum| sum <= LARGEST);
        (0..delays.len()).map(until).min().unwrap_or(0)
    }

    /// Tells the messages by which `a` earns the most in `ticks`.
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

    /// What a message earns and whoever got it, who has so much time left.
    fn earned(&self, parent: usize, child: usize, below: usize, ticks: usize) -> i16 {
        let price = self.prices[parent * self.network.len() + child];
        self.earnings.informed(below)[ticks].saturating_add(price)
    }
}
