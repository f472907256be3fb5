//! The barrier's protocol: tickets.
//!
//! pthread's barriers name no threads, and more threads than the barrier's count may use one. So nothing but a central word
//! can tell which round a thread is in: the ticket that it draws. The thread with a round's last ticket waits until the round
//! before is over, and opens its own. (An arrival counter beside a generation loses a thread that comes between the last
//! arrival and the reset of the counter.)
//!
//! A thread counts as inside from its ticket until it lets go: that is the last access of its wait, so a barrier whose count is 0
//! can be unmapped. A thread that destroys the barrier and finds others inside marks the count, and waits like them; the last one
//! that lets go then opens one more round for it.
//!
//! The thread that opens a round says so in the round's word, where threads sleep, and in a [flag](crate::release) on another
//! line, where they look. It sets the flag first, so that a thread that has seen the new word finds the flag set.
//!
//! Threads wait as all of corecast's participants do (`corecast_base::wait`): beside busy processes a thread learns that it gets
//! its CPU back late when it yields, and sleeps.
//!
//! **Progress:** blocking. **Memory ordering:** what a thread did before its wait happens before what each of the round does
//! after theirs. Source: POSIX.1-2017, pthread_barrier_wait; the ticket form is our own.

use std::convert::Infallible;
use std::time::Duration;

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering, Scope, fence, futex_wait, futex_wake};
use corecast_base::wait::{LONGEST_SLEEP, SleepOutcome, SleepPlace, Waiter};

use crate::release::ReleaseFlag;

/// The bits of the state below the next ticket.
const BELOW_TICKET: u32 = 16;
/// A thread waits until nobody is inside any more.
const AWAITED: u64 = 1 << (BELOW_TICKET - 1);
/// The other bits below the ticket count the threads inside.
const INSIDE: u64 = AWAITED - 1;
/// The largest count of a barrier.
pub(crate) const MOST: u32 = INSIDE as u32;

/// A barrier.
#[derive(Debug)]
#[repr(C)]
pub struct Ticket {
    /// The threads of a round. Written when it is made.
    count: u32,
    /// Threads that sleep on `round`, or are about to. Written by them.
    sleepers: AtomicU32,
    /// The next ticket in the upper 48 bits, [`AWAITED`], the threads inside. Written by every thread.
    state: AtomicU64,
    /// The round that is not over yet. Written by the thread with the last ticket of each, and by the last one inside for a
    /// thread that waits for it.
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

    /// Waits for the others of the round, as this thread's waiter does; true for one thread of each. All threads give the same
    /// flag.
    pub fn wait(&self, flag: Option<ReleaseFlag<'_>>, waiter: &mut Waiter) -> bool {
        // ORDERING: AcqRel, pairs with itself: the last thread of a round has seen what the others did before [ticket-drawn]
        let ticket = self.state.fetch_add((1 << BELOW_TICKET) + 1, Ordering::AcqRel) >> BELOW_TICKET;
        let count = u64::from(self.count);
        let round = (ticket / count) as u32;
        let is_last = ticket % count == count - 1;
        if is_last {
            self.until(waiter, || self.now() == round);
            self.open(round, flag);
        } else {
            let is_over = || flag.and_then(|flag| flag.is_after(round));
            self.until(waiter, || is_over().unwrap_or_else(|| (self.now().wrapping_sub(round) as i32) > 0));
        }
        self.let_go();
        is_last
    }

    fn let_go(&self) {
        // ORDERING: Release, pairs with the Acquires in empty and open_for_the_last: a wait has no later access [ticket-inside]
        let before = self.state.fetch_sub(1, Ordering::Release);
        if before & (AWAITED | INSIDE) == AWAITED | 1 {
            self.open_for_the_last();
        }
    }

    /// Ends the wait of the thread that empties the barrier, which may unmap it at once: only the address is used afterwards.
    #[cold]
    fn open_for_the_last(&self) {
        // ORDERING: Acquire, pairs with the Release in let_go: the others have let go [ticket-inside]
        fence(Ordering::Acquire);
        // ORDERING: Release, pairs with the Acquire in now [ticket-round]
        self.round.fetch_add(1, Ordering::Release);
        futex_wake(&self.round, u32::MAX, Scope::Process);
    }

