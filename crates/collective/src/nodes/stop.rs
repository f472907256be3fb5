//! The events that end an operation at a leader before its time.

use super::{Fault, FaultKind};
use crate::call::Call;
use crate::error::Error as NearError;

/// The event that ends an operation; the leader makes it the group's failure.
#[derive(Debug)]
pub(super) enum Stop {
    /// The engine reported it.
    Fault(Fault),
    /// This leader found it, in what a node has sent.
    Found {
        /// That node.
        node: usize,
        /// As it goes into a word, but for this node's number.
        kind: FaultKind,
    },
    /// The group within the node, or the limit of the operation.
    Near(NearError),
}

impl Stop {
    pub(super) fn found(node: usize, kind: FaultKind) -> Self {
        Self::Found { node, kind }
    }

    /// A node has sent a message of the call in this word; `None` if there is no such call.
    pub(super) fn mismatched(node: usize, called: u64, expected: Call) -> Option<Self> {
        let called = Call::of_word(called, super::fault::MOST_RANKS)?;
        let kind = FaultKind::Mismatched { called, other: 0, expected };
        Some(Self::Found { node, kind })
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<NearError> for Stop {
    fn from(error: NearError) -> Self {
        Self::Near(error)
    }
}
