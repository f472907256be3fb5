//! A node over messages, as the threads of its process use it.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_base::region::SharedRegion;
use corecast_base::sync::Ordering;
use corecast_lock::{RwLock, RwSpread};

use super::inner::Inner;
use super::status::Status;
use super::wire::Body;
use super::{Messages, Node};
use crate::error::{ExecuteError, ReadError};
use crate::runtime::{Applied, Callers, Checkpoint, CheckpointError, Errand, Errands, Medium, Member, Reply};
use crate::{Command, Index, NodeId, StateMachine};

/// How long leaving waits for the others.
const LEAVE_LIMIT: Duration = Duration::from_secs(2);

impl Medium for Messages {
    type Status = Status;
    type Member<S: StateMachine> = Inner<S>;
}

impl<S: StateMachine> Node<S> {
    /// Waits until the group has taken this node in. False if it has not, and never will.
    pub(super) fn await_membership(&self, until: Instant) -> bool {
        let inner = self.inner();
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
        let inner = self.inner();
        let left = until.saturating_duration_since(Instant::now());
        let is_settled = || (!inner.driver.lock().core.wants_other_voters()).then_some(());
        let _ = inner.wait_for(Some(left), is_settled);
    }
}

impl<S: StateMachine> Member<S> for Inner<S> {
    type Body = Body;
    type Status = Status;

    #[inline]
    fn me(&self) -> NodeId {
        self.id()
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
        let end = self.ending.get().map(|end| end.of_execute(self.id()));
        end.or_else(|| self.is_blocked().then_some(ExecuteError::NoMajority))
    }

    #[inline(always)]
    fn check_state(&self) -> Result<(), ReadError> {
        self.ending.check_state()
    }

    #[inline]
    fn read_error(&self) -> Option<ReadError> {
        let end = self.ending.get().map(|end| end.of_read(self.id()));
        end.or_else(|| self.is_blocked().then_some(ReadError::NoMajority))
    }

    fn body(&self, bytes: &[u8], _limit: Option<Duration>) -> Result<Body, ExecuteError> {
        let most = self.largest;
        if bytes.len() > most { Err(ExecuteError::TooLarge { bytes: bytes.len(), most }) } else { Ok(Arc::from(bytes)) }
    }

    fn status(&self) -> Status {
        Status::of(self, &self.driver.lock())
    }

    fn checkpoint(&self, to: Option<&mut dyn io::Write>, limit: Duration) -> Result<Checkpoint, CheckpointError> {
        self.cut_and_compare(to, limit)
    }

    fn leave(&self) -> Result<(), ExecuteError> {
        self.check_fork()?;
        self.errands.add(Errand::Leave);
        let gone = self.wait_for(Some(LEAVE_LIMIT), || {
            // Not by trying: the thread that wakes this one may have the driver still.
            if self.ending.get().is_some() || self.driver.lock().has_left() {
                return Some(Ok(()));
            }
            self.execute_error().map(Err)
        });
        gone.unwrap_or(Err(ExecuteError::Unknown { rid: 0 }))
    }

    #[inline]
    fn order(&self, command: Command<Body>) -> Option<Reply> {
        match self.try_driver() {
            Some(mut driver) => {
                // Earlier requests of this session may wait among them: its operations are ordered as they were started.
                driver.run_errands(self);
                driver.submit(self, command);
            }
            None => self.errands.add(Errand::Submit(command)),
        }
        None
    }

    #[inline]
    fn turn_of_caller(&self) -> bool {
        let Some(mut driver) = self.try_driver() else { return false };
        driver.is_with_caller = true;
        let was_busy = driver.turn(self);
        driver.is_with_caller = false;
        was_busy
    }

    fn catch_up_with_all(&self, limit: Duration) -> Result<(), ReadError> {
        let number = self.reads.begin();
        let found = self.wait_for(Some(limit), || {
            if self.reads.is_served(number) { Some(Ok(())) } else { self.read_error().map(Err) }
        });
        found.unwrap_or_else(|| Err(ReadError::Unconfirmed { applied: self.applied() }))
    }

    fn stop(&self) {
        // ORDERING: Relaxed, the flag says everything, and the wake-up behind it has a fence
        self.is_stopping.store(true, Ordering::Relaxed);
        self.callers.word().notify();
        self.nap.notify();
    }

    fn has_stopped(&self) {
        // The last errands of callers, such as the end of a session, are sent.
        self.turn();
        self.driver.lock().end(self);
    }
}
