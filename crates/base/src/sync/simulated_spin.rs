//! Polling loops that a simulated machine sleeps through, and the times at which they do something else.

use std::time::Duration;

use corecast_sim_core::{Thread, with_current};

use super::simulated::nanoseconds;

/// The time at which a polling loop does something else, in nanoseconds of virtual time; outside of a run it never comes.
#[derive(Debug, Clone, Copy)]
pub struct SpinEnd(u64);

impl SpinEnd {
    /// At a time of the clock, in ticks, which are nanoseconds here.
    pub fn at(ticks: impl FnOnce() -> u64) -> Self {
        Self(with_current(|thread| thread.map_or(u64::MAX, |_| ticks())))
    }

    /// After this time from now on.
    pub fn after(time: Duration) -> Self {
        let now = with_current(|thread| thread.map_or(u64::MAX, Thread::clock_ns));
        Self(now.saturating_add(nanoseconds(time)))
    }

    /// True once the time has come.
    pub fn has_come(self) -> bool {
        with_current(|thread| thread.is_some_and(|thread| thread.clock_ns() >= self.0))
    }
}

/// Lets a loop that is slept through go on at this time.
pub fn spin_until(end: SpinEnd) {
    with_current(|thread| thread.into_iter().for_each(|thread| thread.poll_until_ns(end.0)));
}
