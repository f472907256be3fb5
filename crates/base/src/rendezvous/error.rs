//! The error of hosting and finding names.

use std::io;

use crate::region::{AttachError, BadName};

/// The reason why a name cannot be hosted or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RendezvousError {
    /// The name breaks a rule.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// The path is longer than the address of a Unix socket may be.
    #[error("{path} is too long for a socket: {bytes} bytes, at most {max}; take a shorter name or directory")]
    PathTooLong {
        /// The path of the socket.
        path: String,
        /// Its length, in bytes.
        bytes: usize,
        /// The most that a socket's address holds, in bytes.
        max: usize,
    },
    /// Another process hosts this name.
    #[error("{0} is hosted by another process")]
    Exists(String),
    /// Nobody hosts this name.
    #[error("nobody hosts {0}")]
    NotFound(String),
    /// The host ended the connection without an answer: it does not let this user in, or it has no room.
    #[error("the host of {0} turned this process away")]
    TurnedAway(String),
    /// The host did not answer in time; it may be stopped.
    #[error("the host of {0} does not answer")]
    TimedOut(String),
    /// The host belongs to another user, or does not talk as a host does.
    #[error("the host of {what} is not trusted: {why}")]
    NotOurs {
        /// The path of the socket.
        what: String,
        /// The finding and the expectation.
        why: String,
    },
    /// The region is not a memfd; only those can be handed to other processes.
    #[error("this region cannot be handed to other processes: {0}")]
    Unshareable(&'static str),
    /// The directory or the region is not to be trusted.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The system refused a call.
    #[error("cannot {what}: {source}")]
    System {
        /// The call and its object, as in "listen at /run/..".
        what: String,
        /// The system's error.
        source: io::Error,
    },
}
