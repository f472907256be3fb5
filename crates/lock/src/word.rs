//! [`Word`]: when to take it, how it works, and its code.

use std::time::Instant;

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::LONGEST_SLEEP;

use crate::facts::Facts;
use crate::three_states::{AWAITED, State, ThreeStates, facts, time_until};

/// A mutex in one word: spins for about the cost of a wake-up, then sleeps.
///
/// Take it where there may be more threads than CPUs, or sections are long: it never keeps a CPU from the holder for
/// long. An unlock wakes one sleeper, which competes with newcomers (nothing is handed to a thread that does
/// not run). Not where order matters.
///
/// **Progress:** blocking; a waiter may be overtaken. **Memory ordering:** that of [`RawLock`](crate::RawLock).
/// Source: U. Drepper, Futexes Are Tricky, 2004 (the third mutex).
pub type Word = ThreeStates<AtomicU32>;

impl State for AtomicU32 {
    const FACTS: Facts = facts("word", "one word, spins for a while and then sleeps", "Drepper 2004");
    #[cfg(not(loom))]
    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a state of its own")]
    const INIT: Self = Self::new(0);

    fn of(state: u8) -> Self {
        Self::new(state.into())
    }

    #[inline]
    fn load(&self, order: Ordering) -> u8 {
        Self::load(self, order) as u8
    }

    #[inline]
    fn exchange(&self, from: u8, to: u8, success: Ordering, failure: Ordering) -> bool {
        self.compare_exchange(from.into(), to.into(), success, failure).is_ok()
    }

    #[inline]
    fn swap(&self, to: u8, order: Ordering) -> u8 {
        Self::swap(self, to.into(), order) as u8
    }

    fn sleep(&self, deadline: Option<Instant>) -> bool {
        if let Some(longest) = deadline.map_or(Some(LONGEST_SLEEP), time_until) {
            futex_wait(self, AWAITED.into(), longest, Scope::Process);
        }
        false
    }

    fn wake_one(&self) {
        futex_wake(self, 1, Scope::Process);
    }
}
