//! The part of a node that its threads share.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::region::SharedRegion;
use corecast_base::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use corecast_base::wait::{LONGEST_SLEEP, Wait, WakeWord};
use corecast_lock::{RwLock, RwSpread};

use super::driver::Driver;
use super::reads::Reads;
use super::table::NodeTable;
use super::wire::Body;
use crate::error::{ExecuteError, ForkedNode, ReadError};
use crate::node::{End, Ending, Mailbox, Waiters};
use crate::{Command, Index, NodeId, SessionId, StateMachine};

/// The state machine, and the count of commands it has applied.
#[derive(Debug)]
pub(super) struct Applied<S> {
    pub(super) machine: S,
    pub(super) count: Index,
}

/// The driver, held by one thread.
pub(super) type DriverGuard<'a, S> = corecast_lock::MutexGuard<'a, Driver<S>>;

/// A thing that a thread of this node wants the driver to do.
#[derive(Debug)]
pub(super) enum Errand {
    /// Order this request; its result goes to the mailbox.
    Submit(Command<Body>),
    /// Results of this session go to this mailbox from now on.
    Open(SessionId, Arc<Mailbox>),
    /// No more results are wanted; the number is for the request that says so.
    Close(SessionId, u32),
    /// Ask the others to let this node go.
    Leave,
}

/// The part of a node that its threads share.
pub(super) struct Inner<S: StateMachine> {
    pub(super) me: NodeId,
    pub(super) region: SharedRegion,
    pub(super) table: Arc<NodeTable>,
    pub(super) state: RwLock<Applied<S>, RwSpread>,
    /// The count of applied commands, published behind the state. Written by the thread that has the driver, read by readers.
    pub(super) applied: CacheLine<AtomicU64>,
    pub(super) driver: corecast_lock::Mutex<Driver<S>>,
    errands: Mutex<Vec<Errand>>,
    /// True if there may be errands. Set behind the errands, cleared before taking them.
    has_errands: AtomicBool,
    /// Threads that look for results themselves at the moment, and count their looks.
    polling: CacheLine<AtomicU32>,
    pub(super) reads: Reads,
    pub(super) ending: Ending,
    /// Set once too many founders are dead for a role to change hands, and one has to.
    pub(super) has_no_majority: AtomicBool,
    /// Woken by this node's threads only: where its own thread sleeps while callers poll.
    pub(super) nap: WakeWord,
    pub(super) waiters: Waiters,
    pub(super) naps: Waiters,
    /// The longest operation, in bytes.
    pub(super) largest: usize,
    pub(super) is_stopping: AtomicBool,
    pub(super) next_session: AtomicU64,
}

impl<S: StateMachine> Inner<S> {
    pub(super) fn new(region: &SharedRegion, driver: Driver<S>, machine: S) -> Self {
        let (wait, sharing) = (driver.config.wait, region.cpu_sharing(2));
        Self {
            me: driver.core.id(),
            region: region.clone(),
            table: Arc::clone(&driver.table),
            state: RwLock::new(Applied { machine, count: 0 }),
            applied: CacheLine::new(AtomicU64::new(0)),
            largest: driver.config.largest,
            driver: corecast_lock::Mutex::new(driver),
            errands: Mutex::default(),
            has_errands: AtomicBool::new(false),
            polling: CacheLine::new(AtomicU32::new(0)),
            reads: Reads::default(),
            ending: Ending::default(),
            has_no_majority: AtomicBool::new(false),
            nap: WakeWord::new(Wait::Park),
            waiters: Waiters::new(wait, sharing.clone()),
            naps: Waiters::new(Wait::Park, sharing),
            is_stopping: AtomicBool::new(false),
            next_session: AtomicU64::new(1),
        }
    }

    /// Where the threads of this node sleep; other nodes wake it.
    pub(super) fn wake(&self) -> &WakeWord {
        self.table.wake_word(usize::from(self.me.slot))
    }

    /// The error of an operation that this node does not order any more.
    pub(super) fn execute_error(&self) -> Option<ExecuteError> {
        // ORDERING: Relaxed, the word says everything
        let is_stuck = self.has_no_majority.load(Ordering::Relaxed);
        self.ending.get().map(|end| end.of_execute(self.me)).or(is_stuck.then_some(ExecuteError::NoMajority))
    }

