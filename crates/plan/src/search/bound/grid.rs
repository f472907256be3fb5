//! Costs in whole ticks, rounded down: no tree takes longer on the grid than with the real costs.

use super::super::costs::Costs;
use super::quick::lowered;

/// Quotients this close below a whole number count as that number; users of the grid give this share back.
pub(super) const ROUNDING: f64 = 1e-11;

/// The costs of messages in ticks; a tick is the cost of the known tree over `steps`.
pub(super) struct Grid {
    pub(super) len: usize,
    /// A tree is better than the known one if it takes fewer ticks.
    pub(super) steps: usize,
    /// `send[parent * len + child]`.
    pub(super) send: Vec<u32>,
    /// Send and receive, rounded down together.
    pub(super) edge: Vec<u32>,
    /// This many times can be computed at once: no message leads anywhere in fewer ticks.
    pub(super) lag: usize,
}

impl Grid {
    /// `upper` is the cost of the known tree, positive and finite.
    pub(super) fn new(costs: &Costs, upper: f64, steps: usize) -> Self {
        let len = costs.len();
        // A message that takes twice as long as the known tree is as good as endless.
        let ticks = |cost: f64| (cost / upper * steps as f64 * (1.0 + ROUNDING)).min((2 * steps) as f64) as u32;
        let dense = |cost: &dyn Fn(usize, usize) -> f64| -> Vec<u32> {
            (0..len * len).map(|at| ticks(lowered(costs, cost(at / len, at % len)))).collect()
        };
        let send = dense(&|p, c| costs.send(p, c));
        let edge = dense(&|p, c| costs.edge(p, c));
        let pairs = (0..len * len).filter(|at| at / len != at % len);
        let lag = pairs.map(|at| if send[at] > 0 { send[at] } else { edge[at] }).min().unwrap_or(0) as usize;
        Self { len, steps, send, edge, lag }
    }

    /// The least number of ticks after which the root can have informed each member.
    pub(super) fn delays(&self, root: usize) -> Vec<usize> {
        let mut delays = vec![usize::MAX; self.len];
        let mut open: Vec<usize> = (0..self.len).collect();
        delays[root] = 0;
        while let Some(at) = (0..open.len()).min_by_key(|&at| delays[open[at]]) {
            let nearest = open.swap_remove(at);
            for &other in &open {
                delays[other] = delays[other].min(delays[nearest] + self.edge[nearest * self.len + other] as usize);
            }
        }
        delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_costs_are_whole_ticks_and_others_are_rounded_down_together() {
        let costs = Costs::of_fn(3, |p, c| (1 + p + c) as f64, |_, _| 2.0);
        let grid = Grid::new(&costs, 24.0, 24);
        assert_eq!((grid.send[1], grid.edge[1], grid.send[5], grid.edge[5], grid.lag), (2, 4, 4, 6, 2));
        let grid = Grid::new(&Costs::of_fn(2, |_, _| 0.75, |_, _| 0.75), 1.5, 3);
        assert_eq!((grid.send[1], grid.edge[1]), (1, 3));
    }

    #[test]
    fn delays_are_shortest_paths() {
        let costs = Costs::of_fn(3, |p, c| if (p, c) == (0, 2) { 9.0 } else { 2.0 }, |_, _| 1.0);
        assert_eq!(Grid::new(&costs, 10.0, 10).delays(0), [0, 3, 6]);
    }
}
