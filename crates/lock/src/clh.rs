//! [`Clh`]: when to take it, how it works, and its code.

use std::cell::Cell;

use corecast_base::sync::Ordering;
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::pool::{self, Stay, StayWord};
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

const IDLE: u32 = 0;
const BUSY: u32 = 1;

/// The CLH queue: a newcomer swaps its node for the last one, and polls that until its thread is done.
///
/// Take it as `mcs`, which it resembles; an unlock is one store here and never waits. A thread leaves its node to the
/// one behind and adopts the one before, so nodes are pooled and guards are possible. The tail names a node together
/// with the number of its stay in the queue: a try that has seen a node idle must not succeed once that was enqueued
/// again.
///
/// **Progress:** blocking, first in first out. **Memory ordering:** that of [`RawLock`].
/// Source: T. Craig, Building FIFO and Priority-Queueing Spin Locks from Atomic Swap, 1993; P. Magnusson, A. Landin,
/// E. Hagersten, Queue Locks on Cache Coherent Multiprocessors, 1994.
#[derive(Debug)]
pub struct Clh {
    /// The last node of the queue, idle if the lock is free. Written by every newcomer.
    tail: StayWord,
}

/// The numbers of an acquisition's nodes.
#[derive(Debug, Default)]
pub struct ClhNodes {
    own: Cell<u32>,
    before: Cell<u32>,
}

impl ClhNodes {
    /// A node that is busy, for its next stay in a queue.
    fn busy() -> Stay {
        let stay = Stay::next(pool::take());
        // ORDERING: Relaxed, released by the thread that puts it into the queue
        pool::node(stay.number).is_busy.store(BUSY, Ordering::Relaxed);
        stay
    }

    pub(crate) fn hold(&self, own: Stay, before: Stay) {
        self.own.set(own.number);
        self.before.set(before.number);
    }

    /// The node that was put into a queue.
    pub(crate) fn own(&self) -> u32 {
        self.own.get()
    }

    /// The node that was before it, and is given back.
    pub(crate) fn before(&self) -> u32 {
        self.before.get()
    }
}

// SAFETY: a thread holds the lock once the node before is idle, which its thread stores when it unlocks. Only the one behind
// adopts a node, so it is polled by nobody else and not used again before. A try that succeeds finds the very stay whose
// node it saw idle.
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
        let stay = Stay::next(pool::take());
        // ORDERING: Relaxed, the lock is not shared yet
        pool::node(stay.number).is_busy.store(IDLE, Ordering::Relaxed);
        Self { tail: StayWord::new(stay.word()) }
    }

    #[inline]
    unsafe fn lock(&self, node: &ClhNodes) {
        let own = ClhNodes::busy();
        // ORDERING: AcqRel, pairs with itself: the next newcomer finds a node that is busy [clh-tail]
        let before = Stay::of_word(self.tail.swap(own.word(), Ordering::AcqRel));
        let polled = pool::node(before.number);
        let mut spinner = Spinner::new();
        // ORDERING: Acquire, pairs with the Release in unlock [clh-idle]
        while polled.is_busy.load(Ordering::Acquire) == BUSY {
            spinner.pause();
        }
        node.hold(own, before);
    }

    #[inline]
    unsafe fn try_lock(&self, node: &ClhNodes) -> bool {
        // ORDERING: Acquire, pairs with the Release of the thread that put the node into the queue: it was busy then [clh-tail]
        let before = self.tail.load(Ordering::Acquire);
        // ORDERING: Acquire, pairs with the Release in unlock [clh-idle]
        if pool::node(Stay::of_word(before).number).is_busy.load(Ordering::Acquire) == BUSY {
            return false;
        }
        let own = ClhNodes::busy();
        // ORDERING: Release, pairs with the Acquire of the next newcomer, as the load above did with that of the one before;
        // Relaxed where it fails, as nothing was taken [clh-tail]
        if self.tail.compare_exchange(before, own.word(), Ordering::Release, Ordering::Relaxed).is_err() {
            pool::give(own.number);
            return false;
        }
        node.hold(own, Stay::of_word(before));
        true
    }

    #[inline]
    unsafe fn unlock(&self, node: &ClhNodes) {
        // ORDERING: Release, pairs with the Acquire in lock and try_lock [clh-idle]
        pool::node(node.own()).is_busy.store(IDLE, Ordering::Release);
        pool::give(node.before());
    }
}

impl Drop for Clh {
    fn drop(&mut self) {
        // ORDERING: Relaxed, nobody else has the lock any more
        pool::give(Stay::of_word(self.tail.load(Ordering::Relaxed)).number);
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Clh {}

// SAFETY: the node is two numbers that only its owner reads; the nodes in the queue lie in the pool.
unsafe impl NodeMoves for Clh {}
