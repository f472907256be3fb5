//! The part of a node that its threads share.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_base::region::SharedRegion;
use corecast_base::rendezvous::HostedRegion;
use corecast_base::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use corecast_base::wait::{Wait, WakeWord};
use corecast_lock::{RwLock, RwSpread};

use super::cut::Wanted;
use super::driver::Driver;
use crate::runtime::{Applied, AppliedCount, Callers, Ending, Errand, Errands, Member, Waiters};
use crate::segment::{Body, Control};
use crate::{Index, NodeId, StateMachine};

/// The driver, held by one thread.
pub(super) type DriverGuard<'a, S> = corecast_lock::MutexGuard<'a, Driver<S>>;

/// The part of a node that its threads share.
pub struct Inner<S: StateMachine> {
    /// Keeps the group's name as long as the node.
    _hosted: Option<HostedRegion>,
    /// This incarnation, as bits. Written by the node's thread when it comes back.
    pub(super) me: AtomicU32,
    pub(super) region: SharedRegion,
    pub(super) control: Control,
    pub(super) state: RwLock<Applied<S>, RwSpread>,
    pub(super) applied: AppliedCount,
    pub(super) driver: corecast_lock::Mutex<Driver<S>>,
    /// True while the node's thread waits for the driver, which callers then leave to it.
    pub(super) is_wanted: AtomicBool,
    pub(super) errands: Errands<Errand<Body>>,
    /// The threads that wait. Their word is woken by all nodes, for whatever this node has to look at.
    pub(super) callers: Callers,
    pub(super) ending: Ending,
    /// Woken by this node's threads only: where the driver's thread sleeps while callers poll.
    pub(super) nap: WakeWord,
    pub(super) naps: Waiters,
    /// The longest body of an operation, in bytes.
    pub(super) largest_body: usize,
    pub(super) is_stopping: AtomicBool,
    pub(super) next_session: AtomicU64,
    pub(super) next_cut: AtomicU32,
    /// Held by the thread that takes a checkpoint.
    pub(super) cutting: corecast_lock::Mutex<()>,
    pub(super) cuts: Mutex<Vec<Wanted>>,
    /// The memory of the last checkpoint, for the next.
    pub(super) spare: Mutex<Vec<u8>>,
}

impl<S: StateMachine> Inner<S> {
    /// A node that begins with this state; bodies of its operations have at most `largest_body` bytes.
    pub(super) fn new(
        region: &SharedRegion,
        control: Control,
        driver: Driver<S>,
        state: Applied<S>,
        largest_body: usize,
        hosted: Option<HostedRegion>,
    ) -> Self {
        let (me, wait, sharing) = (driver.shm.me, control.wait(), region.cpu_sharing(2));
        Self {
            me: AtomicU32::new(me.to_bits()),
            region: region.clone(),
            callers: Callers::new(control.wake_word(usize::from(me.slot)).clone(), Waiters::new(wait, sharing.clone())),
            control,
            applied: AppliedCount::new(state.count),
            state: RwLock::new(state),
            driver: corecast_lock::Mutex::new(driver),
            is_wanted: AtomicBool::new(false),
            errands: Errands::default(),
            ending: Ending::default(),
            nap: WakeWord::new(Wait::Park),
            naps: Waiters::new(Wait::Park, sharing),
            is_stopping: AtomicBool::new(false),
            next_session: AtomicU64::new(1),
            next_cut: AtomicU32::new(1),
            cutting: corecast_lock::Mutex::new(()),
            cuts: Mutex::default(),
            spare: Mutex::default(),
            largest_body,
            _hosted: hosted,
        }
    }

    /// The cuts that threads of this node wait for.
    pub(super) fn cuts(&self) -> MutexGuard<'_, Vec<Wanted>> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a cut that this node has not used before.
    pub(super) fn next_cut(&self) -> u32 {
        // ORDERING: Relaxed, each cut gets a number of its own
        self.next_cut.fetch_add(1, Ordering::Relaxed)
    }

    /// The node is another incarnation now, with another state.
    pub(super) fn replace_state(&self, me: NodeId, machine: S, count: Index) {
        *self.state.write() = Applied { machine, count };
        self.publish_applied(count);
        // ORDERING: Relaxed, the word says everything
        self.me.store(me.to_bits(), Ordering::Relaxed);
    }

    /// The driver, unless another thread has it or the node's thread waits for it.
    pub(super) fn try_driver(&self) -> Option<DriverGuard<'_, S>> {
        // ORDERING: Relaxed, a hint: a caller that sees it late takes the driver once more
        if self.is_wanted.load(Ordering::Relaxed) { None } else { self.driver.try_lock() }
    }

    /// The driver for the node's thread, which callers that come again and again would keep from it.
    pub(super) fn claim_driver(&self) -> DriverGuard<'_, S> {
        // ORDERING: Relaxed, a hint: a caller that sees it late takes the driver once more
        self.is_wanted.store(true, Ordering::Relaxed);
        let driver = self.driver.lock();
        // ORDERING: Relaxed, a hint: a caller that sees it late takes the driver once more
        self.is_wanted.store(false, Ordering::Relaxed);
        driver
    }

    /// Does what there is to do for the node, unless another thread is at it. True if something was done.
    pub(super) fn turn(&self) -> bool {
        match self.try_driver() {
            Some(mut driver) => driver.turn(self),
            None => false,
        }
    }

    /// Publishes the count of commands applied here.
    pub(super) fn publish_applied(&self, count: Index) {
        self.applied.publish(count);
    }
}

impl<S: StateMachine> fmt::Debug for Inner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} with {} commands applied", self.me(), self.applied())
    }
}
