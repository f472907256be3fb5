//! Whether the participants of a channel or group have a CPU each.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Affinity;
use super::host_limits::{allowed_cpus, quota};
use crate::clock::Clock;

/// The participants that may want the CPUs on which this thread runs, and those CPUs.
///
/// Masks and quotas change under a running program (`taskset`, container limits), so a waiter looks again once a second.
#[derive(Debug, Clone)]
pub struct CpuSharing {
    participants: usize,
    placement: Placement,
    is_oversubscribed: bool,
    shares_cpus: bool,
    is_alone_here: bool,
    looked: u64,
}

#[derive(Debug, Clone)]
enum Placement {
    /// Any CPU of the process.
    Anywhere,
    /// One CPU, to which this many participants are pinned.
    SharedBy(usize),
    /// As many CPUs as the caller has counted.
    Among(usize),
    /// The CPUs that each participant has declared.
    Declared(Arc<dyn ParticipantCount>),
}

/// Participants that come and go, and have declared where they may run.
pub trait ParticipantCount: fmt::Debug + Send + Sync {
    /// The number of participants, the caller included, that may run on these CPUs only.
    fn confined_to(&self, cpus: &Affinity) -> usize;
}

impl CpuSharing {
    /// `participants` threads that may run on any CPU of this process.
    #[must_use]
    pub fn unpinned(participants: usize) -> Self {
        Self::new(participants, Placement::Anywhere)
    }

    /// `participants` threads each pinned to one CPU; `here` of them, this one included, to the CPU of this one.
    #[must_use]
    pub fn pinned(participants: usize, here: usize) -> Self {
        Self::new(participants, Placement::SharedBy(here))
    }

    /// `participants` threads on `cpus` CPUs, as the caller has counted them. The system is never asked, for threads that
    /// may open no file where they wait: neither a quota nor a mask that changes is looked at.
    #[must_use]
    pub fn among(participants: usize, cpus: usize) -> Self {
        Self::new(participants, Placement::Among(cpus))
    }

    /// The participants that `others` counts. This thread is oversubscribed if the participants that cannot run elsewhere
    /// outnumber the CPUs that it may run on. One participant pinned to each of two CPUs is not oversubscription, and
    /// neither is one beside another that may move away.
    #[must_use]
    pub fn of(others: Arc<dyn ParticipantCount>) -> Self {
        Self::new(0, Placement::Declared(others))
    }

    fn new(participants: usize, placement: Placement) -> Self {
        let mut sharing = Self {
            participants,
            placement,
            is_oversubscribed: false,
            shares_cpus: false,
            is_alone_here: false,
            looked: 0,
        };
        sharing.look();
        sharing
    }

    /// True if some participant may have to wait for a CPU, so that a spinning thread could keep away the one it waits for.
    #[inline]
    #[must_use]
    pub fn is_oversubscribed(&self) -> bool {
        self.is_oversubscribed
    }

    /// True if some participant may have to wait until another one gives up a CPU. Participants that only a quota limits
    /// run on a CPU each until its time is used up.
    #[inline]
    pub(super) fn shares_cpus(&self) -> bool {
        self.shares_cpus
    }

    /// True if no other participant can be on this thread's CPU, so that giving it up helps strangers only.
    #[inline]
    #[must_use]
    pub(super) fn is_alone_here(&self) -> bool {
        self.is_alone_here
    }

    /// Reads mask and quota again if the last look is over a second old.
    pub(super) fn look_again(&mut self, now: u64) {
        let is_known = matches!(self.placement, Placement::Among(_));
        if !is_known && now.saturating_sub(self.looked) > Clock::get().ticks_in(Duration::from_secs(1)) {
            self.look();
        }
    }

    fn look(&mut self) {
        self.looked = Clock::get().ticks();
        self.shares_cpus = match &self.placement {
            Placement::Anywhere => allowed_cpus().is_some_and(|cpus| self.participants > cpus),
            Placement::SharedBy(here) => *here > 1,
            Placement::Among(cpus) => self.participants > *cpus,
            Placement::Declared(others) => {
                let mine = Affinity::of_this_thread();
                self.participants = others.confined_to(&mine);
                self.participants > mine.count()
            }
        };
        self.is_alone_here = match &self.placement {
            Placement::Anywhere | Placement::Among(_) => self.participants < 2,
            Placement::SharedBy(here) => *here < 2,
            Placement::Declared(_) => self.participants < 2 && Affinity::of_this_thread().count() == 1,
        };
        self.is_oversubscribed = self.shares_cpus || self.is_over_quota();
    }

    /// True if a quota allows the participants less than a CPU each.
    fn is_over_quota(&self) -> bool {
        let is_known = matches!(self.placement, Placement::Among(_));
        !is_known && quota().is_some_and(|quota| self.participants as f64 > quota)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_participants_than_cpus_are_oversubscribed() {
        assert!(CpuSharing::unpinned(1 << 20).is_oversubscribed());
    }

    #[test]
    fn two_on_one_cpu_are_oversubscribed_and_two_on_two_are_not() {
        assert!(CpuSharing::pinned(2, 2).is_oversubscribed());
        assert_eq!(CpuSharing::pinned(2, 1).is_oversubscribed(), quota().is_some_and(|quota| quota < 2.0));
    }

    #[test]
    fn participants_that_were_counted_are_oversubscribed_if_they_outnumber_the_cpus() {
        let [fit, exceed] = [2, 3].map(|participants| CpuSharing::among(participants, 2));
        assert!(!fit.is_oversubscribed() && !fit.is_alone_here());
        assert!(exceed.is_oversubscribed() && exceed.shares_cpus());
    }

    #[derive(Debug)]
    struct Confined(usize);

    impl ParticipantCount for Confined {
        fn confined_to(&self, _: &Affinity) -> usize {
            self.0
        }
    }

    #[test]
    fn confined_participants_are_oversubscribed_if_they_outnumber_their_cpus() {
        let cpus = Affinity::of_this_thread().count();
        assert!(CpuSharing::of(Arc::new(Confined(cpus + 1))).is_oversubscribed());
        assert_eq!(CpuSharing::of(Arc::new(Confined(1))).is_oversubscribed(), quota().is_some_and(|quota| quota < 1.0));
    }

    #[test]
    fn one_participant_is_oversubscribed_only_below_a_quota_of_one() {
        assert_eq!(CpuSharing::unpinned(1).is_oversubscribed(), quota().is_some_and(|quota| quota < 1.0));
    }
}
