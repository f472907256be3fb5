//! [`Byte`]: when to take it, how it works, and its code.

use std::time::Duration;

use corecast_base::sync::{AtomicU8, Ordering};

use crate::facts::Facts;
use crate::parking::{sleep_if, wake_one};
use crate::three_states::{AWAITED, State, ThreeStates, facts};

/// A mutex in one byte: spins for about the cost of a wake-up, then sleeps in a table.
///
/// Take it where there are millions of locks, of which few are wanted at a time: beside a flag in a node, say. It never keeps
/// a CPU from the holder for long. An unlock wakes one sleeper, which competes with newcomers (nothing is handed
/// to a thread that does not run). Not where one lock is contended for long: a sleeper takes the mutex of its line in the
/// table twice, and locks may share a line of it. Neighbours in one cache line disturb each other, as any bytes do.
///
/// **Progress:** blocking; a waiter may be overtaken. **Memory ordering:** that of [`RawLock`](crate::RawLock).
/// Source: U. Drepper, Futexes Are Tricky, 2004, for the states; F. Pizlo, Locking in WebKit, 2016, for sleep beside the lock.
///
/// ```
/// use corecast_lock::{Byte, Mutex};
///
/// let accounts: Vec<Mutex<u8, Byte>> = (0..1_000_000).map(|_| Mutex::from(0)).collect();
/// *accounts[7].lock() += 1;
/// assert_eq!(accounts[7].try_with(|account| *account), Some(1));
/// ```
pub type Byte = ThreeStates<AtomicU8>;

impl State for AtomicU8 {
    const FACTS: Facts =
        facts("byte", "one byte, spins for a while and then sleeps in a table", "Drepper 2004; Pizlo 2016");
    #[cfg(not(loom))]
    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a state of its own")]
    const INIT: Self = Self::new(0);

    fn of(state: u8) -> Self {
        Self::new(state)
    }

    #[inline]
    fn load(&self, order: Ordering) -> u8 {
        Self::load(self, order)
    }

    #[inline]
    fn exchange(&self, from: u8, to: u8, success: Ordering, failure: Ordering) -> bool {
        self.compare_exchange(from, to, success, failure).is_ok()
    }

    #[inline]
    fn swap(&self, to: u8, order: Ordering) -> u8 {
        Self::swap(self, to, order)
    }

    fn sleep(&self, longest: Duration) {
        // ORDERING: Relaxed, the unlocking thread takes the line's mutex afterwards
        sleep_if(address(self), longest, || Self::load(self, Ordering::Relaxed) == AWAITED);
    }

    fn wake_one(&self) {
        wake_one(address(self));
    }
}

/// The address by which the sleepers of a lock are found.
fn address(state: &AtomicU8) -> usize {
    std::ptr::from_ref(state).addr()
}
