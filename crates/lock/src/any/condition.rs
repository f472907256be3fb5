//! Waiting at a condition variable with a lock whose algorithm is chosen at run time.
//!
//! Only locks whose threads sleep can be waited with: threads at the others would spin where their users expect them to sleep,
//! and where a lock keeps an order, a woken thread that does not run yet keeps all behind it waiting. [`Condvar`] describes the
//! rules of waits.
//!
//! **Progress** and **memory ordering:** those of [`Condvar`]. **Source:** as [`Condvar`].
//!
//! ```
//! use corecast_lock::{AnyLock, Condvar};
//!
//! let (lock, changed) = (AnyLock::default(), Condvar::new());
//! lock.lock()?;
//! // Nobody notifies it:
//! let is_notified = lock.wait_until(&changed, std::time::Instant::now())?;
//! assert!(!is_notified);
//! lock.unlock()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Instant;

use super::{AnyLock, THREAD, WrongUse};
use crate::condvar::Condvar;
use crate::this_thread;
use corecast_base::sync::Ordering;

impl AnyLock {
    /// Frees the lock, which this thread holds, sleeps until a notification, and takes the lock again. May return for no
    /// reason.
    ///
    /// # Errors
    /// [`WrongUse::NoSleep`] if its threads never sleep; as of [`unlock`](Self::unlock) and [`lock`](Self::lock).
    pub fn wait(&self, changed: &Condvar) -> Result<(), WrongUse> {
        self.sleep(changed, None).map(|_| ())
    }

    /// As [`wait`](Self::wait), asleep until `deadline` at most. Returns whether there was a notification. The lock is waited for
    /// without a limit, and held in both cases.
    ///
    /// # Errors
    /// As of [`wait`](Self::wait).
    pub fn wait_until(&self, changed: &Condvar, deadline: Instant) -> Result<bool, WrongUse> {
        self.sleep(changed, Some(deadline))
    }

    fn sleep(&self, changed: &Condvar, deadline: Option<Instant>) -> Result<bool, WrongUse> {
        let algorithm = self.algorithm()?;
        if !algorithm.facts().parks {
            return Err(WrongUse::NoSleep { algorithm });
        }
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        if self.label().load(Ordering::Relaxed) & THREAD != this_thread::number() {
            return Err(WrongUse::NotHeldHere);
        }
        let unlock = || self.unlock().expect("this thread holds it, as was just found");
        let is_notified = changed.sleep_without(unlock, deadline);
        self.lock()?;
        Ok(is_notified)
    }
}
