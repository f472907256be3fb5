//! [`Condvar`] over [`ByteCondvar`].

use std::fmt;
use std::time::{Duration, Instant};

use corecast_lock::ByteCondvar;

use crate::mutex::MutexGuard;
use crate::time::deadline_after;

/// A condition variable of one word: threads that hold a [`Mutex`](crate::Mutex) sleep until another one has changed what it
/// guards.
///
/// A wait without a limit returns after a notification only. All threads that wait at a time have to use one mutex.
#[derive(Default)]
pub struct Condvar(ByteCondvar);

impl Condvar {
    /// A variable that no thread waits on.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self(ByteCondvar::new())
    }

    /// Wakes the thread that has waited for the longest time, or lets it wait for the mutex if that is held. True if there was
    /// one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        self.0.notify_one()
    }

    /// Lets all waiters go on, one after the other. Returns their number.
    #[inline]
    pub fn notify_all(&self) -> usize {
        self.0.notify_all()
    }

    /// Frees the mutex, sleeps until a notification, and takes the mutex again.
    ///
    /// # Panics
    /// If other threads wait with another mutex.
    #[inline]
    #[track_caller]
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_to(guard, None);
    }

    /// As [`wait`](Self::wait), asleep for at most `limit`. The mutex is then waited for without a limit.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[inline]
    #[track_caller]
    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, limit: Duration) -> WaitTimeoutResult {
        self.wait_to(guard, deadline_after(limit))
    }

    /// As [`wait_for`](Self::wait_for), asleep until `deadline` at most.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    #[inline]
    #[track_caller]
    pub fn wait_until<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, deadline: Instant) -> WaitTimeoutResult {
        self.wait_to(guard, Some(deadline))
    }

    /// Waits for as long as `condition` holds; it is called while the mutex is held.
    ///
    /// # Panics
    /// As [`wait`](Self::wait), and if `condition` does.
    #[track_caller]
    pub fn wait_while<T, F>(&self, guard: &mut MutexGuard<'_, T>, condition: F)
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_to(guard, condition, None);
    }

    /// As [`wait_while`](Self::wait_while), asleep for at most `limit` in all.
    ///
    /// # Panics
    /// As [`wait_while`](Self::wait_while).
    #[track_caller]
    pub fn wait_while_for<T: ?Sized, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        limit: Duration,
    ) -> WaitTimeoutResult
    where
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_to(guard, condition, deadline_after(limit))
    }

    /// As [`wait_while`](Self::wait_while), asleep until `deadline` at most.
    ///
    /// # Panics
    /// As [`wait_while`](Self::wait_while).
    #[track_caller]
    pub fn wait_while_until<T, F>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        deadline: Instant,
    ) -> WaitTimeoutResult
    where
        T: ?Sized,
        F: FnMut(&mut T) -> bool,
    {
        self.wait_while_to(guard, condition, Some(deadline))
    }

    #[track_caller]
    fn wait_to<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, deadline: Option<Instant>) -> WaitTimeoutResult {
        // SAFETY: the mutex is freed by the wait only, which takes it again.
        let mutex = unsafe { MutexGuard::mutex(guard).raw() };
        // SAFETY: the guard holds it.
        WaitTimeoutResult(!unsafe { self.0.wait(&mutex.0, deadline) })
    }

    #[track_caller]
    fn wait_while_to<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
        deadline: Option<Instant>,
    ) -> WaitTimeoutResult {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(guard) {
            result = self.wait_to(guard, deadline);
        }
        result
    }
}

/// Whether a wait ended because its limit had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// True if the limit has passed without a notification.
    #[inline]
    #[must_use]
    pub fn timed_out(self) -> bool {
        self.0
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
