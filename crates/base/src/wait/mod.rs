//! Waiting that is fast where each thread has a CPU, and goes on where there are more threads than CPUs.
//!
//! - [`Wait`]: the policy a user chooses;
//! - [`Waiter`]: the waiting of one participant, and what it has learnt so far;
//! - [`Spinner`]: one wait of a thread that is no participant, as at a lock;
//! - [`WakeWord`]: the word that a waiter sleeps on and a publisher wakes;
//! - [`Parker`]: the place where a thread sleeps that waits on several words;
//! - [`CpuSharing`]: whether the participants have a CPU each.
//!
//! Every polling loop of corecast goes through [`Waiter::until`]. It spins for about as long as putting the thread to sleep
//! and waking it would cost (which is never worse than twice the best choice made with foresight), and less while spinning
//! does not pay. With more participants than CPUs it does not spin at all: the thread it waits for may need this very CPU,
//! so the waiter yields. A waiter yields only where another participant may be on its CPU, and only while yields come back
//! soon: beside a foreign thread one yield costs milliseconds. Then it sleeps. `docs/design/waiting.md` has the states,
//! what each costs, and the measurements behind them.
//!
//! The [front page](crate) has a waiter that sleeps. A thread that waits once, and cannot sleep, spins:
//!
//! ```
//! use corecast_base::sync::{AtomicBool, Ordering};
//! use corecast_base::wait::Spinner;
//!
//! let is_ready = AtomicBool::new(false);
//! std::thread::scope(|scope| {
//!     // ORDERING: Release, pairs with the Acquire of the waiter [example]
//!     scope.spawn(|| is_ready.store(true, Ordering::Release));
//!     let mut spinner = Spinner::new();
//!     // ORDERING: Acquire, pairs with the Release of the writer [example]
//!     while !is_ready.load(Ordering::Acquire) {
//!         spinner.pause();
//!     }
//! });
//! ```

mod affinity;
mod budget;
mod cpu_sharing;
#[cfg_attr(simulated, path = "host_limits_virtual.rs")]
mod host_limits;
mod parker;
mod policy;
mod process_parkers;
#[cfg(not(loom))]
mod slow_yields;
mod spinner;
mod switches;
mod waiter;
mod wake_word;
mod yields;

#[cfg(not(loom))]
pub(crate) use affinity::AFFINITY_WORDS;
pub use affinity::Affinity;
pub use budget::ASSUMED_WAKE_COST;
pub use cpu_sharing::{CpuSharing, ParticipantCount};
pub use parker::Parker;
pub use policy::{UnknownWait, Wait};
pub use process_parkers::Parkers;
pub use spinner::Spinner;
pub use waiter::{LONGEST_SLEEP, WaitCounts, Waiter};
pub use wake_word::{WakeCell, WakeWord};

/// A model's run must not depend on the machine.
#[cfg(loom)]
mod slow_yields {
    pub(super) fn are_expected_here(_now: u64) -> bool {
        false
    }

    pub(super) fn learn_here(_before: u64, _now: u64) {}
}

use std::time::Duration;

/// A place where a waiter sleeps when polling has not helped.
pub trait SleepPlace {
    /// Calls `has_come` once more, and sleeps for at most `longest` if it says no. Returns `None` if it said yes, else the
    /// way the sleep ended; what the waiter waits for may have come meanwhile.
    fn sleep_unless(&self, longest: Duration, has_come: &mut dyn FnMut() -> bool) -> Option<SleepOutcome>;
}

/// The way a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SleepOutcome {
    /// A publisher woke the sleeper.
    Woken,
    /// The time was up, or the sleep ended for no reason.
    TimedOut,
}

impl SleepOutcome {
    /// The outcome of a sleep during which a publisher woke the sleeper, or not.
    #[must_use]
    pub fn of(was_woken: bool) -> Self {
        if was_woken { Self::Woken } else { Self::TimedOut }
    }
}
