//! Errors of an acknowledged broadcast.

use crate::error::Error;

/// Why a call of an acknowledged broadcast failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AckError {
    /// The group has failed, or there is no such root.
    #[error(transparent)]
    Group(#[from] Error),
    /// The arity is out of range.
    #[error("the arity of an acknowledged broadcast is 1 to {}, not {arity}", corecast_plan::diamond::MAX_NODES)]
    Arity {
        /// The number asked for.
        arity: usize,
    },
    /// The window is out of range.
    #[error("the window of an acknowledged broadcast is 1 to {} events, not {window}", super::limits::MAX_WINDOW)]
    Window {
        /// The number asked for.
        window: usize,
    },
    /// A companion was asked for in a tree.
    #[error("only rings have a companion, a tree has none")]
    CompanionOfTree,
    /// An event is too large.
    #[error("an event has at most {} bytes, not {bytes}", super::limits::MAX_EVENT_BYTES)]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The root called `ack_follower`, or another member `ack_root`.
    #[error("member {rank} took the other part: the root is member {root}")]
    WrongPart {
        /// The caller.
        rank: usize,
        /// The root of its configuration.
        root: usize,
    },
    /// Some members gave another configuration, another type of events, or settings that are refused. The group has not
    /// failed.
    #[error("the members do not agree on the acknowledged broadcast's configuration or type of events")]
    Disagreement,
    /// The window is full of events on their way.
    #[error("{window} events are on their way, as many as the window holds")]
    WindowFull {
        /// Their number.
        window: usize,
    },
    /// Not all members have acknowledged in time. The event stays published.
    #[error("only events up to {acked} are acknowledged by all members")]
    Timeout {
        /// The last event that all have acknowledged.
        acked: u64,
    },
    /// A count in shared memory has a value that no member writes.
    #[error("a count in the broadcast's memory is {found}, where at most {most} is possible")]
    Corrupt {
        /// The count.
        found: u64,
        /// The largest value that the protocol allows.
        most: u64,
    },
}
