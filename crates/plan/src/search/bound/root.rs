//! Facts about the trees from one root, and the prices that follow from them.

use super::hull::Hull;
use super::prices::{Constraints, Prices};
use super::relaxed::Relaxed;

/// Facts about the trees from one root.
pub(super) struct Root {
    pub(super) member: usize,
    /// No tree takes fewer ticks.
    pub(super) ticks: usize,
    /// After how many ticks it can have informed each member.
    delays: Vec<usize>,
    hull: Hull,
}

impl Root {
    pub(super) fn new(member: usize, delays: Vec<usize>, constraints: &Constraints) -> Self {
        // A member that sends nothing takes no time, and fails in every duty.
        let hull = Hull::new(constraints.members(), constraints.failed(member));
        Self { member, ticks: 0, delays, hull }
    }

    /// Prices at which all broadcasts known from here earn less than a tree; `None` if there are none.
    pub(super) fn prices(&mut self, constraints: &Constraints) -> Option<Prices> {
        constraints.prices(&self.hull.prices()?, self.member)
    }

    /// Raises what is known to what follows from these prices, which are good for any root. Returns the least time in
    /// which a broadcast earns enough, if there is one below `steps`.
    pub(super) fn raise(&mut self, prices: &Prices, relaxed: &Relaxed<'_>, steps: usize) -> Option<usize> {
        let first = relaxed.first(self.member, prices.goals[self.member]);
        self.ticks = self.ticks.max(first.unwrap_or(steps).min(relaxed.exact_until(&self.delays)));
        first
    }

    /// Remembers the broadcasts that earn the most: in the time in which one first earns enough, and, if prices were made
    /// for this root, in longer ones that no tree takes, which are of more use but farther from a tree.
    pub(super) fn learn(
        &mut self,
        first: usize,
        is_priced_for: bool,
        constraints: &Constraints,
        relaxed: &Relaxed<'_>,
    ) {
        let mut times = vec![first];
        let last = self.ticks.min(relaxed.last());
        if is_priced_for && last > first {
            times.extend([first.midpoint(last), last]);
            times.dedup();
        }
        for ticks in times {
            let mut done = constraints.failed(self.member);
            relaxed.trace(self.member, ticks, &mut |parent, child| constraints.count(parent, child, &mut done));
            self.hull.add(done);
        }
    }
}
