//! A checkpoint of a whole group: the same cut in all replicas, and whose state differs there.

use std::io;
use std::time::Duration;

use crate::error::ExecuteError;
use crate::segment::Cut;
use crate::{Index, NodeId};

/// The time after which a cut is asked for once more.
pub(crate) const CUT_ASKED_AGAIN: Duration = Duration::from_millis(500);

/// A cut through the group, as the node that asked for it sees it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The index of the cut: the state shows all commands below.
    pub index: Index,
    /// The digest of this replica's state.
    pub digest: u128,
    /// The bytes of this replica's state that were written.
    pub bytes: u64,
    /// The digests of the members that have answered, this one included.
    pub digests: Vec<(NodeId, u128)>,
    /// Members that found another digest than most. If there is no majority, as between two, all that differ from this one.
    pub diverged: Vec<NodeId>,
}

impl Checkpoint {
    /// Of a cut, and what members found there.
    pub(crate) fn new(cut: &Cut, bytes: u64, digests: Vec<(NodeId, u128)>) -> Self {
        let diverged = diverged(&digests, cut.digest);
        Self { index: cut.index, digest: cut.digest, bytes, digests, diverged }
    }

    /// The members to put out, as their state differs from that of most. Two only report it: neither knows which one is wrong.
    pub(crate) fn to_put_out(&self) -> &[NodeId] {
        if self.digests.len() > 2 { &self.diverged } else { &[] }
    }
}

/// The members whose digest is not that of most; without a majority, those that differ from `mine`.
fn diverged(digests: &[(NodeId, u128)], mine: u128) -> Vec<NodeId> {
    let votes = |digest: u128| digests.iter().filter(|(_, other)| *other == digest).count();
    let majority = digests.iter().map(|&(_, digest)| digest).find(|&digest| 2 * votes(digest) > digests.len());
    let right = majority.unwrap_or(mine);
    digests.iter().filter(|(_, digest)| *digest != right).map(|&(node, _)| node).collect()
}

/// Why there is no checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The cut could not be ordered in time, or this node does no more.
    #[error(transparent)]
    Cut(#[from] ExecuteError),
    /// The state could not be written.
    #[error("the state could not be written: {0}")]
    State(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minority_has_diverged() {
        let node = |slot| NodeId::new(slot, 1);
        assert_eq!(diverged(&[(node(0), 1), (node(1), 2), (node(2), 1)], 2), [node(1)]);
        assert_eq!(diverged(&[(node(0), 1), (node(1), 2)], 2), [node(0)], "two only report it");
        assert_eq!(diverged(&[(node(0), 1), (node(1), 1)], 1), []);
    }
}
