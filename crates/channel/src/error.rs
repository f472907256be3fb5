//! What sending and receiving can fail with. What could not be sent comes back in the error.
//!
//! | error | what happened | what to do |
//! |---|---|---|
//! | `Closed` | the other end said goodbye | stop |
//! | `Died` | the other end's process is gone and said nothing | stop, or wait for its successor |
//! | `TooLarge` | the message exceeds what the channel was made for | split it, or make the channel larger |
//! | `Lagged` | the reader fell behind and messages were overwritten | go on with the oldest one left |
//! | `Corrupt` | another process wrote what the protocol does not allow | stop trusting the region |
//! | `Forked` | the end was inherited by a forked child, which must not use it | attach anew in the child |
//!
//! Ends among the threads of one process fail with `Closed` only, besides being full, empty or late.

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
    /// The receiver's process is gone and did not say goodbye.
    #[error("the process at the receiving end of the channel died")]
    Died(T),
    /// No room of the channel is large enough.
    #[error("a message of {len} bytes is too large for the channel, which takes {max} at most")]
    TooLarge {
        /// What was not sent.
        message: T,
        /// Its length in bytes.
        len: usize,
        /// The longest message that the channel takes, in bytes.
        max: usize,
    },
    /// The memory holds what no end of this protocol writes.
    #[error("the channel's memory holds what the protocol does not allow: {why}")]
    Corrupt {
        /// What was not sent.
        message: T,
        /// What was found.
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

/// No message could be had without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TryRecvError {
    /// Nothing has been sent that was not received.
    #[error("the channel is empty")]
    Empty,
    /// Something else than that nothing is there.
    #[error(transparent)]
    Failed(#[from] RecvError),
}

/// No message can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecvError {
    /// The sender has left, and everything it sent has been received.
    #[error("the sending end of the channel is closed and the channel is empty")]
    Closed,
    /// The sender's process is gone without a goodbye, and everything it sent has been received.
    #[error("the process at the sending end of the channel died and the channel is empty")]
    Died,
    /// The reader fell behind. The next call goes on with the oldest message that is left.
    #[error("the reader fell behind and missed {missed} messages")]
    Lagged {
        /// How many messages it will never see.
        missed: u64,
    },
    /// The memory holds what no sender of this protocol writes.
    #[error("the channel's memory holds what the protocol does not allow: {0}")]
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
    /// Something else than that nothing came.
    #[error(transparent)]
    Failed(#[from] RecvError),
}

/// No message was received into a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecvIntoError {
    /// The next message is longer than the buffer. It stays where it is.
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
    /// What was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) => message,
            Self::Failed(error) => error.into_inner(),
        }
    }
}

impl<T> SendError<T> {
    /// What was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Closed(message) | Self::Died(message) | Self::Forked(message) => message,
            Self::TooLarge { message, .. } | Self::Corrupt { message, .. } => message,
        }
    }

    /// The same about another message.
    pub(crate) fn replace<U>(self, message: U) -> SendError<U> {
        match self {
            Self::Closed(_) => SendError::Closed(message),
            Self::Died(_) => SendError::Died(message),
            Self::Forked(_) => SendError::Forked(message),
            Self::TooLarge { len, max, .. } => SendError::TooLarge { message, len, max },
            Self::Corrupt { why, .. } => SendError::Corrupt { message, why },
        }
    }

    /// The name of the variant, as the value need not be printable.
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
    /// What was not sent.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) => message,
            Self::Failed(error) => error.into_inner(),
        }
    }
}

// The unsent value need not be printable for the error to be.
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
