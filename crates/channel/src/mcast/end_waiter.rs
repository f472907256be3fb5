//! Waiting, and checking meanwhile whether the other ends are alive.

use std::cell::Cell;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::wait::{SleepPlace, Waiter};

use super::reap::reap;
use super::ring::{Ring, Slots};
use super::room::NoRoom;

/// The time between two checks by one end. Each costs a system call for every line that is held.
const INTERVAL: Duration = Duration::from_millis(1);

/// The waiting of one end.
#[derive(Debug, Clone)]
pub(super) struct EndWaiter {
    waiter: Waiter,
    /// The time of its last check, in ticks.
    looked: u64,
}

/// The time limit of a wait has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimedOut;

impl EndWaiter {
    pub(super) fn of<S: Slots>(ring: &Ring<S>) -> Self {
        Self { waiter: ring.waiter(), looked: 0 }
    }

    pub(super) fn waiter(&self) -> &Waiter {
        &self.waiter
    }

    /// Waits until `look` finds something, for at most `timeout`. Another end wakes `place` when it may.
    ///
    /// # Errors
    /// [`TimedOut`].
    pub(super) fn until<S: Slots, R>(
        &mut self,
        ring: &Ring<S>,
        place: &dyn SleepPlace,
        timeout: Option<Duration>,
        mut look: impl FnMut() -> Result<R, NoRoom>,
    ) -> Result<R, TimedOut> {
        let Self { waiter, looked } = self;
        let patience = Cell::new(Duration::MAX);
        let found = || look().map_err(|no_room| patience.set(no_room.patience)).ok();
        waiter.until(place, found, |waited| {
            reap_if_due(ring, looked);
            let left = timeout.map_or(Duration::MAX, |timeout| timeout.saturating_sub(waited));
            if left.is_zero() { Err(TimedOut) } else { Ok(left.min(ring.owners.longest_nap()).min(patience.get())) }
        })
    }

    /// Cleans up after the dead, if a check is due.
    #[inline]
    pub(super) fn reap_if_due<S: Slots>(&mut self, ring: &Ring<S>) {
        reap_if_due(ring, &mut self.looked);
    }
}

#[inline]
fn reap_if_due<S: Slots>(ring: &Ring<S>, looked: &mut u64) {
    if ring.owners.may_die() {
        reap_region(ring, looked);
    }
}

#[cold]
fn reap_region<S: Slots>(ring: &Ring<S>, looked: &mut u64) {
    let clock = Clock::get();
    let now = clock.ticks();
    if now.wrapping_sub(*looked) > clock.ticks_in(INTERVAL) {
        *looked = now;
        reap(ring);
    }
}
