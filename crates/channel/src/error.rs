//! The errors of sending and receiving. A message that could not be sent comes back in the error.
//!
//! | error | what happened | what to do |
//! |---|---|---|
//! | `Closed` | the other end said goodbye | stop |
//! | `Died` | the other end's process died without a goodbye | stop, or wait for its successor |
//! | `TooLarge` | the message exceeds what the channel was made for | split it, or make the channel larger |
//! | `Lagged` | the reader fell behind and messages were overwritten | go on with the oldest one left |
//! | `Corrupt` | another process wrote what the protocol does not allow | stop trusting the region |
//! | `Forked` | the end was inherited by a forked child, which must not use it | attach anew in the child |
//!
//! Ends among the threads of one process fail only with `Closed` (and those for bytes with `TooLarge` and `Lagged`), besides
//! being full, empty or late.

use std::fmt;

/// The other end is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the other end of the channel is closed")]
pub struct Closed;

/// A message that was not sent without waiting.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrySendError<T> {
    /// The receiver has not yet made room.
    #[error("the channel is full")]
    Full(T),
    /// Trying again does not help.
    #[error(transparent)]
    Failed(#[from] SendError<T>),
}

/// A message that was not sent and never will be.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError<T> {
    /// The receiver has left.
    #[error("the receiving end of the channel is closed")]
    Closed(T),
    /// The receiver's process died without a goodbye.
    #[error("the process at the receiving end of the channel died")]
    Died(T),
    /// The message is longer than the channel was made for.
    #[error("a message of {len} bytes is too large for the channel, which takes {max} at most")]
    TooLarge {
        /// The unsent message.
        message: T,
        /// Its length in bytes.
        len: usize,
        /// The longest message that the channel takes, in bytes.
        max: usize,
    },
    /// The memory holds words that no end of this protocol writes.
    #[error("the channel's memory is damaged: {why}")]
    Corrupt {
        /// The unsent message.
        message: T,
        /// The damage that was found.
        why: &'static str,
    },
    /// This process is a forked child of the one that opened the end.
    #[error("the channel was opened before fork: a child has to attach anew")]
    Forked(T),
}

/// A message that was not sent in time.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendTimeoutError<T> {
    /// The receiver made no room in time.
    #[error("the channel stayed full until the deadline")]
    Timeout(T),
    /// Trying again does not help.
    #[error(transparent)]
    Failed(#[from] SendError<T>),
}

/// No message could be received without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TryRecvError {
    /// All messages that were sent have been received.
    #[error("the channel is empty")]
    Empty,
    /// Nothing can be received.
    #[error(transparent)]
    Failed(#[from] RecvError),
}

/// Nothing can be received any more, or messages were missed.
///
/// | receiver of | among threads | in a region |
/// |---|---|---|
/// | [`ump`](crate::ump) | `Closed` | |
/// | [`ump::bytes`](crate::ump::bytes) | `Closed` | `Closed`, `Died`, `Corrupt`, `Forked` |
/// | [`ff`](crate::ff) | `Closed` | `Closed`, `Died`, `Forked`: each word is a message by itself, so none is damaged |
/// | [`mcast`](crate::mcast) | `Closed` | |
/// | [`mcast::bytes`](crate::mcast::bytes) | `Closed`, `Lagged` | `Closed`, `Died`, `Lagged`, `Corrupt`, `Forked` |
///
/// Only readers whose [`Policy`](crate::mcast::Policy) lets senders overtake them get `Lagged`. One type serves all channels
/// because a [`Select`](crate::select::Select) receives from channels of several kinds, in regions or not, and returns the
/// error of any of them; and because a program that moves a channel into a region, or takes another kind, keeps its error
/// handling. A variant that a receiver never returns costs its caller one arm of `_`, which the enum asks for anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecvError {
    /// The sender has left, and everything it sent has been received.
    #[error("the sending end of the channel is closed and the channel is empty")]
    Closed,
    /// The sender's process died without a goodbye, and everything it sent has been received.
    #[error("the process at the sending end of the channel died and the channel is empty")]
    Died,
    /// The reader fell behind. The next call goes on with the oldest message that is left.
    #[error("the reader fell behind and missed {missed} messages")]
    Lagged {
        /// The number of messages it will never see.
        missed: u64,
    },
    /// The memory holds words that no sender of this protocol writes.
    #[error("the channel's memory is damaged: {0}")]
    Corrupt(&'static str),
    /// This process is a forked child of the one that opened the end.
    #[error("the channel was opened before fork: a child has to attach anew")]
    Forked,
}

/// No message came in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecvTimeoutError {
    /// Nothing was sent before the deadline.
    #[error("the channel stayed empty until the deadline")]
    Timeout,
    /// Nothing can be received.
    #[error(transparent)]
    Failed(#[from] RecvError),
}

/// No message was received into a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecvIntoError {
    /// The next message is longer than the buffer. It stays in the channel.
    #[error("a message of {len} bytes does not fit into the buffer")]
    TooShort {
        /// Its length in bytes.
        len: usize,
    },
    /// Nothing can be received.
    #[error(transparent)]
    Failed(#[from] RecvError),
}

impl<T> TrySendError<T> {
    /// The unsent message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) => message,
            Self::Failed(error) => error.into_inner(),
        }
    }
}

impl<T> SendError<T> {
    /// The unsent message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(message) | Self::Died(message) | Self::Forked(message) => message,
            Self::TooLarge { message, .. } | Self::Corrupt { message, .. } => message,
        }
    }

    /// The same error with another message.
    pub(crate) fn replace<U>(self, message: U) -> SendError<U> {
        match self {
            Self::Closed(_) => SendError::Closed(message),
            Self::Died(_) => SendError::Died(message),
            Self::Forked(_) => SendError::Forked(message),
            Self::TooLarge { len, max, .. } => SendError::TooLarge { message, len, max },
            Self::Corrupt { why, .. } => SendError::Corrupt { message, why },
        }
    }

    /// The name of the variant, as the value may not be printable.
    fn name(&self) -> &'static str {
        match self {
            Self::Closed(_) => "Closed(..)",
            Self::Died(_) => "Died(..)",
            Self::TooLarge { .. } => "TooLarge { .. }",
            Self::Corrupt { .. } => "Corrupt { .. }",
            Self::Forked(_) => "Forked(..)",
        }
    }
}

impl<T> SendTimeoutError<T> {
    /// The unsent message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) => message,
            Self::Failed(error) => error.into_inner(),
        }
    }
}

// The error is printable although the unsent value may not be.
impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("Full(..)"),
            Self::Failed(error) => f.write_str(error.name()),
        }
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(_) => f.write_str("Timeout(..)"),
            Self::Failed(error) => f.write_str(error.name()),
        }
    }
}
