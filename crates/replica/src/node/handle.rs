//! A node in shared memory, as the threads of its process use it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use corecast_base::region::SharedRegion;
use corecast_base::sync::Ordering;
use corecast_lock::{RwLock, RwSpread};

use super::inner::Inner;
use super::status::Status;
use crate::error::{ExecuteError, OpenError, ReadError};
use crate::runtime::{
    Applied, Callers, Checkpoint, CheckpointError, Errand, Errands, Medium, Member, Node, Reply, SharedMemory,
};
use crate::segment::{Body, BulkError};
use crate::{Command, Index, NodeId, StateMachine};

/// How long leaving waits for the others.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

impl Medium for SharedMemory {
    type Status = Status;
    type Member<S: StateMachine> = Inner<S>;
}

impl<S: StateMachine> Node<S> {
    /// A descriptor for another process, or another thread, to [attach](crate::Replicated::attach_fd) to the group.
    ///
    /// # Errors
    /// [`std::io::Error`] if there is no /proc.
    pub fn share(&self) -> io::Result<OwnedFd> {
        self.inner().region.share()
    }

    /// Runs `f` with the driver of this node.
    #[cfg(test)]
    pub(super) fn with_driver<R>(&self, f: impl FnOnce(&mut super::driver::Driver<S>) -> R) -> R {
        f(&mut self.inner().driver.lock())
    }

    /// Waits until the group has taken this node in.
    pub(super) fn await_membership(&self, until: Instant, limit: Duration) -> Result<(), OpenError> {
        let inner = self.inner();
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
}

impl<S: StateMachine> Member<S> for Inner<S> {
    type Body = Body;
    type Status = Status;

    #[inline]
    fn me(&self) -> NodeId {
        // ORDERING: Relaxed, the word says everything
        NodeId::from_bits(self.me.load(Ordering::Relaxed)).expect("it was made of a node")
    }

    #[inline(always)]
    fn region(&self) -> &SharedRegion {
        &self.region
    }

    #[inline]
    fn state(&self) -> &RwLock<Applied<S>, RwSpread> {
        &self.state
    }

    #[inline]
    fn applied(&self) -> Index {
        self.applied.get()
    }

    #[inline]
    fn callers(&self) -> &Callers {
        &self.callers
    }

    #[inline]
    fn errands(&self) -> &Errands<Errand<Body>> {
        &self.errands
    }

    #[inline]
    fn next_session(&self) -> u64 {
        // ORDERING: Relaxed, each session gets a number of its own
        self.next_session.fetch_add(1, Ordering::Relaxed)
    }

    #[inline]
    fn execute_error(&self) -> Option<ExecuteError> {
        self.ending.get().map(|end| end.of_execute(self.me()))
    }

    #[inline(always)]
    fn check_state(&self) -> Result<(), ReadError> {
        self.ending.check_state()
    }

    #[inline]
    fn read_error(&self) -> Option<ReadError> {
        self.ending.get().map(|end| end.of_read(self.me()))
    }

    /// In the slot, or in the arena of this node as soon as there is room.
    fn body(&self, bytes: &[u8], limit: Option<Duration>) -> Result<Body, ExecuteError> {
        if let Some(body) = Body::inline(bytes) {
            return Ok(body);
        }
        let write = || match self.driver.lock().write_body(bytes) {
            Err(BulkError::Full) => self.execute_error().map(Err),
            Err(_) => Some(Err(ExecuteError::TooLarge { bytes: bytes.len(), most: self.largest_body })),
            Ok(body) => Some(Ok(body)),
        };
        let written = self.wait_for(limit, write);
        written.unwrap_or_else(|| {
            self.driver.lock().room.is_wanted = false;
            Err(ExecuteError::NoRoom)
        })
    }

    fn status(&self) -> Status {
        Status::of(self, &self.driver.lock())
    }

    fn checkpoint(&self, to: Option<&mut dyn io::Write>, limit: Duration) -> Result<Checkpoint, CheckpointError> {
        self.cut_and_compare(to, limit)
    }

    /// Asks to be let go, and waits for it, unless this is the last member.
    fn leave(&self) -> Result<(), ExecuteError> {
        self.check_fork()?;
        if self.ending.get().is_some() {
            return Ok(());
        }
        self.errands.add(Errand::Leave);
        let gone = self.wait_for(Some(LEAVE_LIMIT), || {
            // Not by trying: the thread that wakes this one may have the driver still.
            let is_over = self.ending.get().is_some() || self.driver.lock().has_left();
            is_over.then_some(())
        });
        gone.ok_or(ExecuteError::Unknown { rid: 0 })
    }

    #[inline]
    fn order(&self, command: Command<Body>) -> Option<Reply> {
        let Some(mut driver) = self.try_driver() else {
            self.errands.add(Errand::Submit(command));
            return None;
        };
        // Earlier requests of this session may wait among them: its operations are ordered as they were started.
        driver.run_errands(self);
        driver.submit_for_caller(self, command)
    }

    #[inline]
    fn turn_of_caller(&self) -> bool {
        let Some(mut driver) = self.try_driver() else { return false };
        driver.is_with_caller = true;
        let was_busy = driver.turn(self);
        driver.is_with_caller = false;
        was_busy
    }

    #[inline]
    fn catch_up_with_all(&self, limit: Duration) -> Result<(), ReadError> {
        let wanted = self.control.visible();
        if self.applied() >= wanted { Ok(()) } else { self.catch_up_with(wanted, limit) }
    }

    fn stop(&self) {
        // Others find it dead if it cannot say goodbye.
        let _ = self.leave();
        // ORDERING: Relaxed, the flag says everything, and the wake-up behind it has a fence
        self.is_stopping.store(true, Ordering::Relaxed);
        self.callers.word().notify();
        self.nap.notify();
    }

    fn has_stopped(&self) {}
}
