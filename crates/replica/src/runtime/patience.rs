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
/// The longest measure of repetitions that long messages bring.
const LONGEST_PACE: Duration = Duration::from_millis(100);
/// The patience for each byte of the longest message of late, in nanoseconds: several times what a node needs to take, copy, hash
/// and apply one. To wait that long costs less than a needless role change, which moves a sixteenth of the window and more of
/// such commands several times.
const BUSY_NS_PER_BYTE: u64 = 64;

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
    /// The bytes of the longest message of late, and when it was seen.
    longest: (u64, u64),
    seen: HashMap<NodeId, Seen>,
}

/// The last look at a node.
#[derive(Debug)]
struct Seen {
    /// Its sign of life.
    sign: u64,
    /// Since when that has not changed.
    since: u64,
    /// True if it was held for stuck, and no other node has its role for that.
    is_suspected: bool,
}

impl Seen {
    fn new(sign: u64, since: u64) -> Self {
        Self { sign, since, is_suspected: false }
    }
}

impl Patience {
    /// Patience of at least `least`, in a group of `nodes` nodes that run on `cpus` CPUs.
    pub(crate) fn new(least: Duration, nodes: usize, cpus: usize) -> Self {
        let changed = Clock::get().ticks();
        let mut patience =
            Self { asked: least, cpus, least, now: least, changed, longest: (0, changed), seen: HashMap::new() };
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
        self.now = (self.limit() * 2).min(LONGEST);
        self.changed = Clock::get().ticks();
    }

    /// True if the sign of life of `node`, which has something to do, has been `sign` for longer than it may be, and for `more`
    /// than that.
    pub(crate) fn is_over(&mut self, node: NodeId, sign: u64, more: Duration, now: u64) -> bool {
        self.calm_down(now);
        let seen = self.seen.entry(node).or_insert(Seen::new(sign, now));
        if seen.sign != sign {
            let was_suspected = seen.is_suspected;
            *seen = Seen::new(sign, now);
            if was_suspected {
                self.doubted();
            }
            return false;
        }
        Clock::get().duration(now.saturating_sub(seen.since)) > self.limit() + more
    }

    /// The node was held for stuck, and gets as much time again. If it shows a sign of life before another has its role, it was
    /// only slow, and all get more.
    pub(crate) fn suspected(&mut self, node: NodeId, now: u64) {
        if let Some(seen) = self.seen.get_mut(&node) {
            seen.since = now;
            seen.is_suspected = true;
        }
    }

    /// Messages of up to this many bytes went or came: nodes are busy with such a one for some time.
    pub(crate) fn message_seen(&mut self, bytes: usize, now: u64) {
        if bytes as u64 >= self.longest.0 {
            self.longest = (bytes as u64, now);
        } else if Clock::get().duration(now.saturating_sub(self.longest.1)) > CALM {
            self.longest = (self.longest.0 / 2, now);
        }
    }

    /// The time for which a node may be busy with one message.
    fn busy(&self) -> Duration {
        Duration::from_nanos(self.longest.0.saturating_mul(BUSY_NS_PER_BYTE)).min(LONGEST)
    }

    /// True if it is this node's turn to take over from `node`, which is certainly dead: those before it have had time enough.
    pub(crate) fn is_turn(&mut self, node: NodeId, sign: u64, turn: usize, now: u64) -> bool {
        let seen = self.seen.entry(node).or_insert(Seen::new(sign, now));
        Clock::get().duration(now.saturating_sub(seen.since)) > self.before_turn(turn)
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

    /// The time for which a node with work may be silent when all is calm. It is the measure of everything that is done once more
    /// when its time is up, which must not take many times a second after one long run of commands.
    pub(crate) fn least(&self) -> Duration {
        self.least.max(self.busy().min(LONGEST_PACE))
    }

    /// The time for which a node with work may be silent at the moment.
    pub(crate) fn limit(&self) -> Duration {
        self.now.max(self.busy())
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

    /// A point in time, and a little more.
    fn at(ms: u64) -> u64 {
        1 + Clock::get().ticks_in(Duration::from_micros(ms * 1000 + 100))
    }

    #[test]
    fn a_leader_that_was_held_for_stuck_and_lives_gets_twice_the_time() {
        let mut patience = Patience::new(Duration::from_millis(2), 2, 2);
        let leader = NodeId::new(0, 1);
        let is_over = |patience: &mut Patience, sign, now| patience.is_over(leader, sign, Duration::ZERO, now);
        assert!(!is_over(&mut patience, 7, 1) && is_over(&mut patience, 7, at(2)));
        patience.suspected(leader, at(2));
        assert!(!is_over(&mut patience, 7, at(3)) && is_over(&mut patience, 7, at(5)));
        assert_eq!(patience.limit(), Duration::from_millis(2), "it may be dead");
        patience.suspected(leader, at(5));
        assert!(!is_over(&mut patience, 8, at(6)));
        assert_eq!(patience.limit(), Duration::from_millis(4));
        assert!(!is_over(&mut patience, 9, at(7)));
        assert_eq!(patience.limit(), Duration::from_millis(4), "once for all of that");
    }

    #[test]
    fn nodes_get_time_for_long_messages() {
        let mut patience = Patience::new(Duration::from_millis(2), 2, 2);
        patience.message_seen(1 << 10, 1);
        assert_eq!((patience.least(), patience.limit()), (Duration::from_millis(2), Duration::from_millis(2)));
        patience.message_seen(1 << 20, 1);
        let long = Duration::from_nanos(BUSY_NS_PER_BYTE << 20);
        patience.message_seen(1 << 10, at(900));
        assert_eq!((patience.least(), patience.limit()), (long, long));
        patience.message_seen(1 << 10, at(1001));
        assert_eq!(patience.limit(), long / 2, "there were none for long");
        patience.doubted();
        assert_eq!(patience.limit(), long, "twice what was too short");
        patience.message_seen(1 << 30, at(1001));
        assert_eq!((patience.least(), patience.limit()), (LONGEST_PACE, LONGEST));
    }

    #[test]
    fn a_node_counts_as_stuck_after_the_limit_and_the_time_of_those_before() {
        let mut patience = Patience::new(Duration::from_millis(2), 2, 2);
        let node = NodeId::new(0, 1);
        let before = patience.before_turn(2);
        assert!(!patience.is_over(node, 7, before, 1));
        assert!(!patience.is_over(node, 7, before, at(5)));
        assert!(patience.is_over(node, 7, before, at(6)));
        assert!(!patience.is_over(node, 8, before, at(6)), "it has shown a sign of life");
    }
}
