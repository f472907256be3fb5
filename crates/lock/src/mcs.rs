//! The MCS queue: who comes hangs its node behind the last one, and polls there until the one before hands over.
//!
//! Take it for locks under heavy contention where each thread has a CPU: a hand-over moves two lines, however many
//! wait. Not with more threads than CPUs: the next in the queue may not be running, and nobody can go before it.
//!
//! **Progress:** blocking, first in first out; an unlock waits for one that has come but has not hung its node in yet.
//! **Memory ordering:** that of [`RawLock`].
//! Source: J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991.

use std::ptr;

use corecast_base::sync::{AtomicPtr, AtomicU32, Ordering};
use corecast_base::wait::Spinner;

use crate::facts::{Facts, NodeKind, Order};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{RawLock, RawTimed, Setup};

const WAITS: u32 = 0;
const HOLDS: u32 = 1;

/// See the [module](self).
#[derive(Debug)]
pub struct Mcs {
    /// The last node of the queue; null if the lock is free. Written by whoever comes, and by a holder behind whom nobody is.
    tail: AtomicPtr<McsNode>,
}

/// One thread in the queue, alone on its lines.
#[derive(Debug)]
#[repr(align(128))]
pub struct McsNode {
    /// The node behind; null if there is none yet. Written by its thread.
    next: AtomicPtr<Self>,
    /// [`WAITS`] or [`HOLDS`]. Written by the thread before.
    state: AtomicU32,
}

impl Default for McsNode {
    fn default() -> Self {
        Self { next: AtomicPtr::new(ptr::null_mut()), state: AtomicU32::new(WAITS) }
    }
}

impl McsNode {
    fn address(&self) -> *mut Self {
        ptr::from_ref(self).cast_mut()
    }

    /// The node behind, whose thread has come.
    fn await_next(&self) -> *mut Self {
        let mut spinner = Spinner::new();
        loop {
            // ORDERING: Acquire, pairs with the Release in lock: the node behind is initialised [mcs-link]
            let next = self.next.load(Ordering::Acquire);
            if !next.is_null() {
                return next;
            }
            spinner.pause();
        }
    }
}

// SAFETY: a thread holds the lock if the tail was null when it came, or the one before has handed over, which it does once.
unsafe impl RawLock for Mcs {
    type Node = McsNode;

    const FACTS: Facts = Facts {
        name: "mcs",
        about: "a queue, each polls its own node",
        order: Order::Fifo,
        node: NodeKind::Stack,
        parks: false,
        source: "Mellor-Crummey, Scott 1991",
    };

    fn new(_setup: &Setup) -> Self {
        Self { tail: AtomicPtr::new(ptr::null_mut()) }
    }

    #[inline]
    unsafe fn lock(&self, node: &McsNode) {
        // ORDERING: Relaxed, released by the swap
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        // ORDERING: Relaxed, released by the swap
        node.state.store(WAITS, Ordering::Relaxed);
        // ORDERING: AcqRel, pairs with itself: who comes next finds an initialised node; and with the Release in unlock
        // [mcs-tail]
        let before = self.tail.swap(node.address(), Ordering::AcqRel);
        if before.is_null() {
            return;
        }
        // SAFETY: a node that was the tail stays until its thread has handed over to the one behind, which is this one.
        let before = unsafe { &*before };
        // ORDERING: Release, pairs with the Acquire in await_next [mcs-link]
        before.next.store(node.address(), Ordering::Release);
        let mut spinner = Spinner::new();
        // ORDERING: Acquire, pairs with the Release in unlock [mcs-handed]
        while node.state.load(Ordering::Acquire) == WAITS {
            spinner.pause();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, node: &McsNode) -> bool {
        // ORDERING: Relaxed, released by the exchange
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        // ORDERING: AcqRel, as the swap in lock; Relaxed where it fails, as nothing was taken [mcs-tail]
        let taken = self.tail.compare_exchange(ptr::null_mut(), node.address(), Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, node: &McsNode) {
        // ORDERING: Relaxed, null is looked at again
        if node.next.load(Ordering::Relaxed).is_null() {
            // ORDERING: Release, pairs with the Acquire of who comes next; Relaxed where it fails, as the link tells who has
            // come [mcs-tail]
            let freed =
                self.tail.compare_exchange(node.address(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed);
            if freed.is_ok() {
                return;
            }
        }
        // SAFETY: the thread of that node waits until it is handed the lock, in the next line.
        let next = unsafe { &*node.await_next() };
        // ORDERING: Release, pairs with the Acquire in lock [mcs-handed]
        next.state.store(HOLDS, Ordering::Release);
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Mcs {}

#[cfg(not(loom))]
impl RawConst for Mcs {
    const INIT: Self = Self { tail: AtomicPtr::new(ptr::null_mut()) };
}
