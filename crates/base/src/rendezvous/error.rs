//! What goes wrong with meetings.

use std::io;

use crate::region::{AttachError, BadName};

/// Why a name cannot be hosted or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RendezvousError {
    /// The name breaks a rule.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// Unix sockets have short addresses.
    #[error("{path} is too long for a socket: {bytes} bytes, at most {max}; take a shorter name or directory")]
    PathTooLong {
        /// The path of the socket.
        path: String,
        /// Its length, in bytes.
        bytes: usize,
        /// The most that a socket's address holds, in bytes.
        max: usize,
    },
    /// A living process hosts this name.
    #[error("{0} is hosted by another process")]
    Exists(String),
    /// Nobody hosts this name.
    #[error("nobody hosts {0}")]
    NotFound(String),
    /// The host ended the connection without an answer: this user is not let in, or the host has no room.
    #[error("the host of {0} turned this process away")]
    TurnedAway(String),
    /// The host did not answer in time; it may be stopped.
    #[error("the host of {0} does not answer")]
    TimedOut(String),
    /// The host belongs to another user, or is no host.
    #[error("the host of {what} is not trusted: {why}")]
    NotOurs {
        /// The path of the socket.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// Only memfd regions can be handed over.
    #[error("this region cannot be handed to other processes: {0}")]
    Unshareable(&'static str),
    /// The directory is not to be trusted, or the region is not.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The system refuses something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried on what.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}
