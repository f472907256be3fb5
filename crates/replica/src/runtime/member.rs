//! The part of a node that its threads share, as sessions and handles use it, whatever reaches the other nodes.

use std::fmt;
use std::io;
use std::time::Duration;

use corecast_base::region::SharedRegion;
use corecast_lock::{RwLock, RwSpread};

use super::admission::Errand;
use super::callers::Callers;
use super::checkpoint::{Checkpoint, CheckpointError};
use super::errands::Errands;
use super::reply::Reply;
use crate::error::{ExecuteError, ForkedNode, ReadError};
use crate::{Command, Index, NodeId, StateMachine};

/// The way in which the nodes of a group reach each other: [`SharedMemory`] or `net::Messages`. It is a part of the types of
/// nodes and sessions.
pub trait Medium: Sized + 'static {
    /// How a node and its group are.
    type Status;
    /// The part of a node that its threads share.
    #[doc(hidden)]
    type Member<S: StateMachine>: Member<S, Status = Self::Status>;
}

/// The nodes share memory: the medium of [`Replicated`](crate::Replicated).
#[derive(Debug, Clone, Copy)]
pub enum SharedMemory {}

/// The state machine, and the count of commands it has applied.
#[derive(Debug)]
pub struct Applied<S> {
    /// The state machine.
    pub machine: S,
    /// The count.
    pub count: Index,
}

/// A node, as its sessions and handles use it.
pub trait Member<S>: fmt::Debug + Send + Sync + Sized {
    /// The content of an operation.
    type Body: Clone + Send + Sync;
    /// How a node and its group are.
    type Status;

    /// This incarnation.
    fn me(&self) -> NodeId;

    /// The region by which the node notices that it is a forked child.
    fn region(&self) -> &SharedRegion;

    /// The state, and the count that it shows.
    fn state(&self) -> &RwLock<Applied<S>, RwSpread>;

    /// The count of commands applied here.
    fn applied(&self) -> Index;

    /// The threads that wait.
    fn callers(&self) -> &Callers;

    /// Errands of the node's threads for the one that drives it.
    fn errands(&self) -> &Errands<Errand<Self::Body>>;

    /// The number of the next session.
    fn next_session(&self) -> u64;

    /// The reason why it orders no more operations, if it does not.
    fn execute_error(&self) -> Option<ExecuteError>;

    /// The reason why it answers no more reads, if it does not.
    fn read_error(&self) -> Option<ReadError>;

    /// Whether the state may be seen: to be asked behind its lock.
    ///
    /// # Errors
    /// [`ReadError::Diverged`], [`ReadError::Panicked`], [`ReadError::Poisoned`].
    fn check_state(&self) -> Result<(), ReadError>;

    /// The bytes of an operation, where the node that orders it finds them, once there is room.
    fn body(&self, bytes: &[u8], limit: Option<Duration>) -> Result<Self::Body, ExecuteError>;

    /// See [`Node::status`](super::Node::status).
    fn status(&self) -> Self::Status;

    /// See [`Node::checkpoint`](super::Node::checkpoint).
    fn checkpoint(&self, to: Option<&mut dyn io::Write>, limit: Duration) -> Result<Checkpoint, CheckpointError>;

    /// See [`Node::leave`](super::Node::leave).
    fn leave(&self) -> Result<(), ExecuteError>;

    /// Has a request ordered: at once, or by the thread that drives. Its result, if it has come at once; the session's mailbox
    /// does not get it then.
    fn order(&self, command: Command<Self::Body>) -> Option<Reply>;

    /// Does what there is to do, by a thread that is counted among those that wait. True if something was done.
    fn turn_of_caller(&self) -> bool;

    /// Waits until this replica shows all that any client has seen the result of.
    fn catch_up_with_all(&self, limit: Duration) -> Result<(), ReadError>;

    /// The last handle goes: the node's thread is to end, and is waited for between the two.
    fn stop(&self);

    /// See [`stop`](Self::stop).
    fn has_stopped(&self);

    /// # Errors
    /// [`ForkedNode`] in a forked child.
    #[inline(always)]
    fn check_fork(&self) -> Result<(), ForkedNode> {
        self.region().check_fork().map_err(|_| ForkedNode)
    }

    /// Waits until `found` says something, and drives the node meanwhile. `None` when the time is up.
    #[inline]
    fn wait_for<T>(&self, limit: Option<Duration>, found: impl FnMut() -> Option<T>) -> Option<T> {
        self.callers().wait_for(limit, found, || self.turn_of_caller())
    }

    /// Waits until this many commands are applied here.
    #[cold]
    fn catch_up_with(&self, wanted: Index, limit: Duration) -> Result<(), ReadError> {
        let found = self
            .wait_for(Some(limit), || if self.applied() >= wanted { Some(Ok(())) } else { self.read_error().map(Err) });
        found.unwrap_or_else(|| Err(ReadError::Lagging { applied: self.applied(), wanted }))
    }
}
