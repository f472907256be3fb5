//! What sending and receiving can fail with. What could not be sent comes back in the error.

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
    /// The receiver is gone.
    #[error("the receiving end of the channel is closed")]
    Closed(T),
}

/// A message that was not sent because the receiver is gone.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the receiving end of the channel is closed")]
pub struct SendError<T>(pub T);

/// A message that was not sent in time.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendTimeoutError<T> {
    /// The receiver made no room in time.
    #[error("the channel stayed full until the deadline")]
    Timeout(T),
    /// The receiver is gone.
    #[error("the receiving end of the channel is closed")]
    Closed(T),
}

/// No message could be had without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TryRecvError {
    /// Nothing has been sent that was not received.
    #[error("the channel is empty")]
    Empty,
    /// The sender is gone, and everything it sent has been received.
    #[error("the sending end of the channel is closed and the channel is empty")]
    Closed,
}

/// The sender is gone, and everything it sent has been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sending end of the channel is closed and the channel is empty")]
pub struct RecvError;

/// No message came in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecvTimeoutError {
    /// Nothing was sent before the deadline.
    #[error("the channel stayed empty until the deadline")]
    Timeout,
    /// The sender is gone, and everything it sent has been received.
    #[error("the sending end of the channel is closed and the channel is empty")]
    Closed,
}

// The unsent value need not be printable for the error to be.
impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}
