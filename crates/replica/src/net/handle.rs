//! A node as its users have it: sessions, reads, its status, leaving.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use corecast_base::sync::Ordering;

use super::inner::Inner;
use super::session::Session;
use super::status::Status;
use crate::error::{ExecuteError, ReadError};
use crate::runtime::{Checkpoint, CheckpointError, Errand, Level};
use crate::{Index, NodeId, StateMachine};

/// How long a read waits unless it is told.
const READ_LIMIT: Duration = Duration::from_secs(5);
/// How long opening a session may take.
const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// How long leaving waits for the others.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

/// One member of a group: a replica of the state, and the way to change it. A clone is the same node.
///
/// When the last clone and the last [`Session`] are dropped the node is gone, as if its process had died: the others go on
/// after they have taken over its roles. [`leave`](Self::leave) hands the roles over before.
pub struct Node<S: StateMachine>(Arc<Handle<S>>);

/// A node together with its thread: both end with their last user.
pub(super) struct Handle<S: StateMachine> {
    pub(super) inner: Arc<Inner<S>>,
    pub(super) thread: Mutex<Option<JoinHandle<()>>>,
}

impl<S: StateMachine> Node<S> {
    pub(super) fn new(handle: Handle<S>) -> Self {
        Self(Arc::new(handle))
    }

    /// This node.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.0.inner.me
    }

    /// Opens a session.
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub fn session(&self) -> Result<Session<S>, ExecuteError> {
        self.0.inner.check_fork()?;
        Session::open(&self.0, OPEN_LIMIT)
    }

    /// Asks the state of this replica, as fresh as `level` says. Returns the answer, and the count of commands that it shows.
    ///
    /// `Linearizable` waits for a barrier in the log, which costs as many messages as an operation; one barrier serves all
    /// reads of this node that began before it was asked for.
    ///
    /// # Errors
    /// [`ReadError`]; `Unconfirmed` or `Lagging` after 5 s.
    pub fn read(&self, level: Level, query: &S::Query) -> Result<(S::Answer, Index), ReadError> {
        self.read_timeout(level, query, READ_LIMIT)
    }

    /// As [`read`](Self::read), waiting for at most `limit`.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_timeout(
        &self,
        level: Level,
        query: &S::Query,
        limit: Duration,
    ) -> Result<(S::Answer, Index), ReadError> {
        self.catch_up(level, limit)?;
        let state = self.0.inner.state.read();
        Ok((state.machine.query(query), state.count))
    }

    /// Runs `look` on the state of this replica, as fresh as `level` says. Operations wait meanwhile.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_with<R>(&self, level: Level, look: impl FnOnce(&S) -> R) -> Result<(R, Index), ReadError> {
        self.catch_up(level, READ_LIMIT)?;
        let state = self.0.inner.state.read();
        Ok((look(&state.machine), state.count))
    }

    /// Waits until this replica is as fresh as `level` says.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn catch_up(&self, level: Level, limit: Duration) -> Result<(), ReadError> {
        let inner = &self.0.inner;
        inner.check_fork()?;
        match level {
            Level::Local => Ok(()),
            Level::AtLeast(index) => {
                let wanted = index.saturating_add(1);
                self.wait_until(limit, || inner.applied() >= wanted)
                    .unwrap_or_else(|| Err(ReadError::Lagging { applied: inner.applied(), wanted }))
            }
            Level::Linearizable => {
                let number = inner.reads.begin();
                self.wait_until(limit, || inner.reads.is_served(number))
                    .unwrap_or_else(|| Err(ReadError::Unconfirmed { applied: inner.applied() }))
            }
        }
    }

    /// Waits until it is so; `None` if the time was up.
    fn wait_until(&self, limit: Duration, is_so: impl Fn() -> bool) -> Option<Result<(), ReadError>> {
        let inner = &self.0.inner;
        inner.wait_for(Some(limit), || if is_so() { Some(Ok(())) } else { inner.read_error().map(Err) })
    }

    /// The reason why it does no more.
    pub(super) fn execute_error(&self) -> Option<ExecuteError> {
        self.0.inner.execute_error()
    }

    /// Waits until the group has taken this node in. False if it has not, and never will.
    pub(super) fn await_membership(&self, until: Instant) -> bool {
        let inner = &self.0.inner;
        let left = until.saturating_duration_since(Instant::now());
        let is_member = || {
            // Not by trying: the thread that wakes this one may have the driver still.
            let mut driver = inner.driver.lock();
            if inner.ending.get().is_some() {
                return Some(false);
            }
            driver.ask_to_join(inner);
            driver.is_member().then_some(true)
        };
        inner.wait_for(Some(left), is_member).unwrap_or(false)
    }

    /// Waits until then for the group to vote as it does with this node in it. Who restarts nodes one after another would else
    /// take the next one away while the group counts on the vote of the one before.
    pub(super) fn await_votes(&self, until: Instant) {
        let inner = &self.0.inner;
        let left = until.saturating_duration_since(Instant::now());
        let is_settled = || (!inner.driver.lock().core.wants_other_voters()).then_some(());
        let _ = inner.wait_for(Some(left), is_settled);
    }

    /// How the node and its group are.
    #[must_use]
    pub fn status(&self) -> Status {
        let inner = &self.0.inner;
        let driver = inner.driver.lock();
        Status::of(inner, &driver)
    }

    /// Writes the state of this replica at one place of the log, and compares its digest with those of the other members there.
    /// Members whose digest is not that of most are put out.
    ///
    /// # Errors
    /// [`CheckpointError`]; `Unknown` if the cut was not reached within `limit`.
    pub fn checkpoint(&self, to: &mut dyn io::Write, limit: Duration) -> Result<Checkpoint, CheckpointError> {
        self.0.checkpoint(to, limit)
    }

    /// Hands over the roles of this node, leaves the group, and waits until the others know. Sessions of this node
    /// end.
    ///
    /// # Errors
    /// [`ExecuteError::Unknown`] if the others did not take note in time: they will find the node dead.
    /// [`ExecuteError::NoMajority`] if they cannot.
    pub fn leave(self) -> Result<(), ExecuteError> {
        let inner = &self.0.inner;
        inner.check_fork()?;
        inner.errands.add(Errand::Leave);
        let gone = inner.wait_for(Some(LEAVE_LIMIT), || {
            // Not by trying: the thread that wakes this one may have the driver still.
            if inner.ending.get().is_some() || inner.driver.lock().has_left() {
                return Some(Ok(()));
            }
            inner.execute_error().map(Err)
        });
        gone.unwrap_or(Err(ExecuteError::Unknown { rid: 0 }))
    }
}

impl<S: StateMachine> Clone for Node<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: StateMachine> fmt::Debug for Node<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({:?})", self.0.inner)
    }
}

impl<S: StateMachine> Drop for Handle<S> {
    fn drop(&mut self) {
        let inner = &self.inner;
        if inner.check_fork().is_err() {
            return;
        }
        // ORDERING: Relaxed, the flag says everything, and the wake-up behind it has a fence
        inner.is_stopping.store(true, Ordering::Relaxed);
        inner.callers.word().notify();
        inner.nap.notify();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
        // The last errands of callers, such as the end of a session, are sent.
        inner.turn();
        inner.driver.lock().end(inner);
    }
}
