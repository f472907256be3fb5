//! The entries of the log: operations of users, and of the group itself.

use crate::{Index, NodeId};

/// A session: the node that opened it in the upper 26 bits, and a number that the node never used before in the lower 38.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

impl SessionId {
    /// The session of commands of the group itself, which are never done twice for other reasons.
    pub const SYSTEM: Self = Self(u64::MAX);

    /// The `number`-th session that `node` opens.
    #[must_use]
    pub const fn new(node: NodeId, number: u64) -> Self {
        Self((node.to_bits() as u64) << 38 | (number & ((1 << 38) - 1)))
    }

    /// Its number among the sessions of its node.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0 & ((1 << 38) - 1)
    }

    /// The node that opened it; `None` for [`SYSTEM`](Self::SYSTEM).
    #[must_use]
    pub const fn node(self) -> Option<NodeId> {
        NodeId::from_bits((self.0 >> 38) as u32)
    }
}

/// One entry of the log. `B` is the body of an operation of the user: bytes, or where they lie.
///
/// A session numbers its requests 1, 2, 3 and so on, and has at most [`OUTSTANDING`](Self::OUTSTANDING) without an answer:
/// request `rid` says that the answer to `rid - OUTSTANDING` has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Command<B> {
    /// The session.
    pub session: SessionId,
    /// The number of the request in its session; 0 opens it.
    pub rid: u32,
    /// The operation.
    pub op: Op<B>,
}

impl<B> Command<B> {
    /// The largest number of requests of a session without an answer.
    pub const OUTSTANDING: u32 = 16;
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op<B> {
    /// Nothing: fills a hole.
    Noop,
    /// An operation of the state machine.
    User(B),
    /// Opens the session of the command.
    OpenSession,
    /// Closes the session of the command.
    CloseSession,
    /// Ends a session whose client is gone.
    ExpireSession(SessionId),
    /// Takes a node in. `boot` tells two processes apart that ask for the same incarnation.
    Join {
        /// The node.
        node: NodeId,
        /// A number that only this process has.
        boot: u64,
        /// The count of commands that the node had applied when it asked: all below are in the state that it begins with.
        applied: Index,
    },
    /// Puts a node out.
    Leave {
        /// The node.
        node: NodeId,
        /// Why.
        reason: LeaveReason,
    },
    /// A cut through all replicas: each takes its checkpoint `id` exactly here; also a read in order.
    Barrier(u64),
}

/// Why a node is no longer a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LeaveReason {
    /// It asked for it.
    Asked = 0,
    /// It is dead.
    Dead = 1,
    /// The log could not wait for it any longer.
    Lagging = 2,
    /// Its state machine panicked.
    Panicked = 3,
    /// Its state differed from that of the others.
    Diverged = 4,
}

impl LeaveReason {
    /// Of the number; `None` for a number that stands for none.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Asked,
            1 => Self::Dead,
            2 => Self::Lagging,
            3 => Self::Panicked,
            4 => Self::Diverged,
            _ => return None,
        })
    }
}
