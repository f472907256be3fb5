//! Waiters to borrow: making one reads the limits of the control group, which takes longer than a write.

use std::sync::{Mutex, PoisonError};

use corecast_base::wait::{CpuSharing, Wait, WaitCounts, Waiter};

/// The waiters of a node that no thread uses at the moment.
#[derive(Debug)]
pub struct Waiters {
    policy: Wait,
    sharing: CpuSharing,
    idle: Mutex<Vec<Waiter>>,
}

impl Waiters {
    /// Waiters of participants that wait as `policy` says.
    #[must_use]
    pub fn new(policy: Wait, sharing: CpuSharing) -> Self {
        Self { policy, sharing, idle: Mutex::default() }
    }

    /// Runs `wait` with a waiter that no other thread uses.
    pub fn with<R>(&self, wait: impl FnOnce(&mut Waiter) -> R) -> R {
        let idle = self.lock().pop();
        let mut waiter = idle.unwrap_or_else(|| Waiter::new(self.policy, self.sharing.clone(), None));
        let result = wait(&mut waiter);
        self.lock().push(waiter);
        result
    }

    /// The counts of all waits that have ended.
    #[must_use]
    pub fn counts(&self) -> WaitCounts {
        let mut counts = WaitCounts::default();
        self.lock().iter().for_each(|waiter| counts += waiter.counts());
        counts
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Waiter>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
