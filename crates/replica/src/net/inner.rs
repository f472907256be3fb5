//! The part of a node that its threads share.

use std::fmt;

use corecast_base::region::SharedRegion;
use corecast_base::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use corecast_base::wait::{Wait, WakeWord};
use corecast_lock::{RwLock, RwSpread};

use super::cut::Cuts;
use super::driver::Driver;
use super::wire::Body;
use crate::runtime::{self, Applied, AppliedCount, Callers, End, Ending, Errand, Errands, Member, Reads, Waiters};
use crate::{Index, NodeId, StateMachine};

/// The driver, held by one thread.
pub(super) type DriverGuard<'a, S> = corecast_lock::MutexGuard<'a, Driver<S>>;

/// The part of a node that its threads share.
pub struct Inner<S: StateMachine> {
    /// This incarnation, as bits. Written by the node's own thread when it comes back.
    me: AtomicU32,
    pub(super) region: SharedRegion,
    pub(super) state: RwLock<Applied<S>, RwSpread>,
    pub(super) applied: AppliedCount,
    pub(super) driver: corecast_lock::Mutex<Driver<S>>,
    pub(super) errands: Errands<Errand<Body>>,
    /// The threads that wait. Other nodes wake their word, too.
    pub(super) callers: Callers,
    pub(super) reads: Reads,
    pub(super) cuts: Cuts,
    pub(super) ending: Ending,
    /// True while nobody can take a role over from a dead node.
    pub(super) is_blocked: AtomicBool,
    /// Woken by this node's threads only: where its own thread sleeps while callers poll.
    pub(super) nap: WakeWord,
    pub(super) naps: Waiters,
    /// The longest operation, in bytes.
    pub(super) largest: usize,
    pub(super) is_stopping: AtomicBool,
    pub(super) next_session: AtomicU64,
}

impl<S: StateMachine> Inner<S> {
    pub(super) fn new(region: &SharedRegion, driver: Driver<S>, state: Applied<S>) -> Self {
        let (wait, sharing) = (driver.config.wait, region.cpu_sharing(2));
        let patience = driver.config.spinning_before_sleep(runtime::cpus());
        Self {
            me: AtomicU32::new(driver.core.id().to_bits()),
            region: region.clone(),
            applied: AppliedCount::new(state.count),
            state: RwLock::new(state),
            largest: driver.config.largest,
            callers: Callers::new(
                driver.table.wake_word(usize::from(driver.core.id().slot)).clone(),
                Waiters::new(wait, sharing.clone()).spinning_before_sleep(patience),
            ),
            driver: corecast_lock::Mutex::new(driver),
            errands: Errands::default(),
            reads: Reads::default(),
            cuts: Cuts::default(),
            ending: Ending::default(),
            is_blocked: AtomicBool::new(false),
            nap: WakeWord::new(Wait::Park),
            naps: Waiters::new(Wait::Park, sharing),
            is_stopping: AtomicBool::new(false),
            next_session: AtomicU64::new(1),
        }
    }

    /// True while nobody can take a role over from a dead node.
    pub(super) fn is_blocked(&self) -> bool {
        // ORDERING: Relaxed, the word says everything
        self.is_blocked.load(Ordering::Relaxed)
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

    /// This incarnation.
    #[inline]
    pub(super) fn id(&self) -> NodeId {
        // ORDERING: Relaxed, the word says everything
        let bits = self.me.load(Ordering::Relaxed);
        NodeId::from_bits(bits).expect("a node of this group")
    }

    /// The node is another incarnation from now on.
    pub(super) fn set_id(&self, me: NodeId) {
        // ORDERING: Relaxed, the word says everything
        self.me.store(me.to_bits(), Ordering::Relaxed);
    }

    /// The node has another state.
    pub(super) fn replace_state(&self, machine: S, count: Index) {
        *self.state.write() = Applied { machine, count };
        self.publish_applied(count);
    }

    /// Publishes the count of commands applied here.
    pub(super) fn publish_applied(&self, count: Index) {
        self.applied.publish(count);
    }

    pub(super) fn is_stopping(&self) -> bool {
        // ORDERING: Relaxed, the flag says everything: the thread that set it waits for this one's end
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// This node does no more.
    pub(super) fn end(&self, end: End) {
        self.ending.set(end);
    }
}

impl<S: StateMachine> fmt::Debug for Inner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} with {} commands applied", self.id(), self.applied())
    }
}
