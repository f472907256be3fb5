//! What building a group and calling its operations can fail with.

use std::fmt;

use corecast_base::ArenaError;
use corecast_channel::Closed;
use corecast_channel::ump::any::WrongType;
use corecast_machine::pin::PinError;
use corecast_plan::ProblemError;

use crate::call::Call;
use crate::missing::Missing;

/// Why a group could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The CPUs are none, or not the machine's.
    #[error(transparent)]
    Cpus(#[from] ProblemError),
    /// No member, or more than [`MAX_MEMBERS`](crate::MAX_MEMBERS).
    #[error("a group has 1 to {} members, not {members}", crate::MAX_MEMBERS)]
    Members {
        /// The number asked for.
        members: usize,
    },
    /// A rank that a part should have is none of the group's.
    #[error("rank {rank} is outside a group of {members} members")]
    BadRank {
        /// The rank.
        rank: usize,
        /// Members of the group.
        members: usize,
    },
    /// A part should have a member twice.
    #[error("rank {rank} is named twice")]
    RepeatedRank {
        /// The rank.
        rank: usize,
    },
    /// No shape of this name is registered.
    #[error("unknown tree shape '{name}': expected one of {}", known.join(", "))]
    UnknownShape {
        /// The name asked for.
        name: String,
        /// The registered ones.
        known: Vec<&'static str>,
    },
    /// No barrier of this name is registered.
    #[error("unknown barrier '{name}': expected auto or one of {}", known.join(", "))]
    UnknownBarrier {
        /// The name asked for.
        name: String,
        /// The registered ones.
        known: Vec<&'static str>,
    },
    /// The tree is not over the members of the group.
    #[error("the tree has {nodes} nodes and the group {members} members")]
    TreeSize {
        /// Nodes of the tree.
        nodes: usize,
        /// Members of the group.
        members: usize,
    },
    /// The memory for the members' lines cannot be laid out.
    #[error(transparent)]
    Memory(#[from] ArenaError),
}

/// How a member was lost to its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// Its thread panicked.
    Panicked,
    /// It was dropped while others still waited for it.
    Left,
    /// It called an operation with another type than its peers.
    Mismatched,
    /// Its process ended without leaving the group.
    Died,
    /// It gave a slice of another length than its peers.
    OtherLength,
    /// It called other operations than its peers, so long ago that nobody can tell which.
    OutOfStep,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Panicked => "panicked",
            Self::Left => "left the group while others waited for it",
            Self::OtherLength => "gave a slice of another length than its peers",
            Self::Mismatched => "called an operation with another type than its peers",
            Self::Died => "died",
            Self::OutOfStep => "called other operations than its peers some time ago",
        })
    }
}

/// Why an operation of a group failed. After a [`MemberLost`](Error::MemberLost) or a [`Mismatched`](Error::Mismatched) every
/// later operation of the group fails the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A member can no longer take part.
    #[error("member {rank} {loss}")]
    MemberLost {
        /// Its rank.
        rank: usize,
        /// What happened to it.
        loss: Loss,
    },
    /// Members called different operations, or the same one with different roots, where all have to call the same in the same
    /// order. All members are told the same. What an operation gave before is right; what it changed in the values of one
    /// that failed is not.
    #[error("member {rank} called {called} where member {other} called {expected}")]
    Mismatched {
        /// The member whose call differs: of the two the one that fewer members agree with, as far as they had called; if as
        /// many do, the one of the higher rank.
        rank: usize,
        /// What it called.
        called: Call,
        /// A member that called something else.
        other: usize,
        /// What that called.
        expected: Call,
    },
    /// There is no such member.
    #[error("rank {rank} is outside a group of {members} members")]
    BadRank {
        /// The rank asked for.
        rank: usize,
        /// The size of the group.
        members: usize,
    },
    /// The member's place is taken.
    #[error("rank {rank} has already joined the group")]
    AlreadyJoined {
        /// Its rank.
        rank: usize,
    },
    /// The group's memory has no room for what the operation needs of it. Whoever founds a group of processes says how much
    /// there is: [`Builder::room_bytes`](crate::Builder::room_bytes).
    #[error(transparent)]
    Memory(#[from] ArenaError),
    /// This process is a forked child of the member: the group is its parent's.
    #[error("this process is a forked child of the one that joined the group")]
    Forked,
    /// The group's memory says what no member writes.
    #[error("the memory of the group is damaged")]
    Corrupt,
    /// The time given to the operation has passed. What this member has done of it stays done, so it may only finish the
    /// operation ([`Started`](crate::Started)) or leave, which makes the group fail.
    #[error("the operation did not end in time: {missing}")]
    Timeout {
        /// Who has not begun it.
        missing: Missing,
    },
    /// A group that has not failed cannot be shrunk.
    #[error("the group has not failed, so there is nothing to shrink it for")]
    NotFailed,
    /// This member has begun an operation and not finished it.
    #[error("an operation that this member has begun is not finished")]
    Pending,
    /// The root gave another number of values to scatter than there are members. Nothing was sent.
    #[error("{values} values cannot be scattered to {members} members")]
    WrongCount {
        /// The values given; 0 if none were.
        values: usize,
        /// The size of the group.
        members: usize,
    },
    /// The value does not travel in one message, and so cannot be waited for with a limit.
    #[error("a value of {bytes} bytes cannot be waited for with a limit, which takes at most {most}")]
    TooLarge {
        /// The size of the value.
        bytes: usize,
        /// The largest that can.
        most: usize,
    },
}

/// Why [`Group::run`](crate::Group::run) returned no results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The first member that panicked, and what it said.
    #[error("member {rank} panicked: {message}")]
    Panicked {
        /// Its rank.
        rank: usize,
        /// The panic's message.
        message: String,
    },
    /// A member's thread could not be bound to its CPU.
    #[error("member {rank}: {reason}")]
    Pin {
        /// Its rank.
        rank: usize,
        /// What the system said.
        reason: PinError,
    },
    /// A member could not join.
    #[error(transparent)]
    Join(#[from] Error),
    /// The members of an earlier run left after different numbers of operations.
    #[error("member {rank} has begun {operations} operations and member 0 {expected}: the group is out of step")]
    OutOfStep {
        /// A member that differs from member 0.
        rank: usize,
        /// The operations it has begun.
        operations: u64,
        /// The operations that member 0 has begun.
        expected: u64,
    },
}

/// What ends a wait on one edge; the operation adds whose edge it was.
#[derive(Debug)]
pub(crate) enum Interrupted {
    /// The group has failed.
    Group(Error),
    /// The neighbour's end is gone.
    Closed,
    /// The neighbour sent another type.
    WrongType,
}

impl From<Closed> for Interrupted {
    fn from(_: Closed) -> Self {
        Self::Closed
    }
}

impl From<WrongType> for Interrupted {
    fn from(_: WrongType) -> Self {
        Self::WrongType
    }
}
