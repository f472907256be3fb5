//! The wait at a lock that is free, held, or held and awaited, wherever its threads sleep.
//!
//! A newcomer spins for about as long as a wake-up costs, marks the lock as awaited, and sleeps. Unlocking a lock that is
//! marked wakes one sleeper, which competes with newcomers: nothing is handed to a thread that does not run.
//!
//! Source: U. Drepper, Futexes Are Tricky, 2004 (the third mutex).

use std::time::{Duration, Instant};

use corecast_base::wait::Spinner;

/// No time passes in a model, which would never see a thread go to sleep.
pub(crate) const IS_MODEL: bool = cfg!(loom);

/// A lock with these states.
pub(crate) trait ThreeStates {
    /// Whether it was free a moment ago.
    fn looks_free(&self) -> bool;

    /// Makes it held if it is free.
    fn take(&self) -> bool;

    /// Makes it held and awaited; true if it was free.
    fn take_awaited(&self) -> bool;

    /// Sleeps while it is awaited, until it is freed, but not for longer; may also return early for no reason.
    fn sleep(&self, longest: Duration);
}

/// Waits until the lock is free and takes it; `left` tells for how long a sleep may last, `None` to give up.
///
/// A waiter that gives up leaves the lock marked. That costs its holder a wake-up: of another sleeper, or of nobody.
#[cold]
pub(crate) fn wait_and_take(lock: &impl ThreeStates, left: impl Fn() -> Option<Duration>) -> bool {
    let mut spinner = Spinner::new();
    loop {
        if lock.looks_free() && lock.take() {
            return true;
        }
        if left().is_none() {
            return false;
        }
        if IS_MODEL || spinner.is_spent() {
            break;
        }
        spinner.pause();
    }
    // A thread that may have slept cannot know whether others do, so it holds the lock as one that is awaited. It looks
    // once more before it gives up: it may have been woken in the place of another.
    while !lock.take_awaited() {
        let Some(longest) = left() else { return false };
        lock.sleep(longest);
    }
    true
}

/// The time until then; `None` when that has come.
pub(crate) fn time_until(deadline: Instant) -> Option<Duration> {
    Some(deadline.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}
