//! The processes of a group, dead ones too.

use corecast_base::region::{Liveness, ParticipantId};

use crate::runtime::Node;
use crate::{NodeId, StateMachine};

/// The process of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeProcess {
    /// The node.
    pub node: NodeId,
    /// The number of its process in its own namespace, as it says.
    pub pid: u32,
    /// Whether it lives, left, or died: ended without leaving.
    pub liveness: Liveness,
    /// True if it is stopped, as the system says.
    pub is_stopped: bool,
}

impl<S: StateMachine> Node<S> {
    /// The processes of the nodes that are in the group or were, by slot: of each slot the last. A node that left or died is
    /// listed until another one takes its place. The [`Status`](crate::Status) tells which of them are members. Empty in a
    /// forked child.
    #[must_use]
    pub fn processes(&self) -> Vec<NodeProcess> {
        let inner = self.inner();
        if inner.region.check_fork().is_err() {
            return Vec::new();
        }
        let process = |slot| {
            let record = inner.control.node(slot)?;
            let who = ParticipantId::from_word(record.participant)?;
            let (liveness, is_stopped) = (inner.region.liveness(who), inner.region.is_stopped(who));
            // One whose record another has taken since counts as dead, though it may have left.
            let is_known = liveness != Liveness::Dead || inner.region.participant_at(who.index) == Some(who);
            let node = NodeId::new(slot as u16, record.inc);
            is_known.then_some(NodeProcess { node, pid: record.pid, liveness, is_stopped })
        };
        (0..inner.control.layout().slots()).filter_map(process).collect()
    }
}
