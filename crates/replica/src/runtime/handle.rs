//! A node, as the threads of its process use it.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::checkpoint::{Checkpoint, CheckpointError};
use super::level::Level;
use super::member::{Medium, Member, SharedMemory};
use super::own_thread::OwnThread;
use super::session::Session;
use crate::error::{ExecuteError, OpenError, ReadError};
use crate::{Index, NodeId, StateMachine};

/// How long a read waits for its replica unless it is told.
const READ_LIMIT: Duration = Duration::from_secs(5);
/// How long opening a session may take.
pub(super) const OPEN_LIMIT: Duration = Duration::from_secs(10);

/// One member of a group: a replica of the state, and the way to change it. A clone is the same node.
///
/// When the last clone and the last [`Session`] are dropped, the node leaves; over messages it is gone
/// as if its process had died.
pub struct Node<S: StateMachine, M: Medium = SharedMemory>(pub(super) Arc<Handle<S, M>>);

/// A node together with its thread: both end with their last user.
pub(crate) struct Handle<S: StateMachine, M: Medium> {
    pub(crate) inner: Arc<M::Member<S>>,
    pub(super) thread: OwnThread,
}

impl<S: StateMachine, M: Medium> Node<S, M> {
    /// Starts the thread of a node, which does this until the node stops.
    pub(crate) fn start(inner: M::Member<S>, name: String, work: fn(&M::Member<S>)) -> Result<Self, OpenError>
    where
        M::Member<S>: 'static,
    {
        let inner = Arc::new(inner);
        let theirs = Arc::clone(&inner);
        let thread = OwnThread::start(name, move || work(&theirs)).map_err(OpenError::Thread)?;
        Ok(Self(Arc::new(Handle { inner, thread })))
    }

    /// The part that its threads share.
    pub(crate) fn inner(&self) -> &Arc<M::Member<S>> {
        &self.0.inner
    }

    /// This incarnation.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.0.inner.me()
    }

    /// Opens a session, waiting for the group for at most 10 s.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Unknown` if the time was up.
    pub fn session(&self) -> Result<Session<S, M>, ExecuteError> {
        self.session_timeout(OPEN_LIMIT)
    }

    /// As [`session`](Self::session), waiting for the group for at most `limit`.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Unknown` if the time was up.
    pub fn session_timeout(&self, limit: Duration) -> Result<Session<S, M>, ExecuteError> {
        self.0.inner.check_fork()?;
        Session::open(&self.0, limit)
    }

    /// Asks the state of this replica, as fresh as `level` says. Returns the answer, and the count of commands that it shows.
    ///
    /// In shared memory `Linearizable` needs no message and no clock: one load of the count that all nodes raise before an effect
    /// can be seen, and waiting only if this replica has not applied as many. Over messages it waits for a barrier in the log,
    /// which costs as many messages as an operation; one barrier serves all reads of this node that began before it was asked
    /// for.
    ///
    /// A replica whose state differed from that of the others, or whose state machine panicked, answers no read of any level.
    ///
    /// # Errors
    /// [`ReadError`]; `Lagging`, or `Unconfirmed` over messages, after 5 s.
    #[inline]
    pub fn read(&self, level: Level, query: &S::Query) -> Result<(S::Answer, Index), ReadError> {
        self.read_timeout(level, query, READ_LIMIT)
    }

    /// As [`read`](Self::read), waiting for at most `limit`.
    ///
    /// # Errors
    /// [`ReadError`].
    #[inline]
    pub fn read_timeout(
        &self,
        level: Level,
        query: &S::Query,
        limit: Duration,
    ) -> Result<(S::Answer, Index), ReadError> {
        self.reach(level, limit)?;
        let state = self.0.inner.state().read();
        self.0.inner.check_state()?;
        Ok((state.machine.query(query), state.count))
    }

    /// Runs `look` on the state of this replica, as fresh as `level` says. Operations wait meanwhile.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_with<R>(&self, level: Level, look: impl FnOnce(&S) -> R) -> Result<(R, Index), ReadError> {
        self.reach(level, READ_LIMIT)?;
        let state = self.0.inner.state().read();
        self.0.inner.check_state()?;
        Ok((look(&state.machine), state.count))
    }

    /// Waits until this replica is as fresh as `level` says.
    ///
    /// # Errors
    /// [`ReadError`].
    #[inline]
    pub fn catch_up(&self, level: Level, limit: Duration) -> Result<(), ReadError> {
        self.reach(level, limit)?;
        self.0.inner.check_state()
    }

    #[inline]
    fn reach(&self, level: Level, limit: Duration) -> Result<(), ReadError> {
        let inner = &self.0.inner;
        inner.check_fork()?;
        match level {
            Level::Linearizable => inner.catch_up_with_all(limit),
            Level::AtLeast(index) if inner.applied() <= index => inner.catch_up_with(index.saturating_add(1), limit),
            Level::AtLeast(_) | Level::Local => Ok(()),
        }
    }

    /// How the node and its group are: a [`Status`](crate::Status), or a `net::Status` over messages.
    #[must_use]
    pub fn status(&self) -> M::Status {
        self.0.inner.status()
    }

    /// Writes the state of this replica at one place of the log, and compares its digest with those of the other members there.
    /// Members whose digest is not that of most are put out.
    ///
    /// # Errors
    /// [`CheckpointError`]; `Unknown` if the cut was not reached within `limit`.
    pub fn checkpoint(&self, to: &mut dyn io::Write, limit: Duration) -> Result<Checkpoint, CheckpointError> {
        self.0.inner.checkpoint(Some(to), limit)
    }

    /// As [`checkpoint`](Self::checkpoint), but writes no state: only digests are compared, which takes as long as
    /// [`digest`](StateMachine::digest) does.
    ///
    /// # Errors
    /// [`CheckpointError::Cut`]; `Unknown` if the cut was not reached within `limit`.
    pub fn compare(&self, limit: Duration) -> Result<Checkpoint, CheckpointError> {
        self.0.inner.checkpoint(None, limit)
    }

    /// Leaves the group, hands over the roles of this node, and waits until the others know. Sessions of this node end.
    ///
    /// # Errors
    /// [`ExecuteError::Unknown`] if the others did not take note in time: they will find the node dead.
    /// [`ExecuteError::NoMajority`] over messages if they cannot.
    pub fn leave(self) -> Result<(), ExecuteError> {
        self.0.inner.leave()
    }
}

impl<S: StateMachine, M: Medium> Clone for Node<S, M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: StateMachine, M: Medium> fmt::Debug for Node<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({:?})", self.0.inner)
    }
}

impl<S: StateMachine, M: Medium> Drop for Handle<S, M> {
    fn drop(&mut self) {
        let inner = &self.inner;
        if inner.check_fork().is_err() {
            return;
        }
        inner.stop();
        self.thread.join();
        inner.has_stopped();
    }
}
