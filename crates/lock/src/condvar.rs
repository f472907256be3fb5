//! [`Condvar`]: when to take it, how it works, and its code.

use std::fmt;
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::LONGEST_SLEEP;

use crate::mutex::MutexGuard;
use crate::raw::NodeMoves;

/// A condition variable: threads that hold a mutex sleep until another one has changed what it guards.
///
/// Take it with the locks that let their threads sleep, [`Auto`](crate::Auto) and [`Word`](crate::Word); it works with every lock
/// that has guards, and with `AnyLock` if that is one whose threads sleep. Not to hand over values: channels do that. Woken
/// threads compete for the mutex as newcomers do, so with a lock that keeps an order and more threads than CPUs they are as slow
/// as those.
///
/// It is a count of notifications. A waiter reads it, frees the mutex, and sleeps unless the count has moved. A notifier that
/// has changed the data under the mutex finds the waiter asleep, or makes it find another count. No thread that waits for the
/// mutex already is woken, and a notification that finds nobody waiting costs no system call. The mutex need not be held to
/// notify, and one variable may serve several mutexes.
///
/// **A wait may return for no reason**, and another thread may have been there first: so look again, or take
/// [`Condvar::wait_while`]. A notification wakes the present waiters; it is not kept for later ones. A thread that sleeps while
/// 2^32 notifications come misses them; each of them wakes somebody.
///
/// **Progress:** blocking. **Memory ordering:** that of the mutex; a notification itself orders nothing.
/// Source: U. Drepper, Futexes Are Tricky, 2004, for the count; the field's variable is C. A. R. Hoare's, Monitors, 1974.
///
/// ```
/// use corecast_lock::{Condvar, Mutex};
///
/// static JOBS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// static ARRIVED: Condvar = Condvar::new();
///
/// let worker = std::thread::spawn(|| {
///     let mut jobs = ARRIVED.wait_while(JOBS.lock(), |jobs| jobs.is_empty());
///     jobs.pop()
/// });
/// JOBS.lock().push(7);
/// ARRIVED.notify_one();
/// assert_eq!(worker.join().expect("it has a job"), Some(7));
/// ```
///
/// Zeroes are one that nobody waits for.
pub struct Condvar {
    /// The number of notifications so far. Written by notifiers; waiters sleep on it.
    notified: AtomicU32,
    /// How many threads wait. Written by them: first while they hold the mutex.
    waiting: AtomicU32,
}

impl Condvar {
    /// A variable that no thread waits on.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self { notified: AtomicU32::new(0), waiting: AtomicU32::new(0) }
    }

    /// A variable that no thread waits on.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self { notified: AtomicU32::new(0), waiting: AtomicU32::new(0) }
    }

    /// Frees the mutex, sleeps until a notification, and takes the mutex again. May return for no reason. `guard` is a
    /// [`MutexGuard`], which is returned, as std has it, or a `&mut` to one, as parking_lot has it.
    pub fn wait<G: WaitGuard>(&self, mut guard: G) -> G::Returned {
        self.sleep(&mut guard, None);
        guard.returned()
    }

    /// Waits for as long as `condition` holds; it is called while the mutex is held. `guard` is as for [`wait`](Self::wait).
    ///
    /// # Panics
    /// If `condition` does; the mutex is freed when the guard is dropped.
    pub fn wait_while<G: WaitGuard>(
        &self,
        mut guard: G,
        mut condition: impl FnMut(&mut G::Data) -> bool,
    ) -> G::Returned {
        while condition(guard.data()) {
            self.sleep(&mut guard, None);
        }
        guard.returned()
    }

    /// As [`wait`](Self::wait), asleep for at most `limit`. The mutex is then waited for without a limit.
    pub fn wait_timeout<G: WaitGuard>(&self, mut guard: G, limit: Duration) -> (G::Returned, WaitTimeoutResult) {
        let is_notified = self.sleep(&mut guard, Instant::now().checked_add(limit));
        (guard.returned(), WaitTimeoutResult(!is_notified))
    }

    /// As [`wait_timeout`](Self::wait_timeout) with a guard that is only borrowed, as parking_lot has it.
    pub fn wait_for<G: WaitGuard<Returned = ()>>(&self, guard: G, limit: Duration) -> WaitTimeoutResult {
        self.wait_timeout(guard, limit).1
    }

    /// As [`wait_for`](Self::wait_for), asleep until `deadline` at most.
    pub fn wait_until<G: WaitGuard<Returned = ()>>(&self, mut guard: G, deadline: Instant) -> WaitTimeoutResult {
        WaitTimeoutResult(!self.sleep(&mut guard, Some(deadline)))
    }

    /// Wakes one waiter, if there is one.
    pub fn notify_one(&self) {
        self.notify(1);
    }

    /// Wakes all waiters.
    pub fn notify_all(&self) {
        self.notify(u32::MAX);
    }

    fn notify(&self, at_most: u32) {
        // ORDERING: Relaxed, a waiter has read an older count before this one's change of the data, by the mutex; or it sees
        // that change
        self.notified.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed, a waiter has counted itself before it freed the mutex, as above
        if self.waiting.load(Ordering::Relaxed) > 0 {
            futex_wake(&self.notified, at_most, Scope::Process);
        }
    }

    /// Frees the mutex, sleeps until a notification or the deadline, and takes the mutex again. True after a notification.
    fn sleep(&self, guard: &mut impl WaitGuard, deadline: Option<Instant>) -> bool {
        let seen = self.enlist();
        guard.unlocked(|| self.sleep_enlisted(seen, deadline))
    }

    /// For the holder of a lock: calls `unlock`, which frees it, and sleeps until a notification or the deadline. True after a
    /// notification.
    #[cfg(not(loom))]
    pub(crate) fn sleep_without(&self, unlock: impl FnOnce(), deadline: Option<Instant>) -> bool {
        let seen = self.enlist();
        unlock();
        self.sleep_enlisted(seen, deadline)
    }

    /// Counts this thread among those that wait, while it holds the mutex. Returns the notifications so far.
    fn enlist(&self) -> u32 {
        // ORDERING: Relaxed, released with the mutex
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed, it is read while the mutex is held: so it is older than the notification of a later change
        self.notified.load(Ordering::Relaxed)
    }

    /// Sleeps until there is another notification than `seen`, or the deadline. True after a notification.
    fn sleep_enlisted(&self, seen: u32, deadline: Option<Instant>) -> bool {
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
        // ORDERING: Relaxed, a notifier that still sees it wakes nobody
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        is_notified
    }
}