    /// Waits until all threads of the rounds so far have let go. No thread comes from now on: the barrier is not used again.
    pub fn empty(&self, waiter: &mut Waiter) {
        // ORDERING: Acquire, pairs with the fetch_sub in let_go [ticket-inside]
        let state = self.state.fetch_or(AWAITED, Ordering::Acquire);
        if state & INSIDE != 0 {
            let rounds = ((state >> BELOW_TICKET) / u64::from(self.count)) as u32;
            self.until(waiter, || self.now() == rounds.wrapping_add(1));
        }
    }

    /// True if no thread waits for others.
    #[must_use]
    pub fn is_between_rounds(&self) -> bool {
        // ORDERING: Relaxed, a barrier that others come to meanwhile is not to be destroyed
        (self.state.load(Ordering::Relaxed) >> BELOW_TICKET) % u64::from(self.count) == 0
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

    fn open(&self, round: u32, flag: Option<ReleaseFlag<'_>>) {
        let next = round.wrapping_add(1);
        if let Some(flag) = flag {
            flag.set(next);
        }
        // ORDERING: Release, pairs with the Acquires in now and sleep_unless [ticket-round]
        self.round.store(next, Ordering::Release);
        // ORDERING: SeqCst, pairs with the fence in sleep: forbids that a thread sees the old round behind its fence and this one
        // sees no sleeper behind this [ticket-sleep]
        fence(Ordering::SeqCst);
        // ORDERING: Relaxed, ordered by the fence
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            futex_wake(&self.round, u32::MAX, Scope::Process);
        }
    }

    #[inline]
    fn now(&self) -> u32 {
        // ORDERING: Acquire, pairs with the Release in open [ticket-round]
        self.round.load(Ordering::Acquire)
    }

    #[inline]
    fn until(&self, waiter: &mut Waiter, is_over: impl Fn() -> bool) {
        match waiter.until(self, || is_over().then_some(()), |_waited| Ok::<_, Infallible>(LONGEST_SLEEP)) {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }
}

/// Threads sleep on the round. A thread that opens one wakes all, but only if some are counted.
impl SleepPlace for Ticket {
    #[cold]
    fn sleep_unless(&self, longest: Duration, has_come: &mut dyn FnMut() -> bool) -> Option<SleepOutcome> {
        // ORDERING: Relaxed, ordered by the fence
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // ORDERING: SeqCst, pairs with the fence in open [ticket-sleep]
        fence(Ordering::SeqCst);
        // A round that is opened behind it ends the sleep. The look that follows sees one that was opened before, and its flag.
        // ORDERING: Acquire, pairs with the Release in open [ticket-round]
        let seen = self.round.load(Ordering::Acquire);
        let outcome = (!has_come()).then(|| {
            futex_wait(&self.round, seen, longest, Scope::Process);
            // ORDERING: Relaxed, the waiter looks once more
            SleepOutcome::of(self.round.load(Ordering::Relaxed) != seen)
        });
        // ORDERING: Relaxed, one that is counted too long costs a wake-up
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        outcome
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use corecast_base::wait::{CpuSharing, Wait};

    use super::*;

    /// A waiter of a thread that may have to share its CPU.
    fn waiter() -> Waiter {
        Waiter::new(Wait::Adaptive, CpuSharing::among(2, 1), None)
    }

    #[test]
    fn one_thread_of_each_round_is_the_last_though_more_come_than_it_counts() {
        const WAITS: u32 = 3 * 2000;
        let barrier = Ticket::new(3);
        let (serial, waits) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let mut waiter = waiter();
                    // ORDERING: Relaxed, each wait is drawn once
                    while waits.fetch_add(1, Ordering::Relaxed) < WAITS {
                        // ORDERING: Relaxed, the scope's end orders it
                        serial.fetch_add(barrier.wait(None, &mut waiter).into(), Ordering::Relaxed);
                    }
                });
            }
        });
        // ORDERING: Relaxed, the threads have ended
        assert_eq!(serial.load(Ordering::Relaxed), WAITS / 3);
        assert!(barrier.is_between_rounds());
        barrier.empty(&mut waiter());
    }

    #[test]
    fn the_round_may_wrap() {
        let barrier = Ticket::new(1);
        // ORDERING: Relaxed, one thread
        barrier.round.store(u32::MAX, Ordering::Relaxed);
        // ORDERING: Relaxed, one thread
        barrier.state.store(u64::from(u32::MAX) << BELOW_TICKET, Ordering::Relaxed);
        assert!(barrier.wait(None, &mut waiter()) && barrier.wait(None, &mut waiter()));
        // ORDERING: Relaxed, one thread
        assert_eq!(barrier.round.load(Ordering::Relaxed), 1);
    }
}
