//! The nodes that are about to join, as a leader sees them: it lets them keep up for some time.
//!
//! Else fast writers would be past a small log before any node has read the state that it begins with.

use std::collections::HashMap;
use std::time::Duration;

use corecast_base::Clock;

use crate::{Index, NodeId};

/// A node that is about to join has at least this time before users wait for it no more.
pub(crate) const SHORTEST_HOLD: Duration = Duration::from_millis(100);

/// Nodes that are about to join: the count that this leader had applied when it saw them first, and when that was.
#[derive(Debug, Default)]
pub(crate) struct Joiners(HashMap<NodeId, (Index, u64)>);

impl Joiners {
    /// The count that users and the log have to wait for, `None` inside if for none. `found` are the nodes that are about
    /// to join, with what they have applied, 0 before they have a state; `reached` is what this leader has applied. A
    /// node is waited for during `limit` only. `None` if there is and was no such node.
    pub(crate) fn hold(
        &mut self,
        found: &[(NodeId, Index)],
        reached: Index,
        limit: Duration,
        now: u64,
    ) -> Option<Option<Index>> {
        if found.is_empty() && self.0.is_empty() {
            return None;
        }
        self.0.retain(|node, _| found.iter().any(|(joiner, _)| joiner == node));
        let mut least = None;
        for &(node, applied) in found {
            let (at, since) = *self.0.entry(node).or_insert((reached, now));
            if Clock::get().duration(now.saturating_sub(since)) < limit {
                // One that has no state yet takes one that shows about as much as this leader has applied by now.
                let joiner = if applied > 0 { applied } else { at };
                least = Some(least.map_or(joiner, |other: Index| other.min(joiner)));
            }
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::{Joiners, SHORTEST_HOLD};
    use crate::NodeId;

    #[test]
    fn the_slowest_joiner_is_waited_for_and_not_for_ever() {
        let (mut joiners, one, other) = (Joiners::default(), NodeId::new(1, 2), NodeId::new(2, 2));
        assert_eq!(joiners.hold(&[], 5, SHORTEST_HOLD, 0), None);
        assert_eq!(joiners.hold(&[(one, 0)], 5, SHORTEST_HOLD, 0), Some(Some(5)), "it has no state yet");
        assert_eq!(joiners.hold(&[(one, 0), (other, 4)], 9, SHORTEST_HOLD, 1), Some(Some(4)));
        assert_eq!(joiners.hold(&[(one, 6)], 9, SHORTEST_HOLD, 2), Some(Some(6)));
        assert_eq!(joiners.hold(&[(one, 6)], 9, SHORTEST_HOLD, u64::MAX), Some(None), "it takes too long");
        assert_eq!(joiners.hold(&[], 9, SHORTEST_HOLD, u64::MAX), Some(None));
        assert_eq!(joiners.hold(&[], 9, SHORTEST_HOLD, u64::MAX), None);
    }
}