    /// The error of a read that this node does not answer any more.
    pub(super) fn read_error(&self) -> Option<ReadError> {
        // ORDERING: Relaxed, the word says everything
        let is_stuck = self.has_no_majority.load(Ordering::Relaxed);
        self.ending.get().map(|end| end.of_read(self.me)).or(is_stuck.then_some(ReadError::NoMajority))
    }

    /// # Errors
    /// [`ForkedNode`] in a forked child.
    #[inline(always)]
    pub(super) fn check_fork(&self) -> Result<(), ForkedNode> {
        self.region.check_fork().map_err(|_| ForkedNode)
    }

    /// Gives the driver an errand.
    pub(super) fn send(&self, errand: Errand) {
        self.errands.lock().unwrap_or_else(PoisonError::into_inner).push(errand);
        // ORDERING: Release, pairs with the Acquire in take_errands [net-errand]
        self.has_errands.store(true, Ordering::Release);
    }

    /// Takes all errands.
    pub(super) fn take_errands(&self, to: &mut Vec<Errand>) {
        // ORDERING: Relaxed, a look only: the swap behind it orders
        if !self.has_errands.load(Ordering::Relaxed) {
            return;
        }
        // ORDERING: Acquire, pairs with the Release in send [net-errand]
        self.has_errands.swap(false, Ordering::Acquire);
        to.append(&mut self.errands.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The driver, unless another thread has it.
    pub(super) fn try_driver(&self) -> Option<DriverGuard<'_, S>> {
        self.driver.try_lock()
    }

    /// Does what there is to do for the node, unless another thread is at it. True if something was done.
    pub(super) fn turn(&self) -> bool {
        match self.try_driver() {
            Some(mut driver) => driver.turn(self),
            None => false,
        }
    }

    /// Wakes the threads of this node that wait for results. In the common case of none it costs a fence.
    pub(super) fn wake_callers(&self) {
        // ORDERING: SeqCst, pairs with the fence in wait_for; forbids that both miss each other [net-callers]
        fence(Ordering::SeqCst);
        if self.has_callers() {
            self.wake().notify();
        }
    }

    /// True while threads of this node wait for results.
    pub(super) fn has_callers(&self) -> bool {
        // ORDERING: Relaxed, a hint: a thread that sees it late naps once more
        self.polling.load(Ordering::Relaxed) > 0
    }

    /// Waits until `found` says something, and drives the node meanwhile. `None` when the time is up.
    pub(super) fn wait_for<T>(&self, limit: Option<Duration>, mut found: impl FnMut() -> Option<T>) -> Option<T> {
        // ORDERING: Relaxed, a count that the node's thread only takes as a hint
        self.polling.fetch_add(1, Ordering::Relaxed);
        // ORDERING: SeqCst, pairs with the fence in wake_callers; forbids that both miss each other [net-callers]
        fence(Ordering::SeqCst);
        let poll = || {
            if let Some(found) = found() {
                return Some(found);
            }
            if self.turn() { found() } else { None }
        };
        let check = |waited: Duration| match limit {
            None => Ok(LONGEST_SLEEP),
            Some(limit) => limit.checked_sub(waited).filter(|left| !left.is_zero()).ok_or(()),
        };
        let result = self.waiters.with(|waiter| waiter.until(self.wake(), poll, check).ok());
        // ORDERING: Relaxed, a count that the node's thread only takes as a hint
        self.polling.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// The count of commands applied here.
    #[inline]
    pub(super) fn applied(&self) -> Index {
        // ORDERING: Acquire, pairs with the Release in publish_applied [net-applied]
        self.applied.load(Ordering::Acquire)
    }

    /// Publishes the count of commands applied here.
    pub(super) fn publish_applied(&self, count: Index) {
        // ORDERING: Release, pairs with the Acquire in applied: the state is behind the lock [net-applied]
        self.applied.store(count, Ordering::Release);
    }

    pub(super) fn is_stopping(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in the drop of the handle [net-stopping]
        self.is_stopping.load(Ordering::Acquire)
    }

    /// This node does no more.
    pub(super) fn end(&self, end: End) {
        self.ending.set(end);
    }
}

impl<S: StateMachine> fmt::Debug for Inner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} with {} commands applied", self.me, self.applied())
    }
}
