//! When a node counts as stuck, and when it is this node's turn to act.

use std::collections::HashMap;
use std::time::Duration;

use corecast_base::Clock;

use crate::NodeId;

/// The longest patience.
const LONGEST: Duration = Duration::from_secs(1);
/// The time without a role change after which patience halves again.
const CALM: Duration = Duration::from_secs(1);
/// A share of CPU time comes back within about this time for each runnable thread on a CPU.
const SLICE: Duration = Duration::from_millis(12);

/// How long a node waits for another one.
#[derive(Debug)]
pub(crate) struct Patience {
    /// With a CPU for each node.
    asked: Duration,
    cpus: usize,
    /// In the beginning, and when all has been calm for long.
    least: Duration,
    now: Duration,
    changed: u64,
    /// Sign of life of a node, and since when it has not changed.
    seen: HashMap<NodeId, (u64, u64)>,
}

impl Patience {
    /// Patience of at least `least`, in a group of `nodes` nodes that run on `cpus` CPUs.
    pub(crate) fn new(least: Duration, nodes: usize, cpus: usize) -> Self {
        let mut patience =
            Self { asked: least, cpus, least, now: least, changed: Clock::get().ticks(), seen: HashMap::new() };
        patience.set_nodes(nodes);
        patience
    }

    /// There are `nodes` nodes now.
    pub(crate) fn set_nodes(&mut self, nodes: usize) {
        let crowd = nodes.div_ceil(self.cpus.max(1)) as u32;
        let before = self.least;
        self.least = if crowd > 1 { self.asked.max(SLICE * crowd) } else { self.asked };
        // Patience that doubts have raised stays so when a node leaves.
        self.now = if self.now == before { self.least } else { self.now.max(self.least) };
    }

    /// There is a new configuration: its nodes have all the time again.
    pub(crate) fn reconfigured(&mut self) {
        self.seen.clear();
    }

    /// A node that lives was held for stuck, though the system does not say that its process is stopped: the next one gets more
    /// time.
    pub(crate) fn doubted(&mut self) {
        self.now = (self.now * 2).min(LONGEST);
        self.changed = Clock::get().ticks();
    }

    /// True if the sign of life of `node`, which has something to do, has been `sign` for longer than it may be, and for `more`
    /// than that.
    pub(crate) fn is_over(&mut self, node: NodeId, sign: u64, more: Duration, now: u64) -> bool {
        self.calm_down(now);
        let seen = self.seen.entry(node).or_insert((sign, now));
        if seen.0 != sign {
            *seen = (sign, now);
        }
        Clock::get().duration(now.saturating_sub(seen.1)) > self.now + more
    }

    /// True if it is this node's turn to take over from `node`, which is certainly dead: those before it have had time enough.
    pub(crate) fn is_turn(&mut self, node: NodeId, sign: u64, turn: usize, now: u64) -> bool {
        let seen = self.seen.entry(node).or_insert((sign, now));
        Clock::get().duration(now.saturating_sub(seen.1)) > self.before_turn(turn)
    }

    /// The time that a node leaves to those whose turn is before its own, where taking a role is one exchange of a word.
    pub(crate) fn before_turn(&self, turn: usize) -> Duration {
        self.asked * u32::try_from(turn).unwrap_or(u32::MAX)
    }

    /// The node has nothing to do, so nothing is known of it.
    pub(crate) fn forget(&mut self, node: NodeId) {
        self.seen.remove(&node);
    }

    fn calm_down(&mut self, now: u64) {
        if self.now > self.least && Clock::get().duration(now.saturating_sub(self.changed)) > CALM {
            self.now = (self.now / 2).max(self.least);
            self.changed = now;
        }
    }

    /// The time for which a node with work may be silent when all is calm.
    pub(crate) fn least(&self) -> Duration {
        self.least
    }

    /// The time for which a node with work may be silent at the moment.
    pub(crate) fn limit(&self) -> Duration {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_follows_the_number_of_nodes_and_keeps_what_doubts_have_added() {
        let mut patience = Patience::new(Duration::from_millis(2), 2, 2);
        assert_eq!(patience.limit(), Duration::from_millis(2));
        patience.set_nodes(5);
        assert_eq!(patience.limit(), SLICE * 3);
        patience.set_nodes(4);
        assert_eq!(patience.limit(), SLICE * 2);
        patience.doubted();
        patience.set_nodes(2);
        assert_eq!((patience.limit(), patience.least()), (SLICE * 4, Duration::from_millis(2)));
    }

    #[test]
    fn a_node_counts_as_stuck_after_the_limit_and_the_time_of_those_before() {
        let mut patience = Patience::new(Duration::from_millis(2), 2, 2);
        let node = NodeId::new(0, 1);
        let at = |ms: u64| 1 + Clock::get().ticks_in(Duration::from_micros(ms * 1000 + 100));
        let before = patience.before_turn(2);
        assert!(!patience.is_over(node, 7, before, 1));
        assert!(!patience.is_over(node, 7, before, at(5)));
        assert!(patience.is_over(node, 7, before, at(6)));
        assert!(!patience.is_over(node, 8, before, at(6)), "it has shown a sign of life");
    }
}
