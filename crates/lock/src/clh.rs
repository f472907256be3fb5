//! [`Clh`]: when to take it, how it works, and its code.

use std::cell::Cell;

use corecast_base::sync::Ordering;
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::pool::{self, BUSY, PoolNode, Stay, StayWord};
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

const IDLE: u32 = 0;
/// The tail of a lock that nobody holds or waits for: no node has the number in it.
const FREE: u64 = u64::MAX;

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
    /// The last node of the queue, or [`FREE`]. Written by every newcomer, and by a thread that has freed the lock with nobody
    /// behind it.
    tail: StayWord,
}

/// The nodes of an acquisition.
#[derive(Debug, Default)]
pub struct ClhNodes {
    /// The words of their stays, each written at once: a word that is written in halves is not forwarded to its next reader.
    own: Cell<u64>,
    before: Cell<u64>,
}

impl ClhNodes {
    /// Keeps the words of two stays.
    #[inline]
    pub(crate) fn hold(&self, own: u64, before: u64) {
        self.own.set(own);
        self.before.set(before);
    }

    /// The number of the node that was put into a queue.
    #[inline]
    pub(crate) fn own(&self) -> u32 {
        Stay::of_word(self.own.get()).number
    }

    /// The number of the node that was before it, and is given back.
    #[inline]
    pub(crate) fn before(&self) -> u32 {
        Stay::of_word(self.before.get()).number
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

/// Gives back a node that is out of the queue, busy for its next stay.
#[inline]
fn retire(number: u32, node: &PoolNode) {
    // ORDERING: Relaxed, released by the thread that puts it into a queue
    node.is_busy.store(BUSY, Ordering::Relaxed);
    pool::give(number);
}

// SAFETY: a thread holds the lock if it came to a free one, or once the node before is idle, which its thread stores when it
// unlocks. Only the one behind adopts a node, or its own thread takes it back, which finds it last: so it is polled by nobody
// else and not used again before. A try that succeeds finds the lock free, or the very stay whose node it saw idle.
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
        Self { tail: StayWord::new(FREE) }
    }

    #[inline]
    unsafe fn lock(&self, node: &ClhNodes) {
        let own = Stay::next(pool::take()).word();
        // ORDERING: AcqRel, pairs with itself, where a newcomer finds a node that is busy, and with the Release in unlock
        // [clh-tail]
        let before = self.tail.swap(own, Ordering::AcqRel);
        if before != FREE {
            await_idle(Stay::of_word(before).number);
        }
        node.hold(own, before);
    }

    #[inline]
    unsafe fn try_lock(&self, node: &ClhNodes) -> bool {
        // ORDERING: Acquire, pairs with the Release of the thread that put the node into the queue: it was busy then; and with
        // that in unlock [clh-tail]
        let before = self.tail.load(Ordering::Acquire);
        // ORDERING: Acquire, pairs with the Release in unlock [clh-idle]
        if before != FREE && pool::node(Stay::of_word(before).number).is_busy.load(Ordering::Acquire) == BUSY {
            return false;
        }
        let own = Stay::next(pool::take());
        // ORDERING: AcqRel, pairs with itself, as in lock, and with the Release in unlock, which may have freed it again since
        // the load above; Relaxed where it fails, as nothing was taken [clh-tail]
        if self.tail.compare_exchange(before, own.word(), Ordering::AcqRel, Ordering::Relaxed).is_err() {
            pool::give(own.number);
            return false;
        }
        node.hold(own.word(), before);
        true
    }

    #[inline]
    unsafe fn unlock(&self, node: &ClhNodes) {
        let (own, held) = (node.own.get(), pool::node(node.own()));
        // ORDERING: Release, pairs with the Acquire in await_idle and try_lock [clh-idle]
        held.is_busy.store(IDLE, Ordering::Release);
        // ORDERING: Relaxed, the exchange looks again
        let is_last = self.tail.load(Ordering::Relaxed) == own;
        // ORDERING: Release, pairs with the Acquire in lock and try_lock; Relaxed where it fails, as the one behind has the node
        // [clh-tail]
        if is_last && self.tail.compare_exchange(own, FREE, Ordering::Release, Ordering::Relaxed).is_ok() {
            retire(node.own(), held);
        }
        if node.before.get() != FREE {
            retire(node.before(), pool::node(node.before()));
        }
    }
}

impl Drop for Clh {
    fn drop(&mut self) {
        // ORDERING: Relaxed, nobody else has the lock any more
        let last = self.tail.load(Ordering::Relaxed);
        if last != FREE {
            // A guard was forgotten.
            let number = Stay::of_word(last).number;
            retire(number, pool::node(number));
        }
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Clh {}

// SAFETY: the node is two words that only its owner reads; the nodes in the queue lie in the pool.
unsafe impl NodeMoves for Clh {}