/// Whether a wait ended because its limit had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// True if the limit has passed without a notification.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// The argument of [`Condvar::wait`]: a [`MutexGuard`], or a `&mut` to one. With the feature `lock_api`, a `&mut` to a guard
/// of that crate's mutex, too.
pub trait WaitGuard: Sized + sealed::Sealed {
    /// The data that the mutex guards.
    type Data: ?Sized;
    /// The result of the wait: the guard, or nothing if it was only borrowed.
    type Returned;

    /// The data that the mutex guards.
    #[doc(hidden)]
    fn data(&mut self) -> &mut Self::Data;

    /// Runs `run` while the mutex is free.
    #[doc(hidden)]
    fn unlocked<R>(&mut self, run: impl FnOnce() -> R) -> R;

    /// The result of the wait.
    #[doc(hidden)]
    fn returned(self) -> Self::Returned;
}

impl<T: ?Sized, L: NodeMoves> WaitGuard for MutexGuard<'_, T, L> {
    type Data = T;
    type Returned = Self;

    fn data(&mut self) -> &mut T {
        self
    }

    fn unlocked<R>(&mut self, run: impl FnOnce() -> R) -> R {
        MutexGuard::unlocked(self, run)
    }

    fn returned(self) -> Self {
        self
    }
}

impl<T: ?Sized, L: NodeMoves> WaitGuard for &mut MutexGuard<'_, T, L> {
    type Data = T;
    type Returned = ();

    fn data(&mut self) -> &mut T {
        self
    }

    fn unlocked<R>(&mut self, run: impl FnOnce() -> R) -> R {
        MutexGuard::unlocked(self, run)
    }

    fn returned(self) {}
}

#[cfg(all(feature = "lock_api", not(loom)))]
impl<T: ?Sized, R: lock_api::RawMutex> WaitGuard for &mut lock_api::MutexGuard<'_, R, T> {
    type Data = T;
    type Returned = ();

    fn data(&mut self) -> &mut T {
        self
    }

    fn unlocked<U>(&mut self, run: impl FnOnce() -> U) -> U {
        lock_api::MutexGuard::unlocked(self, run)
    }

    fn returned(self) {}
}

mod sealed {
    use super::{MutexGuard, NodeMoves};

    pub trait Sealed {}

    impl<T: ?Sized, L: NodeMoves> Sealed for MutexGuard<'_, T, L> {}
    impl<T: ?Sized, L: NodeMoves> Sealed for &mut MutexGuard<'_, T, L> {}
    #[cfg(all(feature = "lock_api", not(loom)))]
    impl<T: ?Sized, R: lock_api::RawMutex> Sealed for &mut lock_api::MutexGuard<'_, R, T> {}
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}
