//! One wait of a thread at something that any thread may come to, such as a lock.
//!
//! A [`Waiter`](super::Waiter) belongs to a participant and learns over its waits. A thread that comes to a lock has none,
//! and does not know the other threads that come. One thing can be remembered for the thread: whether spinning was in vain
//! of late because another thread wanted this CPU. While that is believed, its waits give up the CPU at once.

use std::cell::Cell;
use std::time::Duration;

use super::budget::ASSUMED_WAKE_COST;
use super::switches::switches;
use crate::clock::Clock;
use crate::sync::{AtomicU32, Scope, SpinEnd, futex_wait, spin_for, spin_hint, spin_until, yield_now};

/// Polls between two looks at the clock, about 1 us.
const POLLS_PER_LOOK: u32 = 64;
/// The most polls of a thread that backs off between two looks at what it waits for.
const MOST_BETWEEN_LOOKS: u32 = 64;
/// The yields of one wait before a thread sleeps that may keep the CPU from the one it waits for: less than a millisecond where
/// they change nothing.
const MOST_YIELDS: u32 = 1000;
const SLEEP: Duration = Duration::from_millis(1);
/// The time for which a CPU is believed to be shared.
const BELIEF: Duration = Duration::from_millis(10);

crate::per_thread! {
    /// Until then another thread is believed to want this CPU, in ticks; 0 for not at all.
    static SHARED_UNTIL: Cell<u64> = const { Cell::new(0) };
}

/// One wait: spins for as long as a wake-up would cost, and yields from then on.
#[derive(Debug, Default)]
pub struct Spinner {
    polls: u32,
    /// The time of its first look at the clock, in ticks.
    start: u64,
    is_spent: bool,
    /// True once it has found out whether a yield let another thread run.
    has_asked: bool,
    /// The yields of [`pause_or_sleep`](Self::pause_or_sleep).
    yields: u32,
}

impl Spinner {
    /// A wait that begins now.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { polls: 0, start: 0, is_spent: false, has_asked: false, yields: 0 }
    }

    /// True once it has spun for as long as a sleep and a wake-up cost, or need not try. A thread that can sleep does so
    /// now.
    #[inline]
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// True where another thread was found to want this CPU of late, so that the one waited for may not run.
    #[must_use]
    pub fn is_cpu_wanted(&self) -> bool {
        Clock::get().ticks() < SHARED_UNTIL.get()
    }

    /// To be called between two looks at what the thread waits for: spins for a moment, or gives up the CPU once spinning
    /// is no longer worth it.
    #[inline]
    pub fn pause(&mut self) {
        if self.is_spent {
            return self.give_way();
        }
        let end = SpinEnd::at(|| self.start + Clock::get().ticks_in(ASSUMED_WAKE_COST));
        if self.polls % POLLS_PER_LOOK == 0 || end.has_come() {
            self.look();
        }
        self.polls += 1;
        spin_until(end);
        spin_hint();
    }

    /// As [`pause`](Self::pause), for what another thread holds for a moment, unless it has lost its CPU. If that is this CPU,
    /// and this thread has a higher priority (`SCHED_FIFO`), no yield gives it back; so after many the thread sleeps, for a
    /// millisecond each time.
    #[inline]
    pub fn pause_or_sleep(&mut self) {
        if self.yields == MOST_YIELDS {
            return sleep();
        }
        self.yields += u32::from(self.is_spent);
        self.pause();
    }

    /// As [`pause`](Self::pause), but each time for as long as the wait has lasted, up to about 1 us: for a thread that competes
    /// with others for a word, as each look takes the word's line from the thread that is about to write it.
    #[inline]
    pub fn back_off(&mut self) {
        for _ in 0..self.polls.clamp(1, MOST_BETWEEN_LOOKS) {
            self.pause();
            if self.is_spent {
                return;
            }
        }
    }

    /// As [`pause`](Self::pause), for about `duration` where it spins.
    pub fn pause_for(&mut self, duration: Duration) {
        self.look();
        if self.is_spent { self.give_way() } else { spin_for(duration) }
    }

    #[cold]
    fn look(&mut self) {
        let clock = Clock::get();
        let now = clock.ticks();
        if self.start == 0 {
            self.start = now;
            self.is_spent = now < SHARED_UNTIL.get();
        } else {
            self.is_spent |= now.saturating_sub(self.start) >= clock.ticks_in(ASSUMED_WAKE_COST);
        }
    }

    /// Yields; the first time it learns whether another thread wanted the CPU.
    #[cold]
    fn give_way(&mut self) {
        if self.has_asked {
            return yield_now();
        }
        self.has_asked = true;
        let before = switches();
        yield_now();
        if switches() > before {
            let clock = Clock::get();
            SHARED_UNTIL.set(clock.ticks() + clock.ticks_in(BELIEF));
        }
    }
}

#[cold]
fn sleep() {
    futex_wait(&AtomicU32::new(0), 0, SLEEP, Scope::Process);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_spent_after_a_while_and_at_once_where_the_cpu_is_shared() {
        SHARED_UNTIL.set(0);
        let mut spinner = Spinner::new();
        spinner.pause();
        assert!(!spinner.is_spent());
        while !spinner.is_spent() {
            spinner.pause();
        }
        SHARED_UNTIL.set(u64::MAX);
        let mut spinner = Spinner::new();
        spinner.pause();
        assert!(spinner.is_spent() && spinner.is_cpu_wanted());
        SHARED_UNTIL.set(0);
        assert!(!spinner.is_cpu_wanted());
    }

    /// How often this thread has slept: the kernel counts a yield among the other switches.
    fn sleeps() -> i64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("the system tells");
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.and_then(|count| count.trim().parse().ok()).expect("a number")
    }

    #[test]
    fn a_wait_of_many_yields_sleeps() {
        let mut spinner = Spinner { yields: MOST_YIELDS - 2, is_spent: true, ..Spinner::new() };
        (0..2).for_each(|_| spinner.pause_or_sleep());
        let before = sleeps();
        (0..3).for_each(|_| spinner.pause_or_sleep());
        assert!(sleeps() >= before + 3);
    }
}
