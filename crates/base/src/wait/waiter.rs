//! One participant's waiting: poll, spin, yield, sleep.

use std::fmt;
use std::ops::{AddAssign, Sub};
use std::time::Duration;

use super::budget::{ASSUMED_WAKE_COST, SpinBudget};
use super::slow_yields::are_expected_here;
use super::switches::switches;
use super::yields::Yields;
use super::{CpuSharing, SleepOutcome, SleepPlace, Wait};
use crate::clock::Clock;
use crate::sync::{SpinEnd, spin_hint, spin_until, yield_now};

/// The longest sleep of a waiter without a look around. It bounds the cost of a lost wake-up or a vanished peer.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// The polls before the clock is read for the first time, about 1 us. A healthy exchange between two cores needs no more.
const QUICK_POLLS: u32 = 64;
const QUICK: Duration = Duration::from_micros(1);
/// The polls between two looks at the clock.
const POLLS_PER_LOOK: u32 = 16;
const LOOK: Duration = Duration::from_nanos(300);
/// The yields before sleeping where spinning was in vain although no CPU seems to be shared: two unpinned participants may
/// be on one CPU all the same.
const YIELDS_ALONE: u32 = 4;
/// The yields before sleeping where participants share CPUs: a barrier needs about one yield for each participant per CPU.
const YIELDS_WHEN_SHARED: u32 = 16;

/// Says whether what a waiter waits for has come.
type Poll<'a> = &'a mut dyn FnMut() -> bool;
/// The longest sleep after the time waited so far; `None` ends the wait.
type Check<'a> = &'a mut dyn FnMut(Duration) -> Option<Duration>;

/// The number of times a waiter spun, yielded and slept. Quick polls are not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitCounts {
    /// Waits that outlasted the quick polls.
    pub long_waits: u64,
    /// Polls while spinning.
    pub spins: u64,
    /// Times the CPU was given up.
    pub yields: u64,
    /// Times the thread went to sleep.
    pub parks: u64,
    /// Times a publisher woke it before its sleep was over.
    pub wakes: u64,
    /// Times it asked the system whether another thread had run on its CPU.
    pub asks: u64,
}

impl AddAssign for WaitCounts {
    fn add_assign(&mut self, other: Self) {
        self.long_waits += other.long_waits;
        self.spins += other.spins;
        self.yields += other.yields;
        self.parks += other.parks;
        self.wakes += other.wakes;
        self.asks += other.asks;
    }
}

impl Sub for WaitCounts {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            long_waits: self.long_waits - other.long_waits,
            spins: self.spins - other.spins,
            yields: self.yields - other.yields,
            parks: self.parks - other.parks,
            wakes: self.wakes - other.wakes,
            asks: self.asks - other.asks,
        }
    }
}

/// Waits on behalf of one participant, and remembers whether spinning and yielding pay here.
///
/// Not shared between threads: each participant has its own.
#[derive(Clone)]
pub struct Waiter {
    policy: Wait,
    sharing: CpuSharing,
    budget: SpinBudget,
    yields: Yields,
    /// The time for which it spins before it sleeps, after yields that did not help, in ticks.
    patience: u64,
    counts: WaitCounts,
}

impl Waiter {
    /// A waiter for one of the participants of `sharing`; `wake_cost` is the cost of a sleep and wake-up on this machine,
    /// `None` where it has not been measured.
    #[must_use]
    pub fn new(policy: Wait, sharing: CpuSharing, wake_cost: Option<Duration>) -> Self {
        let budget = SpinBudget::new(wake_cost.unwrap_or(ASSUMED_WAKE_COST));
        Self { policy, sharing, budget, yields: Yields::default(), patience: 0, counts: WaitCounts::default() }
    }

    /// Spins for up to this long before it sleeps, where its participants have a CPU each. For waits in place of a runtime's that
    /// spins: beside a foreign thread that wants the CPU a sleeper gets it back after the foreign one's slice, 3 ms on current
    /// kernels, while a spinning thread has it for its own slice.
    #[must_use]
    pub fn spinning_before_sleep(mut self, patience: Duration) -> Self {
        self.patience = Clock::get().ticks_in(patience);
        self
    }

    /// Tells whether its participants have a CPU each.
    #[must_use]
    pub fn cpu_sharing(&self) -> &CpuSharing {
        &self.sharing
    }

    /// The number of times this waiter has spun, yielded and slept so far.
    #[must_use]
    pub fn counts(&self) -> WaitCounts {
        self.counts
    }

