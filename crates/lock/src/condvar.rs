//! A condition variable: threads that hold a mutex sleep until another one has changed what it guards.
//!
//! Take it with the locks that let their threads sleep, [`Auto`](crate::Auto) and [`Word`](crate::Word); it works with every lock
//! that has guards, and with `AnyLock` if that is one whose threads sleep. Not to hand over values: channels do that. Woken
//! threads compete for the mutex as newcomers do, so with a lock that keeps an order and more threads than CPUs they are as slow
//! as those.
//!
//! It is a count of notifications. Who waits reads it, frees the mutex, and sleeps unless the count has moved: who notifies after
//! it has changed the data under the mutex finds the reader asleep, or makes it find another count. Nobody who waits for the
//! mutex already is woken, and a notification that finds nobody waiting costs no system call. The mutex need not be held to
//! notify, and one variable may serve several mutexes.
//!
//! **A wait may return for no reason**, and another thread may have been there first: so look again, or take
//! [`Condvar::wait_while`]. A notification wakes those who wait when it comes; it is not kept for later ones. Who sleeps while
//! 2^32 notifications come misses them; each of them wakes somebody.
//!
//! **Progress:** blocking. **Memory ordering:** that of the mutex; a notification itself orders nothing.
//! Source: U. Drepper, Futexes Are Tricky, 2004, for the count; the field's variable is C. A. R. Hoare's, Monitors, 1974.
//!
//! ```
//! use corecast_lock::{Condvar, Mutex};
//!
//! static JOBS: Mutex<Vec<u32>> = Mutex::const_new(Vec::new());
//! static ARRIVED: Condvar = Condvar::const_new();
//!
//! let worker = std::thread::spawn(|| {
//!     let mut jobs = ARRIVED.wait_while(JOBS.lock(), |jobs| jobs.is_empty());
//!     jobs.pop()
//! });
//! JOBS.lock().push(7);
//! ARRIVED.notify_one();
//! assert_eq!(worker.join().expect("it has a job"), Some(7));
//! ```

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::LONGEST_SLEEP;

use crate::mutex::Guard;
use crate::raw::NodeMoves;

/// See the [module](self). Zeroes are one that nobody waits for.
#[derive(Debug)]
pub struct Condvar {
    /// How many notifications there were. Written by who notifies; those who wait sleep on it.
    notified: AtomicU32,
    /// How many threads wait. Written by them: first while they hold the mutex.
    waiting: AtomicU32,
}

impl Condvar {
    /// One that nobody waits for.
    #[must_use]
    pub fn new() -> Self {
        Self { notified: AtomicU32::new(0), waiting: AtomicU32::new(0) }
    }

    /// Frees the mutex, sleeps until a notification, and takes the mutex again. May return for no reason.
    pub fn wait<'a, T, L: NodeMoves>(&self, guard: Guard<'a, T, L>) -> Guard<'a, T, L> {
        self.sleep(guard, None).0
    }

    /// Waits for as long as `condition` holds, which is asked while the mutex is held.
    ///
    /// # Panics
    /// If `condition` does; the mutex is freed then.
    pub fn wait_while<'a, T, L: NodeMoves>(
        &self,
        mut guard: Guard<'a, T, L>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> Guard<'a, T, L> {
        while condition(&mut *guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// As [`wait`](Self::wait), asleep for at most `limit`. Returns also whether the limit has passed without a notification.
    /// The mutex is waited for without a limit.
    pub fn wait_timeout<'a, T, L: NodeMoves>(
        &self,
        guard: Guard<'a, T, L>,
        limit: Duration,
    ) -> (Guard<'a, T, L>, bool) {
        let (guard, is_notified) = self.sleep(guard, Instant::now().checked_add(limit));
        (guard, !is_notified)
    }

    /// Wakes one of those who wait, if anybody does.
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes all who wait.
    pub fn notify_all(&self) {
        self.notify(u32::MAX);
    }

    fn notify(&self, at_most: u32) {
        // ORDERING: Relaxed, who waits has read an older count before this one's change of the data, by the mutex; or it sees
        // that change
        self.notified.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed, who waits has counted itself before it freed the mutex, as above
        if self.waiting.load(Ordering::Relaxed) > 0 {
            futex_wake(&self.notified, at_most, Scope::Process);
        }
    }

    /// Frees the mutex, sleeps until a notification or the deadline, and takes the mutex again. Tells whether there was one.
    fn sleep<'a, T, L: NodeMoves>(&self, guard: Guard<'a, T, L>, deadline: Option<Instant>) -> (Guard<'a, T, L>, bool) {
        let mutex = Guard::mutex(&guard);
        let is_notified = self.sleep_without(|| drop(guard), deadline);
        (mutex.lock(), is_notified)
    }

    /// For who holds a lock: calls `unlock`, which frees it, and sleeps until a notification, which it returns, or the deadline.
    pub(crate) fn sleep_without(&self, unlock: impl FnOnce(), deadline: Option<Instant>) -> bool {
        // ORDERING: Relaxed, released with the mutex
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed, it is read while the mutex is held: so it is older than the notification of a later change
        let seen = self.notified.load(Ordering::Relaxed);
        unlock();
        // ORDERING: Relaxed, the data comes with the mutex
        let is_notified = || self.notified.load(Ordering::Relaxed) != seen;
        while !is_notified() {
            let left = deadline.map_or(LONGEST_SLEEP, |deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            futex_wait(&self.notified, seen, left, Scope::Process);
        }
        let is_notified = is_notified();
        // ORDERING: Relaxed, who notifies and still sees it wakes nobody
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        is_notified
    }
}

#[cfg(not(loom))]
impl Condvar {
    /// One that nobody waits for, as a constant.
    #[must_use]
    pub const fn const_new() -> Self {
        Self { notified: AtomicU32::new(0), waiting: AtomicU32::new(0) }
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}
