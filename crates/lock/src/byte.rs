//! [`Byte`]: when to take it, how it works, and its code.

use std::time::Instant;

use corecast_base::sync::{AtomicU8, Ordering};

use crate::facts::Facts;
use crate::parking::{Awakening, enter, wake_first};
use crate::raw::RawLock;
use crate::three_states::{AWAITED, FREE, HELD, State, ThreeStates, facts};

/// A mutex in one byte: spins for about the cost of a wake-up, then sleeps in a table.
///
/// Take it where there are millions of locks, of which few are wanted at a time: beside a flag in a node, say. It never keeps a
/// CPU from the holder for long. An unlock wakes one sleeper, which competes with newcomers (nothing is handed to a thread that
/// does not run), unless the holder calls `unlock_or_hand_over`. Not where one lock is contended for long:
/// a sleeper takes the mutex of its line in the table twice, and locks may share a line of it. Neighbours in one cache line
/// disturb each other, as any bytes do.
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

    fn sleep(&self, deadline: Option<Instant>) -> bool {
        // ORDERING: Relaxed, the unlocking thread takes the line's mutex afterwards
        let place = enter(address(self), 0, || Self::load(self, Ordering::Relaxed) == AWAITED);
        place.is_some_and(|place| place.sleep(deadline, |_| ()) == Awakening::HandedOver)
    }

    fn wake_one(&self) {
        wake_first(address(self), false);
    }
}

impl Byte {
    /// Frees the lock, or hands it over to the thread that has slept for the longest time, if there is one and `hands_over` says
    /// so. That is asked only if a thread may sleep. The lock is then not free for a moment, and no newcomer overtakes; it rests
    /// until that thread runs.
    ///
    /// # Safety
    /// - As of [`RawLock::unlock`].
    #[inline]
    pub unsafe fn unlock_or_hand_over(&self, hands_over: impl FnOnce() -> bool) {
        // ORDERING: Release, pairs with the Acquire in take and take_awaited; Relaxed where it fails, as nothing was freed
        // [three-free]
        if !self.state.exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed) {
            self.unlock_awaited(hands_over());
        }
    }

    /// Frees the lock that is held and awaited, or hands it over. It stays marked for the others that sleep.
    #[cold]
    fn unlock_awaited(&self, hands_over: bool) {
        if !(hands_over && wake_first(self.address(), true)) {
            // SAFETY: the caller holds the lock.
            unsafe { self.unlock(&()) };
        }
    }

    /// True if a thread may wait for it asleep, as far as this one has seen.
    #[inline]
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        // ORDERING: Relaxed, it publishes nothing
        self.state.load(Ordering::Relaxed) == AWAITED
    }

    /// Says that a thread sleeps, if the lock is held. The caller has the mutex of this lock's line, in which that thread lies:
    /// so the holder finds it when it frees the lock.
    pub(crate) fn mark_awaited(&self) -> bool {
        // ORDERING: Relaxed, the mark publishes nothing
        self.state.exchange(HELD, AWAITED, Ordering::Relaxed, Ordering::Relaxed) || self.is_awaited()
    }

    /// The address by which its sleepers are found.
    pub(crate) fn address(&self) -> usize {
        address(&self.state)
    }
}

fn address(state: &AtomicU8) -> usize {
    std::ptr::from_ref(state).addr()
}
