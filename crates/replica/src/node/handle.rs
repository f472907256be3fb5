//! A node, as the threads of its process use it.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use corecast_base::region::SharedRegion;
use corecast_base::rendezvous::HostedRegion;
use corecast_base::sync::Ordering;

use super::inner::Inner;
use super::session::Session;
use super::status::Status;
use crate::error::{ExecuteError, ForkedNode, OpenError, ReadError};
use crate::runtime::{Checkpoint, CheckpointError, Errand, Level};
use crate::{Index, NodeId, StateMachine};

/// How long a read waits for its replica unless it is told.
const READ_LIMIT: Duration = Duration::from_secs(5);
/// How long opening a session may take.
const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// How long leaving waits for the others.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

/// One member of a group: a replica of the state, and the way to change it. A clone is the same node.
///
/// The node leaves when the last clone and the last [`Session`] are dropped.
pub struct Node<S: StateMachine>(Arc<Handle<S>>);

/// A node together with its thread: both end with their last user.
pub(super) struct Handle<S: StateMachine> {
    pub(super) inner: Arc<Inner<S>>,
    pub(super) region: SharedRegion,
    /// Keeps the group's name as long as the node.
    pub(super) _hosted: Option<HostedRegion>,
    pub(super) thread: Mutex<Option<JoinHandle<()>>>,
}

impl<S: StateMachine> Node<S> {
    pub(super) fn new(handle: Handle<S>) -> Self {
        Self(Arc::new(handle))
    }

    /// This incarnation.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.0.inner.me()
    }

    /// A descriptor for another process, or another thread, to [attach](crate::Replicated::attach_fd) to the group.
    ///
    /// # Errors
    /// [`std::io::Error`] if there is no /proc.
    pub fn share(&self) -> std::io::Result<OwnedFd> {
        self.0.region.share()
    }

    /// Opens a session.
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub fn session(&self) -> Result<Session<S>, ExecuteError> {
        self.0.inner.check_fork().map_err(|_| ForkedNode)?;
        Session::open(&self.0, OPEN_LIMIT)
    }

    /// Asks the state of this replica, as fresh as `level` says. Returns the answer, and the count of commands that it shows.
    ///
    /// `Linearizable` needs no message and no clock: one load of the count that all nodes raise before an effect can be seen,
    /// and waiting only if this replica has not applied as many.
    ///
    /// # Errors
    /// [`ReadError`]; `Lagging` if the replica does not catch up within 5 s.
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
    #[inline]
    pub fn catch_up(&self, level: Level, limit: Duration) -> Result<(), ReadError> {
        let inner = &self.0.inner;
        inner.check_fork().map_err(|_| ForkedNode)?;
        let wanted = match level {
            Level::Linearizable => inner.control.visible(),
            Level::AtLeast(index) => index.saturating_add(1),
            Level::Local => return Ok(()),
        };
        if inner.applied() >= wanted { Ok(()) } else { self.wait_until(wanted, limit) }
    }

    #[cold]
    fn wait_until(&self, wanted: Index, limit: Duration) -> Result<(), ReadError> {
        let inner = &self.0.inner;
        let found = inner.wait_for(Some(limit), || {
            let is_there = inner.applied() >= wanted;
            if is_there { Some(Ok(())) } else { inner.ending.get().map(|end| Err(end.of_read(inner.me()))) }
        });
        found.unwrap_or_else(|| Err(ReadError::Lagging { applied: inner.applied(), wanted }))
    }

    /// Runs `f` with the driver of this node.
    #[cfg(test)]
    pub(super) fn with_driver<R>(&self, f: impl FnOnce(&mut super::driver::Driver<S>) -> R) -> R {
        f(&mut self.0.inner.driver.lock())
    }

    /// Waits until the group has taken this node in.
    pub(super) fn await_membership(&self, until: Instant, limit: Duration) -> Result<(), OpenError> {
        let inner = &self.0.inner;
        let left = until.saturating_duration_since(Instant::now());
        let is_member = || {
            // Not by trying: the thread that wakes this one may have the driver still.
            let mut driver = inner.driver.lock();
            if inner.ending.get().is_some() || driver.is_member() {
                return Some(());
            }
            driver.ask_to_join_now_and_then(inner);
            None
        };
        inner.wait_for(Some(left), is_member).ok_or(OpenError::NotTakenIn(limit))
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

    /// Leaves the group, and waits until the others know. Sessions of this node end.
    ///
    /// # Errors
    /// [`ExecuteError::Unknown`] if the others did not take note in time: they will find the node dead.
    pub fn leave(self) -> Result<(), ExecuteError> {
        self.0.leave()
    }
}

impl<S: StateMachine> Handle<S> {
    /// Asks to be let go, and waits for it, unless this is the last member.
    fn leave(&self) -> Result<(), ExecuteError> {
        let inner = &self.inner;
        inner.check_fork().map_err(|_| ForkedNode)?;
        if inner.ending.get().is_some() {
            return Ok(());
        }
        inner.errands.add(Errand::Leave);
        let gone = inner.wait_for(Some(LEAVE_LIMIT), || {
            // Not by trying: the thread that wakes this one may have the driver still.
            let is_over = inner.ending.get().is_some() || inner.driver.lock().has_left();
            is_over.then_some(())
        });
        gone.ok_or(ExecuteError::Unknown { rid: 0 })
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
        // Others find it dead if it cannot say goodbye.
        let _ = self.leave();
        // ORDERING: Relaxed, the flag says everything, and the wake-up behind it has a fence
        inner.is_stopping.store(true, Ordering::Relaxed);
        inner.callers.word().notify();
        inner.nap.notify();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}
