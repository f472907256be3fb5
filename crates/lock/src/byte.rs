//! [`Byte`]: when to take it, how it works, and its code.

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU8, Ordering};
use corecast_base::wait::LONGEST_SLEEP;

use crate::facts::{Facts, NodeKind, Order};
use crate::parking::{sleep_if, wake_one};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};
use crate::three_states::{ThreeStates, time_until, wait_and_take};

const FREE: u8 = 0;
const HELD: u8 = 1;
/// Held, and somebody may sleep.
const AWAITED: u8 = 2;

/// A mutex in one byte: spins for about the cost of a wake-up, then sleeps in a table.
///
/// Take it where there are millions of locks, of which few are wanted at a time: beside a flag in a node, say. It never keeps
/// a CPU from the holder for long. An unlock wakes one sleeper, which competes with newcomers (nothing is handed
/// to a thread that does not run). Not where one lock is contended for long: a sleeper takes the mutex of its line in the
/// table twice, and locks may share a line of it. Neighbours in one cache line disturb each other, as any bytes do.
///
/// **Progress:** blocking; a waiter may be overtaken. **Memory ordering:** that of [`RawLock`].
/// Source: U. Drepper, Futexes Are Tricky, 2004, for the states; F. Pizlo, Locking in WebKit, 2016, for sleep beside the lock.
///
/// ```
/// use corecast_lock::{Byte, Mutex};
///
/// let accounts: Vec<Mutex<u8, Byte>> = (0..1_000_000).map(|_| Mutex::from(0)).collect();
/// *accounts[7].lock() += 1;
/// assert_eq!(accounts[7].try_with(|account| *account), Some(1));
/// ```
#[derive(Debug)]
pub struct Byte {
    /// [`FREE`], [`HELD`] or [`AWAITED`]. Written by every thread that wants the lock, and by its holder.
    state: AtomicU8,
}

impl Byte {
    /// By which its sleepers are found.
    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl ThreeStates for Byte {
    #[inline]
    fn looks_free(&self) -> bool {
        // ORDERING: Relaxed, a thread that takes it looks again
        self.state.load(Ordering::Relaxed) == FREE
    }

    #[inline]
    fn take(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [byte-free]
        self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn take_awaited(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock [byte-free]
        self.state.swap(AWAITED, Ordering::Acquire) == FREE
    }

    fn sleep(&self, longest: Duration) {
        // ORDERING: Relaxed, the unlocking thread takes the line's mutex afterwards
        sleep_if(self.address(), longest, || self.state.load(Ordering::Relaxed) == AWAITED);
    }
}

// SAFETY: exactly one swap or exchange finds FREE between two stores of it, which only holders do; Acquire and Release.
unsafe impl RawLock for Byte {
    type Node = ();
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "byte",
        about: "one byte, spins for a while and then sleeps in a table",
        order: Order::Barging,
        node: NodeKind::Nothing,
        parks: true,
        source: "Drepper 2004; Pizlo 2016",
    };

    fn new(_setup: &Setup) -> Self {
        Self { state: AtomicU8::new(FREE) }
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
        // ORDERING: Release, pairs with the Acquire in take and take_awaited [byte-free]
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            wake_one(self.address());
        }
    }
}

// SAFETY: it takes the lock as lock does, or leaves it marked as awaited, which costs its holder a wake-up.
unsafe impl RawTimed for Byte {
    unsafe fn lock_until(&self, node: &(), deadline: Instant) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.try_lock(node) || wait_and_take(self, || time_until(deadline)) }
    }
}

// SAFETY: there is no node.
unsafe impl NodeMoves for Byte {}

#[cfg(not(loom))]
impl RawConst for Byte {
    const INIT: Self = Self { state: AtomicU8::new(FREE) };
}
