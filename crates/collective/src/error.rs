//! Errors of building a group and of calling its operations.

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
    /// No CPUs were given, or some that the machine does not have.
    #[error(transparent)]
    Cpus(#[from] ProblemError),
    /// No member, or more than [`MAX_MEMBERS`](crate::MAX_MEMBERS).
    #[error("a group has 1 to {} members, not {members}", crate::MAX_MEMBERS)]
    Members {
        /// The number asked for.
        members: usize,
    },
    /// A part was to contain a rank that the group does not have.
    #[error("rank {rank} is outside a group of {members} members")]
    BadRank {
        /// The rank.
        rank: usize,
        /// Members of the group.
        members: usize,
    },
    /// A part was to contain a member twice.
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
    /// It called other operations than its peers, too long ago for the logs to tell which.
    OutOfStep,
    /// It was told that the group, which spans several nodes, has failed at another one: see `nodes`.
    Elsewhere,
}

/// By their codes, from 1.
pub(crate) const LOSSES: [Loss; 7] =
    [Loss::Panicked, Loss::Left, Loss::Mismatched, Loss::Died, Loss::OtherLength, Loss::OutOfStep, Loss::Elsewhere];

impl Loss {
    /// Its number in words between members; never 0.
    pub(crate) fn code(self) -> u32 {
        1 + LOSSES.iter().position(|&known| known == self).expect("LOSSES names every loss") as u32
    }

    /// The loss in a word that any process may have written.
    pub(crate) fn of_code(code: u32) -> Option<Self> {
        LOSSES.get((code as usize).checked_sub(1)?).copied()
    }
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
            Self::Elsewhere => "was told that the group has failed at another node",
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
        /// How it was lost.
        loss: Loss,
    },
    /// Members called different operations, or the same one with different roots. All members have to call the same
    /// operations in the same order, and all of them get this error. Results of earlier operations are right; the values
    /// passed to the failed one may have been changed.
    #[error("member {rank} called {called} where member {other} called {expected}")]
    Mismatched {
        /// The member whose call differs. Of the two, it is the one that fewer members agree with, among the members that
        /// had called by then; in a tie, the one of the higher rank.
        rank: usize,
        /// The call it made.
        called: Call,
        /// A member that called something else.
        other: usize,
        /// The call that the other member made.
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
    /// The group's memory has no room left for this operation. The founder of a group of processes sets its size:
    /// [`Builder::room_bytes`](crate::Builder::room_bytes).
    #[error(transparent)]
    Memory(#[from] ArenaError),
    /// This process is a forked child of the member: the group is its parent's.
    #[error("this process is a forked child of the one that joined the group")]
    Forked,
    /// The group's memory holds values that no member writes.
    #[error("the memory of the group is damaged")]
    Corrupt,
    /// The time given to the operation has passed. The steps this member has completed stay completed, so it may only
    /// finish the operation ([`Started`](crate::Started)) or leave, which makes the group fail.
    #[error("the operation did not end in time: {missing}")]
    Timeout {
        /// The members that have not begun it.
        missing: Missing,
    },
    /// Only a group that has failed can be shrunk, and this one has not.
    #[error("the group has not failed, so there is nothing to shrink it for")]
    NotFailed,
    /// This member has begun an operation and not finished it.
    #[error("an operation that this member has begun is not finished")]
    Pending,
    /// The root passed a number of values to scatter that differs from the number of members, or a member has room for another
    /// number of values than all members bring. Nothing was sent.
    #[error("{values} values are no part for each of {members} members")]
    WrongCount {
        /// The values given; 0 if none were.
        values: usize,
        /// The size of the group.
        members: usize,
    },
    /// The slice has more values than the commit was opened for. No participant has heard of it.
    #[error("a proposal of {values} values, where its members agreed on at most {most}")]
    TooLong {
        /// The values of the proposal.
        values: usize,
        /// The most that the coordinator opened the commit for.
        most: usize,
    },
    /// The value does not fit in one message, so no limit can be set on the wait for it.
    #[error("a value of {bytes} bytes cannot be waited for with a limit, which takes at most {most}")]
    TooLarge {
        /// The size of the value.
        bytes: usize,
        /// The largest size that a wait with a limit accepts.
        most: usize,
    },
}

/// Why [`Group::run`](crate::Group::run) returned no results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The first member that panicked, and its message.
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
        /// The system's reason.
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

/// The event that ends a wait on one edge; the operation adds the member at its other end.
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
