//! [`Clh`]: when to take it, how it works, and its code.

use std::cell::Cell;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::pool::{self, BUSY};
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

const IDLE: u32 = 0;
/// The tail of a lock that nobody holds or waits for: no node has the number in it.
const FREE: u32 = u32::MAX;

/// The CLH queue: a newcomer swaps its node for the last one, and polls that until its thread is done.
///
/// Take it as `mcs`, which it resembles; an unlock here never waits. A thread leaves its node to the one behind and adopts the
/// one before, so nodes are pooled and guards are possible. The tail names a node together with the number of its stay in the
/// queue: a try that has seen a node idle must not succeed once that was enqueued again.
///
/// In the paper a free lock keeps the last node, idle. Here a thread that frees the lock takes its node back if nobody has come:
/// so a free lock has no node, and its next user reads no line but the lock's. It does so once the lock is free, so nobody waits
/// for it. A node is busy again as soon as it is out of the queue, when that store delays nobody, rather than when it is
/// enqueued: there the exchange of the tail would have to wait until the other CPU has let the node's line go.
///
/// **Progress:** blocking, first in first out. **Memory ordering:** that of [`RawLock`].
/// Source: T. Craig, Building FIFO and Priority-Queueing Spin Locks from Atomic Swap, 1993; P. Magnusson, A. Landin,
/// E. Hagersten, Queue Locks on Cache Coherent Multiprocessors, 1994.
#[derive(Debug)]
pub struct Clh {
    /// The number of the last node of the queue, or [`FREE`]. Written by every newcomer, and by a holder with nobody behind it.
    tail: AtomicU32,
}

/// The nodes of an acquisition.
#[derive(Debug, Default)]
pub struct ClhNodes {
    /// The number of the one before in the upper half, and of the own one in the lower: written at once, as a word that is
    /// written in halves is not forwarded to its next reader.
    numbers: Cell<u64>,
}

impl ClhNodes {
    /// Keeps the numbers of two nodes.
    #[inline]
    pub(crate) fn hold(&self, own: u32, before: u32) {
        self.numbers.set(u64::from(before) << 32 | u64::from(own));
    }

    /// The number of the node that was put into a queue.
    #[inline]
    pub(crate) fn own(&self) -> u32 {
        self.numbers.get() as u32
    }

    /// The number of the node that was before it, and is given back.
    #[inline]
    pub(crate) fn before(&self) -> u32 {
        (self.numbers.get() >> 32) as u32
    }
}

impl Clh {
    /// As a thread that uses the lock's memory otherwise: the model fails unless all that other threads did to it happened
    /// before.
    #[cfg(loom)]
    pub fn use_otherwise(&mut self) {
        self.tail.with_mut(|_| ());
    }
}

/// Waits until the thread with this node has freed the lock.
#[inline]
fn await_idle(before: u32) {
    let polled = pool::node_before(before);
    let mut spinner = Spinner::new();
    // ORDERING: Acquire, pairs with the Release in unlock [clh-idle]
    while polled.is_busy.load(Ordering::Acquire) == BUSY {
        spinner.pause();
    }
}

/// Gives back an idle node that is out of the queue, busy for its next stay.
#[inline]
fn retire(number: u32) {
    // ORDERING: Relaxed, released by the thread that puts it into a queue
    pool::node(number).is_busy.store(BUSY, Ordering::Relaxed);
    pool::give(number);
}

// SAFETY: a thread holds the lock if it came to a free one, or once the node before is idle, which its thread stores when it
// unlocks. Only the one behind adopts a node, or its own thread takes it back, which finds it last: so it is polled by nobody
// else and not used again before.
unsafe impl RawLock for Clh {
    type Node = ClhNodes;
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "clh",
        about: "a queue, each polls the node before",
        order: AcquisitionOrder::Fifo,
        node: NodeKind::Pooled,
        parks: false,
        source: "Craig 1993; Magnusson, Landin, Hagersten 1994",
    };

    fn new(_setup: &Setup) -> Self {
        Self { tail: AtomicU32::new(FREE) }
    }

    #[inline]
    unsafe fn lock(&self, node: &ClhNodes) {
        let own = pool::take();
        // ORDERING: AcqRel, pairs with itself, where a newcomer finds a node that is busy, and with the Release in unlock
        // [clh-tail]
        let before = self.tail.swap(own, Ordering::AcqRel);
        if before != FREE {
            await_idle(before);
        }
        node.hold(own, before);
    }

    #[inline]
    unsafe fn try_lock(&self, node: &ClhNodes) -> bool {
        // ORDERING: Relaxed, the exchange looks again
        if self.tail.load(Ordering::Relaxed) != FREE {
            return false;
        }
        let own = pool::take();
        // ORDERING: AcqRel, pairs with the swap in lock, where a newcomer finds a node that is busy, and with the Release in
        // unlock; Relaxed where it fails, as nothing was taken [clh-tail]
        if self.tail.compare_exchange(FREE, own, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            pool::give(own);
            return false;
        }
        node.hold(own, FREE);
        true
    }

    #[inline]
    unsafe fn unlock(&self, node: &ClhNodes) {
        let (own, before) = (node.own(), node.before());
        // ORDERING: Relaxed, the exchange looks again, and a tail that is another one stays so
        let is_last = self.tail.load(Ordering::Relaxed) == own;
        // ORDERING: Release, pairs with the Acquire in lock and try_lock; Relaxed where it fails, as the one behind is let in
        // below [clh-tail]
        if is_last && self.tail.compare_exchange(own, FREE, Ordering::Release, Ordering::Relaxed).is_ok() {
            pool::give(own);
        } else {
            // The lock may be gone from here on.
            // ORDERING: Release, pairs with the Acquire in await_idle [clh-idle]
            pool::node(own).is_busy.store(IDLE, Ordering::Release);
        }
        if before != FREE {
            retire(before);
        }
    }
}

impl Drop for Clh {
    fn drop(&mut self) {
        // ORDERING: Relaxed, nobody else has the lock any more
        let last = self.tail.load(Ordering::Relaxed);
        if last != FREE {
            // A guard was forgotten.
            pool::give(last);
        }
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Clh {}

// SAFETY: the node is a word that only its owner reads; the nodes in the queue lie in the pool.
unsafe impl NodeMoves for Clh {}
