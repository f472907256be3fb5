//! [`Mcs`]: when to take it, how it works, and its code.

use std::ptr;

use corecast_base::sync::{AtomicPtr, AtomicU32, Ordering};
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{RawLock, RawTimed, Setup};

const WAITS: u32 = 0;
pub(crate) const HOLDS: u32 = 1;

/// The MCS queue: a newcomer hangs its node behind the last one, and polls there until the one before hands over.
///
/// Take it for locks under heavy contention where each thread has a CPU: a hand-over moves two lines, however many
/// wait. Not with more threads than CPUs: the next in the queue may not be running, and nobody can go before it.
///
/// **Progress:** blocking, first in first out; an unlock waits for one that has come but has not hung its node in yet.
/// **Memory ordering:** that of [`RawLock`].
/// Source: J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991.
#[derive(Debug)]
pub struct Mcs {
    /// The last node of the queue; null if the lock is free. Written by every newcomer, and by a holder with nobody behind it.
    tail: AtomicPtr<McsNode>,
}

/// One thread in the queue, alone on its lines.
#[derive(Debug)]
#[repr(align(128))]
pub struct McsNode {
    /// The node behind; null if there is none yet. Written by its thread.
    next: AtomicPtr<Self>,
    /// [`WAITS`] or what was handed over, [`HOLDS`] by a lock that has one queue. Written by its thread and by the one before.
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

    /// The node behind, if its thread has hung it in.
    pub(crate) fn behind(&self) -> Option<&Self> {
        // ORDERING: Acquire, pairs with the Release in enter: the node behind is initialised [mcs-link]
        let next = self.next.load(Ordering::Acquire);
        // SAFETY: null, or the node of a thread that waits until this one hands over.
        unsafe { next.as_ref() }
    }

    /// The node behind, whose thread has come.
    fn await_behind(&self) -> &Self {
        let mut spinner = Spinner::new();
        loop {
            if let Some(behind) = self.behind() {
                return behind;
            }
            spinner.pause();
        }
    }

    /// The state it was handed, or has noted itself.
    pub(crate) fn state(&self) -> u32 {
        // ORDERING: Relaxed, the caller holds the queue with it, and nobody else writes it any more
        self.state.load(Ordering::Relaxed)
    }

    /// For a thread that holds the queue with it.
    pub(crate) fn note(&self, state: u32) {
        // ORDERING: Relaxed, as in state
        self.state.store(state, Ordering::Relaxed);
    }

    /// Where the one before hands the queue over to this node's thread.
    pub(crate) fn inbox(&self) -> &AtomicU32 {
        &self.state
    }
}

/// Hands the queue over, with something to tell that is not [`WAITS`]. The node may be gone before this returns.
pub(crate) fn hand_to(inbox: &AtomicU32, state: u32) {
    // ORDERING: Release, pairs with the Acquire in enter [mcs-handed]
    inbox.store(state, Ordering::Release);
}

/// The queue by itself, for locks that are made of several: what is handed over may tell more than [`HOLDS`].
impl Mcs {
    pub(crate) fn empty() -> Self {
        Self { tail: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Enters, and waits for what the one before hands over; `None` if there is nobody before.
    ///
    /// # Safety
    /// - `node` is used for nothing else, and stays where it is, until it has been handed over.
    #[inline]
    pub(crate) unsafe fn enter(&self, node: &McsNode) -> Option<u32> {
        // ORDERING: Relaxed, released by the swap
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        // ORDERING: Relaxed, released by the swap
        node.state.store(WAITS, Ordering::Relaxed);
        // ORDERING: AcqRel, pairs with itself: the next newcomer finds an initialised node; and with the Release in
        // hand_over [mcs-tail]
        let before = self.tail.swap(node.address(), Ordering::AcqRel);
        // SAFETY: null, or a node that was the tail, which stays until its thread has handed over to the one behind: this one.
        let before = unsafe { before.as_ref() }?;
        // ORDERING: Release, pairs with the Acquire in behind [mcs-link]
        before.next.store(node.address(), Ordering::Release);
        let mut spinner = Spinner::new();
        loop {
            // ORDERING: Acquire, pairs with the Release in hand_to [mcs-handed]
            match node.state.load(Ordering::Acquire) {
                WAITS => spinner.pause(),
                state => return Some(state),
            }
        }
    }

    /// Enters if nobody is there.
    ///
    /// # Safety
    /// - As of [`enter`](Self::enter), if it returns true.
    #[inline]
    pub(crate) unsafe fn try_enter(&self, node: &McsNode) -> bool {
        // ORDERING: Relaxed, released by the exchange
        node.next.store(ptr::null_mut(), Ordering::Relaxed);
        // ORDERING: AcqRel, as the swap in enter; Relaxed where it fails, as nothing was taken [mcs-tail]
        let taken = self.tail.compare_exchange(ptr::null_mut(), node.address(), Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok()
    }

    /// Leaves the queue to the one behind, if there is one, and hands it `state`.
    ///
    /// # Safety
    /// - The caller is first in the queue with this node.
    #[inline]
    pub(crate) unsafe fn hand_over(&self, node: &McsNode, state: u32) {
        // ORDERING: Relaxed, null is looked at again
        if node.next.load(Ordering::Relaxed).is_null() {
            // ORDERING: Release, pairs with the Acquire of the next newcomer; Relaxed where it fails, as the link leads to
            // the newcomer [mcs-tail]
            let freed =
                self.tail.compare_exchange(node.address(), ptr::null_mut(), Ordering::Release, Ordering::Relaxed);
            if freed.is_ok() {
                return;
            }
        }
        hand_to(node.await_behind().inbox(), state);
    }
}

// SAFETY: a thread holds the lock if the tail was null when it came, or the one before has handed over, which it does once.
unsafe impl RawLock for Mcs {
    type Node = McsNode;
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "mcs",
        about: "a queue, each polls its own node",
        order: AcquisitionOrder::Fifo,
        node: NodeKind::Stack,
        parks: false,
        source: "Mellor-Crummey, Scott 1991",
    };

    fn new(_setup: &Setup) -> Self {
        Self::empty()
    }

    #[inline]
    unsafe fn lock(&self, node: &McsNode) {
        // SAFETY: the caller's promise.
        unsafe { self.enter(node) };
    }

    #[inline]
    unsafe fn try_lock(&self, node: &McsNode) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.try_enter(node) }
    }

    #[inline]
    unsafe fn unlock(&self, node: &McsNode) {
        // SAFETY: the holder is first in the queue.
        unsafe { self.hand_over(node, HOLDS) };
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Mcs {}

#[cfg(not(loom))]
impl RawConst for Mcs {
    const INIT: Self = Self { tail: AtomicPtr::new(ptr::null_mut()) };
}