    /// Returns what `poll` finds, as soon as it finds something. While it does not, `check` is called now and then with the
    /// time waited so far: its error ends the wait, its value bounds the next sleep. A publisher of what `poll` or `check`
    /// looks for must wake `place` afterwards (as [`WakeWord::notify`](super::WakeWord::notify) does).
    ///
    /// # Errors
    /// Only what `check` returns.
    #[inline]
    pub fn until<T, E>(
        &mut self,
        place: &dyn SleepPlace,
        mut poll: impl FnMut() -> Option<T>,
        check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<T, E> {
        if let Some(found) = poll() {
            return Ok(found);
        }
        if self.spins_first() {
            let end = SpinEnd::after(QUICK);
            for _ in 0..QUICK_POLLS {
                spin_until(end);
                spin_hint();
                if let Some(found) = poll() {
                    // The publisher runs, so a spin may pay again in the next longer wait.
                    self.budget.learn(true);
                    return Ok(found);
                }
                if end.has_come() {
                    break;
                }
            }
        }
        self.until_slow(place, poll, check)
    }

    #[inline]
    fn spins_first(&self) -> bool {
        match self.policy {
            Wait::Spin => true,
            Wait::Adaptive => !self.sharing.shares_cpus() && !self.yields.expect_peer_here(),
            Wait::Yield | Wait::Park => false,
        }
    }

    /// The rest of [`until`](Self::until), once for each kind of `poll`.
    #[cold]
    fn until_slow<T, E>(
        &mut self,
        place: &dyn SleepPlace,
        mut poll: impl FnMut() -> Option<T>,
        mut check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<T, E> {
        let (mut found, mut failure) = (None, None);
        let mut has_come = || {
            found = poll();
            found.is_some()
        };
        let mut longest_sleep = |waited| check(waited).map_err(|error| failure = Some(error)).ok();
        self.outlast(place, &mut has_come, &mut longest_sleep);
        match (found, failure) {
            (Some(found), _) => Ok(found),
            (None, Some(error)) => Err(error),
            (None, None) => unreachable!("a wait ends only when something was found or a check failed"),
        }
    }

    /// Spins, yields and sleeps until `poll` says that something has come, or `check` says by `None` that the wait is over.
    ///
    /// Compiled once for all waits: a call by pointer for each poll is lost in a wait that has outlasted the quick polls, and
    /// one copy of these loops for every wait was the largest part of the code of groups and channels.
    fn outlast(&mut self, place: &dyn SleepPlace, poll: Poll<'_>, check: Check<'_>) {
        let start = Clock::get().ticks();
        self.counts.long_waits += 1;
        self.yields.forget(start);
        let is_over = match self.spin_ticks() {
            0 => self.yield_some(start, start, poll, check),
            budget => {
                self.spin(start, budget, poll, check) || self.yield_some(start, Clock::get().ticks(), poll, check)
            }
        };
        if is_over || self.endure(start, poll, check) {
            return;
        }
        self.sleep(start, place, poll, check);
        if self.sharing.is_alone_here() {
            self.budget.learn_from_sleep(Clock::get().ticks().saturating_sub(start));
        }
    }

    /// Spins on before it sleeps; true if the wait is over.
    fn endure(&mut self, start: u64, poll: Poll<'_>, check: Check<'_>) -> bool {
        let spins_on = self.policy == Wait::Adaptive && self.patience > 0 && !self.sharing.is_oversubscribed();
        spins_on && self.spin_until(start, self.patience, poll, check)
    }

    /// True if the wait is over.
    fn spin(&mut self, start: u64, budget: u64, poll: Poll<'_>, check: Check<'_>) -> bool {
        let mut was_found = false;
        let mut poll = || {
            was_found = poll();
            was_found
        };
        let is_over = self.spin_until(start, budget, &mut poll, check);
        if was_found || !is_over {
            self.budget.learn(was_found);
        }
        is_over
    }

    /// Spins until the wait has lasted for `budget` ticks; true if it is over before.
    fn spin_until(&mut self, start: u64, budget: u64, poll: Poll<'_>, check: Check<'_>) -> bool {
        let clock = Clock::get();
        let mut waited = 0;
        let mut end = SpinEnd::after(LOOK);
        while waited < budget {
            for _ in 0..POLLS_PER_LOOK {
                spin_until(end);
                spin_hint();
                self.counts.spins += 1;
                if poll() {
                    return true;
                }
                if end.has_come() {
                    break;
                }
            }
            waited = clock.ticks().saturating_sub(start);
            let Some(longest) = check(clock.duration(waited)) else { return true };
            end = SpinEnd::at(|| start.saturating_add(budget.min(waited.saturating_add(clock.ticks_in(longest)))));
        }
        false
    }

    fn spin_ticks(&self) -> u64 {
        match self.policy {
            Wait::Spin => u64::MAX,
            Wait::Adaptive if self.spins_first() && !self.sharing.is_oversubscribed() => {
                self.budget.ticks(self.sharing.is_alone_here())
            }
            Wait::Adaptive | Wait::Yield | Wait::Park => 0,
        }
    }

    /// True if the wait is over.
    fn yield_some(&mut self, start: u64, now: u64, poll: Poll<'_>, check: Check<'_>) -> bool {
        let clock = Clock::get();
        let mut before = now;
        let most = self.most_yields(are_expected_here(before));
        // The question whether another participant runs here is asked only where nothing else tells.
        let asks = most == Some(YIELDS_ALONE);
        let switches_before = if asks { self.ask() } else { 0 };
        let mut yields = 0;
        while most.is_none_or(|most| yields < most) {
            yield_now();
            let now = clock.ticks();
            yields = yields.wrapping_add(1);
            self.counts.yields += 1;
            let goes_on = self.policy == Wait::Yield || self.yields.ended(before, now);
            if poll() {
                let is_peer_here = goes_on && asks && self.ask() > switches_before;
                self.found_by_a_yield(now, goes_on, is_peer_here);
                return true;
            }
            if check(clock.duration(now.saturating_sub(start))).is_none() {
                return true;
            }
            if !goes_on {
                break;
            }
            before = now;
        }
        false
    }

    /// The number of times that the system has given this CPU to another thread.
    fn ask(&mut self) -> u64 {
        self.counts.asks += 1;
        switches()
    }

    /// Takes in a yield that ended the wait, and came back soon or not, perhaps from a participant on this CPU.
    fn found_by_a_yield(&mut self, now: u64, was_quick: bool, is_peer_here: bool) {
        if was_quick {
            self.yields.saved_a_sleep();
        }
        if is_peer_here {
            self.yields.found_peer_here(now);
        }
    }

    /// The number of yields a wait may make before it sleeps, where yields are expected to be slow or not; `None` if it
    /// never sleeps.
    fn most_yields(&self, are_slow: bool) -> Option<u32> {
        match self.policy {
            Wait::Yield => None,
            Wait::Spin | Wait::Park => Some(0),
            Wait::Adaptive if are_slow => Some(0),
            Wait::Adaptive if self.sharing.is_oversubscribed() || self.yields.expect_peer_here() => {
                Some(YIELDS_WHEN_SHARED)
            }
            Wait::Adaptive if self.sharing.is_alone_here() => Some(0),
            Wait::Adaptive => Some(YIELDS_ALONE),
        }
    }

    /// Returns when the wait is over.
    fn sleep(&mut self, start: u64, place: &dyn SleepPlace, poll: Poll<'_>, check: Check<'_>) {
        let clock = Clock::get();
        loop {
            let now = clock.ticks();
            let waited = clock.duration(now.saturating_sub(start));
            let Some(longest) = check(waited) else { return };
            self.sharing.look_again(now);
            // Publishers wake the sleeper for what `check` looks for as they do for messages, so the last look is for both.
            let mut is_over = || poll() || check(waited).is_none();
            let Some(outcome) = place.sleep_unless(longest.min(LONGEST_SLEEP), &mut is_over) else { return };
            self.counts.parks += 1;
            self.counts.wakes += u64::from(outcome == SleepOutcome::Woken);
            // Before this thread announces itself once more, which costs the next publisher a system call.
            if poll() {
                return;
            }
        }
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Waiter({})", self.policy)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WakeWord;
    use super::*;
    use crate::sync::{Arc, AtomicU32, Ordering};

    fn waiter(policy: Wait) -> Waiter {
        Waiter::new(policy, CpuSharing::unpinned(2), None)
    }

    #[test]
    fn every_policy_sees_the_words_of_another_thread() {
        for policy in Wait::ALL {
            let shared = Arc::new((WakeWord::new(policy), AtomicU32::new(0)));
            let theirs = Arc::clone(&shared);
            let publisher = std::thread::spawn(move || {
                for round in 1..=100 {
                    while theirs.1.load(Ordering::Relaxed) % 2 != 0 {
                        yield_now();
                    }
                    theirs.1.store(2 * round - 1, Ordering::Release);
                    theirs.0.notify();
                }
            });
            let mut waiter = waiter(policy);
            for round in 1..=100 {
                let look = || (shared.1.load(Ordering::Acquire) == 2 * round - 1).then_some(());
                waiter.until(&shared.0, look, |_| Ok::<_, ()>(LONGEST_SLEEP)).expect("check never fails");
                shared.1.store(2 * round, Ordering::Release);
            }
            publisher.join().expect("the publisher does not panic");
            assert!(u64::from(shared.0.wake_calls()) >= waiter.counts().wakes, "{policy}: {:?}", waiter.counts());
        }
    }

    #[test]
    fn a_wake_up_is_counted_at_its_word_and_a_word_without_sleepers_costs_none() {
        let word = WakeWord::new(Wait::Park);
        word.notify();
        assert_eq!(word.wake_calls(), 0);
        let mut publishes = || {
            word.notify();
            true
        };
        assert_eq!(word.sleep_unless(LONGEST_SLEEP, &mut publishes), None);
        assert_eq!(word.wake_calls(), 1, "the sleeper had announced itself");
    }

    #[test]
    fn check_ends_every_kind_of_wait() {
        for policy in Wait::ALL {
            let limit = Duration::from_millis(3);
            let ended = waiter(policy).until(
                &WakeWord::new(policy),
                || None::<()>,
                |waited| if waited >= limit { Err(waited) } else { Ok(limit.saturating_sub(waited)) },
            );
            assert!(ended.expect_err("nothing is ever published") >= limit, "{policy}");
        }
    }

    #[test]
    fn an_oversubscribed_waiter_yields_and_sleeps_without_spinning() {
        let mut waiter = Waiter::new(Wait::Adaptive, CpuSharing::unpinned(1 << 20), None);
        assert_eq!(waiter.spin_ticks(), 0);
        let mut looks = 0;
        let look = || {
            looks += 1;
            (looks > 40).then_some(())
        };
        waiter
            .until(&WakeWord::new(Wait::Adaptive), look, |_| Ok::<_, ()>(Duration::from_micros(10)))
            .expect("check never fails");
        let counts = waiter.counts();
        assert_eq!((counts.long_waits, counts.spins), (1, 0));
        // Fewer if yields are slow here, as on a busy machine; after each sleep it looks twice.
        assert!(counts.yields <= u64::from(YIELDS_WHEN_SHARED), "{counts:?}");
        assert_eq!(counts.parks, (40 - counts.yields) / 2, "{counts:?}");
        assert_eq!(counts.asks, 0, "{counts:?}");
    }

    #[test]
    fn a_patient_waiter_spins_instead_of_sleeping_unless_it_is_oversubscribed() {
        // Far beyond the spin budget of 20 us and the yields.
        const LOOKS: u64 = 100_000;
        let counts_of = |participants| {
            let waiter = Waiter::new(Wait::Adaptive, CpuSharing::unpinned(participants), None);
            let mut waiter = waiter.spinning_before_sleep(Duration::from_secs(3600));
            let mut looks = 0;
            let look = || {
                looks += 1;
                (looks > LOOKS || participants > 2 && looks > 40).then_some(())
            };
            let check = |_| Ok::<_, ()>(Duration::from_micros(10));
            waiter.until(&WakeWord::new(Wait::Adaptive), look, check).expect("check never fails");
            waiter.counts()
        };
        let (patient, crowded) = (counts_of(2), counts_of(1 << 20));
        assert_eq!(crowded.spins, 0, "{crowded:?}");
        assert!(crowded.parks > 0, "{crowded:?}");
        assert!(patient.parks == 0 || CpuSharing::unpinned(2).is_oversubscribed(), "{patient:?}");
    }

    #[test]
    fn only_a_policy_that_never_sleeps_yields_without_end() {
        let oversubscribed = |policy| Waiter::new(policy, CpuSharing::unpinned(1 << 20), None);
        let most = |policy| [false, true].map(|are_slow| oversubscribed(policy).most_yields(are_slow));
        assert_eq!(most(Wait::Yield), [None; 2]);
        assert_eq!(most(Wait::Adaptive), [Some(YIELDS_WHEN_SHARED), Some(0)]);
        assert_eq!((most(Wait::Park), most(Wait::Spin)), ([Some(0); 2], [Some(0); 2]));
    }
}
