//! Errors of groups over several nodes.

use std::fmt;

use super::lanes::Lanes;
use crate::call::Call;
use crate::error::{BuildError, Error as NearError, Loss, RunError};
use crate::processes::JoinError as NearJoinError;

/// Why an operation of a group over several nodes failed. Ranks count over all nodes. After any error but
/// [`BadRank`](Error::BadRank), [`Timeout`](Error::Timeout), [`Pending`](Error::Pending), [`NoPlan`](Error::NoPlan) and
/// [`NotFailed`](Error::NotFailed) every later operation of the group fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A member can no longer take part.
    #[error("member {rank} on node {node} {loss}")]
    MemberLost {
        /// Its rank. If it gave a slice of another length, or another type, than members of other nodes, this is the leader of
        /// its node.
        rank: usize,
        /// Its node.
        node: usize,
        /// How it was lost.
        loss: Loss,
    },
    /// A whole node can no longer take part.
    #[error("node {node} on host {host} is lost")]
    NodeLost {
        /// Its number.
        node: usize,
        /// Its host.
        host: String,
    },
    /// Members called different operations, or the same one with different roots.
    #[error("member {rank} on node {node} called {called} where member {other} called {expected}")]
    Mismatched {
        /// The member whose call differs. For members of different nodes it is the leader of its node.
        rank: usize,
        /// Its node.
        node: usize,
        /// The call it made.
        called: Call,
        /// A member that called something else; of different nodes, a leader too.
        other: usize,
        /// The call that the other member made.
        expected: Call,
    },
    /// The time given to the operation has passed. It may be finished later, or the member may leave, which makes the group fail.
    #[error("the operation did not end in time: {late}")]
    Timeout {
        /// The members and nodes that were late.
        late: Late,
    },
    /// The library that carries messages between nodes reported an error.
    #[error("the engine between nodes failed at node {node} with error {class}: {text}")]
    Engine {
        /// The node that reported it.
        node: usize,
        /// The library's number of the error.
        class: i32,
        /// The library's text at the leader of that node; a note of where it is, elsewhere.
        text: String,
    },
    /// The engine cannot go on after what was lost.
    #[error("{engine} cannot go on after the loss of {lost}")]
    CannotShrink {
        /// The engine.
        engine: String,
        /// The kind of loss.
        lost: &'static str,
    },
    /// There is no such member.
    #[error("rank {rank} is outside a group of {members} members")]
    BadRank {
        /// The rank asked for.
        rank: usize,
        /// The size of the group.
        members: usize,
    },
    /// Only a group that has failed can be shrunk, and this one has not.
    #[error("the group has not failed, so there is nothing to shrink it for")]
    NotFailed,
    /// This member has begun an operation and not finished it.
    #[error("an operation that this member has begun is not finished")]
    Pending,
    /// There is no plan between the nodes.
    #[error("no plan between the nodes: {reason}")]
    NoPlan {
        /// Why.
        reason: String,
    },
    /// Another error of the group within this node.
    #[error(transparent)]
    Near(#[from] NearError),
}

/// The members and nodes that a member waits for when its time is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Late {
    /// Members of this member's node that have not begun the operation, the first eight of them, by rank.
    pub members: Vec<usize>,
    /// The neighbour from which this node's leader waits for a message, if it is known. It may itself wait for another node:
    /// the node that is late is the one that names none.
    pub nodes: Vec<usize>,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        match (self.members.as_slice(), self.nodes.as_slice()) {
            ([], []) => f.write_str("its values are on the way"),
            ([], nodes) => write!(f, "no message has come from node {}", list(nodes)),
            (members, []) => write!(f, "member {} has not begun it", list(members)),
            (members, nodes) => {
                write!(f, "member {} has not begun it, no message has come from node {}", list(members), list(nodes))
            }
        }
    }
}

/// Why a group over several nodes could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The group within this node cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// This process could not join the group within its node.
    #[error(transparent)]
    Join(#[from] NearJoinError),
    /// The nodes could not tell each other who they are.
    #[error(transparent)]
    Operation(#[from] Error),
    /// Not all nodes have answered in time.
    #[error("the nodes have not met within {seconds} s")]
    SetupTimeout {
        /// The time they were given.
        seconds: u64,
    },
    /// The first member of a node leads it, and got no engine.
    #[error("member 0 of a node leads it and needs the engine's end")]
    NoEngine,
    /// Two nodes run versions of corecast that do not understand each other.
    #[error("node {node} runs a version of corecast with another protocol")]
    OtherVersion {
        /// The node that differs from this one.
        node: usize,
    },
    /// Two nodes have asked for different lanes.
    #[error("node {node} has {theirs}, and this node {here}: all nodes need the same")]
    OtherLanes {
        /// The node that differs from this one.
        node: usize,
        /// Its lanes.
        theirs: Lanes,
        /// Those of this node.
        here: Lanes,
    },
    /// Members of this node have asked for different lanes.
    #[error("the members of this node have asked for different lanes: all members need the same")]
    MixedLanes,
    /// A node has fewer members than lanes.
    #[error("node {node} has {members} members, and {lanes} lanes need as many")]
    TooFewMembers {
        /// The node.
        node: usize,
        /// Its number of members.
        members: usize,
        /// The number of lanes.
        lanes: usize,
    },
    /// A member leads a lane and got no engine.
    #[error("member {member} of a node leads one of {lanes} lanes and needs an engine's end of its own")]
    NoLane {
        /// The member, by its local rank.
        member: usize,
        /// The number of lanes.
        lanes: usize,
    },
    /// A node's number of members is impossible.
    #[error("node {node} says that it has {members} members")]
    Members {
        /// The node.
        node: usize,
        /// The number it said.
        members: u64,
    },
    /// A member could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
}
