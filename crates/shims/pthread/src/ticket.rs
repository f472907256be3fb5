//! The barrier's protocol: tickets.
//!
//! pthread's barriers name no threads, and more threads than the barrier's count may use one. So nothing but a central word
//! can tell which round a thread is in: the ticket that it draws. The thread with a round's last ticket waits until the round
//! before is over, and opens its own. (An arrival counter beside a generation loses a thread that comes between the last
//! arrival and the reset of the counter.)
//!
//! A thread counts as inside from its ticket until it lets go: that is the last access of its wait, so a barrier whose count is 0
//! can be unmapped.
//!
//! **Progress:** blocking. **Memory ordering:** what a thread did before its wait happens before what each of the round does
//! after theirs. Source: POSIX.1-2017, pthread_barrier_wait; the ticket form is our own.

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering, Scope, fence, futex_wait, futex_wake, yield_now};
use corecast_base::wait::{LONGEST_SLEEP, Spinner};

/// The bits of the state that count the threads inside.
const INSIDE_BITS: u32 = 16;
const INSIDE: u64 = (1 << INSIDE_BITS) - 1;
/// The largest count of a barrier.
pub(crate) const MOST: u32 = INSIDE as u32;
/// Times a waiter gives up its CPU before it sleeps. With more threads than CPUs a round needs about one for each thread per CPU.
const YIELDS: u32 = 16;
/// No time passes in a model, which would never see a waiter go to sleep.
const IS_MODEL: bool = cfg!(loom);

/// A barrier.
#[derive(Debug)]
#[repr(C)]
pub struct Ticket {
    /// The threads of a round. Written when it is made.
    count: u32,
    /// Threads that sleep on `round`, or are about to. Written by them.
    sleepers: AtomicU32,
    /// The next ticket in the upper 48 bits, the threads inside in the lower 16. Written by every thread.
    state: AtomicU64,
    /// The round that is not over yet. Written by the thread with the last ticket of each.
    round: AtomicU32,
}

impl Ticket {
    /// A barrier for `count` threads, 1 to [`MOST`].
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self { count, sleepers: AtomicU32::new(0), state: AtomicU64::new(0), round: AtomicU32::new(0) }
    }

    /// The threads of a round.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Waits for the others of the round; true for one thread of each. `spins`: whether each thread may have a CPU.
    pub fn wait(&self, spins: bool) -> bool {
        // ORDERING: AcqRel, pairs with itself: the last thread of a round has seen what the others did before [ticket-drawn]
        let ticket = self.state.fetch_add((1 << INSIDE_BITS) + 1, Ordering::AcqRel) >> INSIDE_BITS;
        let count = u64::from(self.count);
        let round = (ticket / count) as u32;
        let is_last = ticket % count == count - 1;
        if is_last {
            self.until(spins, |now| now == round);
            self.open(round);
        } else {
            self.until(spins, |now| (now.wrapping_sub(round) as i32) > 0);
        }
        // ORDERING: Release, pairs with the Acquire in is_empty: nothing of this wait comes later [ticket-inside]
        self.state.fetch_sub(1, Ordering::Release);
        is_last
    }

    /// True if no thread waits for others.
    #[must_use]
    pub fn is_between_rounds(&self) -> bool {
        // ORDERING: Relaxed, a barrier that others come to meanwhile is not to be destroyed
        (self.state.load(Ordering::Relaxed) >> INSIDE_BITS) % u64::from(self.count) == 0
    }

    /// True if all threads of earlier rounds have let go.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in wait [ticket-inside]
        self.state.load(Ordering::Acquire) & INSIDE == 0
    }

    /// As a thread that uses the barrier's memory otherwise: the model fails unless all that other threads did to it happened
    /// before.
    #[cfg(loom)]
    pub fn use_otherwise(&self) {
        // SAFETY: the model finds another thread that writes meanwhile; so it does below.
        unsafe { self.sleepers.unsync_load() };
        // SAFETY: as above.
        unsafe { self.state.unsync_load() };
        // SAFETY: as above.
        unsafe { self.round.unsync_load() };
    }

    fn open(&self, round: u32) {
        // ORDERING: Release, pairs with the Acquire in until [ticket-round]
        self.round.store(round.wrapping_add(1), Ordering::Release);
        // ORDERING: SeqCst, pairs with the fence in sleep: forbids that a thread sees the old round behind its fence and this one
        // sees no sleeper behind this [ticket-sleep]
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed, ordered by the fence
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            futex_wake(&self.round, u32::MAX, Scope::Process);
        }
    }

    #[inline]
    fn is_now(&self, is_over: &impl Fn(u32) -> bool) -> bool {
        // ORDERING: Acquire, pairs with the Release in open [ticket-round]
        is_over(self.round.load(Ordering::Acquire))
    }

    fn until(&self, spins: bool, is_over: impl Fn(u32) -> bool) {
        if self.is_now(&is_over) {
            return;
        }
        let mut spinner = Spinner::new();
        while spins && !IS_MODEL && !spinner.is_spent() {
            spinner.pause();
            if self.is_now(&is_over) {
                return;
            }
        }
        // In a model a waiter that spins looks once more, and may find the round over; another one sleeps at once.
        let yields = if IS_MODEL { spins.into() } else { YIELDS };
        for _ in 0..yields {
            yield_now();
            if self.is_now(&is_over) {
                return;
            }
        }
        self.sleep(is_over);
    }

    #[cold]
    fn sleep(&self, is_over: impl Fn(u32) -> bool) {
        // ORDERING: Relaxed, ordered by the fence
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // ORDERING: SeqCst, pairs with the fence in open [ticket-sleep]
        fence(Ordering::SeqCst);
        loop {
            // ORDERING: Acquire, pairs with the Release in open [ticket-round]
            let seen = self.round.load(Ordering::Acquire);
            if is_over(seen) {
                break;
            }
            futex_wait(&self.round, seen, LONGEST_SLEEP, Scope::Process);
        }
        // ORDERING: Relaxed, one that is counted too long costs a wake-up
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_thread_of_each_round_is_the_last_though_more_come_than_it_counts() {
        const WAITS: u32 = 3 * 2000;
        let barrier = Ticket::new(3);
        let (serial, waits) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    // ORDERING: Relaxed, each wait is drawn once
                    while waits.fetch_add(1, Ordering::Relaxed) < WAITS {
                        // ORDERING: Relaxed, the scope's end orders it
                        serial.fetch_add(barrier.wait(false).into(), Ordering::Relaxed);
                    }
                });
            }
        });
        // ORDERING: Relaxed, the threads have ended
        assert_eq!(serial.load(Ordering::Relaxed), WAITS / 3);
        assert!(barrier.is_empty() && barrier.is_between_rounds());
    }

    #[test]
    fn the_round_may_wrap() {
        let barrier = Ticket::new(1);
        // ORDERING: Relaxed, one thread
        barrier.round.store(u32::MAX, Ordering::Relaxed);
        // ORDERING: Relaxed, one thread
        barrier.state.store(u64::from(u32::MAX) << INSIDE_BITS, Ordering::Relaxed);
        assert!(barrier.wait(true) && barrier.wait(true));
        // ORDERING: Relaxed, one thread
        assert_eq!(barrier.round.load(Ordering::Relaxed), 1);
    }
}
