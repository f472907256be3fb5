//! Waiters to borrow: making one reads the limits of the control group, which takes longer than a write.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use corecast_base::wait::{CpuSharing, Wait, WaitCounts, Waiter};

/// The waiters of a node that no thread uses at the moment.
#[derive(Debug)]
pub struct Waiters {
    policy: Wait,
    sharing: CpuSharing,
    /// The time for which they spin before they sleep where participants have a CPU each; zero for as long as spinning pays.
    patience: Duration,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    waiters: Vec<Waiter>,
    /// Of all waits that have ended.
    counts: WaitCounts,
}

impl Waiters {
    /// Waiters of participants that wait as `policy` says.
    #[must_use]
    pub fn new(policy: Wait, sharing: CpuSharing) -> Self {
        Self { policy, sharing, patience: Duration::ZERO, idle: Mutex::default() }
    }

    /// The same, but each spins for this long before it sleeps: see [`Waiter::spinning_before_sleep`].
    #[must_use]
    pub fn spinning_before_sleep(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs `wait` with a waiter that no other thread uses.
    pub fn with<R>(&self, wait: impl FnOnce(&mut Waiter) -> R) -> R {
        let idle = self.lock().waiters.pop();
        let mut waiter = idle.unwrap_or_else(|| {
            Waiter::new(self.policy, self.sharing.clone(), None).spinning_before_sleep(self.patience)
        });
        let before = waiter.counts();
        let result = wait(&mut waiter);
        let mut idle = self.lock();
        idle.counts += waiter.counts() - before;
        idle.waiters.push(waiter);
        result
    }

    /// The counts of all waits that have ended.
    #[must_use]
    pub fn counts(&self) -> WaitCounts {
        self.lock().counts
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use corecast_base::wait::WakeWord;

    use super::*;

    #[test]
    fn a_wait_counts_once_it_has_ended_whoever_else_waits() {
        let (waiters, word) = (Waiters::new(Wait::Yield, CpuSharing::unpinned(1)), WakeWord::new(Wait::Yield));
        let check = |waited: Duration| if waited.is_zero() { Ok(Duration::from_millis(1)) } else { Err(()) };
        let wait = |waiter: &mut Waiter| waiter.until(&word, || None::<()>, check);
        assert_eq!(waiters.with(wait), Err(()));
        let once = waiters.counts();
        assert!(once.yields > 0, "{once:?}");
        waiters.with(|_| {
            assert_eq!(waiters.counts(), once, "a waiter that is in use takes nothing away");
            assert_eq!(waiters.with(wait), Err(()));
            assert!(waiters.counts().yields > once.yields);
        });
    }
}
