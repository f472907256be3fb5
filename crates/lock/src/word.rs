//! [`Word`]: when to take it, how it works, and its code.

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::LONGEST_SLEEP;

use crate::facts::{Facts, NodeKind, Order};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};
use crate::three_states::{ThreeStates, time_until, wait_and_take};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const AWAITED: u32 = 2;

/// A mutex in one word: spins for about the cost of a wake-up, then sleeps.
///
/// Take it where there may be more threads than CPUs, or sections are long: it never keeps a CPU from the holder for
/// long. An unlock wakes one sleeper, which competes with newcomers (nothing is handed to a thread that does
/// not run). Not where order matters.
///
/// **Progress:** blocking; a waiter may be overtaken. **Memory ordering:** that of [`RawLock`].
/// Source: U. Drepper, Futexes Are Tricky, 2004 (the third mutex).
#[derive(Debug)]
pub struct Word {
    /// [`FREE`], [`HELD`] or [`AWAITED`]. Written by every thread that wants the lock, and by its holder.
    state: AtomicU32,
}

impl ThreeStates for Word {
    #[inline]
    fn looks_free(&self) -> bool {
        // ORDERING: Relaxed, a thread that takes it looks again
        self.state.load(Ordering::Relaxed) == FREE
    }

    #[inline]
    fn take(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [word-free]
        self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn take_awaited(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock [word-free]
        self.state.swap(AWAITED, Ordering::Acquire) == FREE
    }

    fn sleep(&self, longest: Duration) {
        futex_wait(&self.state, AWAITED, longest, Scope::Process);
    }
}

// SAFETY: exactly one swap or exchange finds FREE between two stores of it, which only holders do; Acquire and Release.
unsafe impl RawLock for Word {
    type Node = ();
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "word",
        about: "one word, spins for a while and then sleeps",
        order: Order::Barging,
        node: NodeKind::Nothing,
        parks: true,
        source: "Drepper 2004",
    };

    fn new(_setup: &Setup) -> Self {
        Self { state: AtomicU32::new(FREE) }
    }

    #[inline]
    unsafe fn lock(&self, node: &()) {
        // SAFETY: the caller's promise.
        if !unsafe { self.try_lock(node) } {
            wait_and_take(self, || Some(LONGEST_SLEEP));
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.take()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // ORDERING: Release, pairs with the Acquire in take and take_awaited [word-free]
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            futex_wake(&self.state, 1, Scope::Process);
        }
    }
}

// SAFETY: it takes the lock as lock does, or leaves it marked as awaited, which costs its holder a wake-up.
unsafe impl RawTimed for Word {
    unsafe fn lock_until(&self, node: &(), deadline: Instant) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.try_lock(node) || wait_and_take(self, || time_until(deadline)) }
    }
}

// SAFETY: there is no node.
unsafe impl NodeMoves for Word {}

#[cfg(not(loom))]
impl RawConst for Word {
    const INIT: Self = Self { state: AtomicU32::new(FREE) };
}
