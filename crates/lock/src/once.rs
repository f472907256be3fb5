//! [`Once`]: when to take it, how it works, and its code.

use std::fmt;

use corecast_base::sync::{AtomicBool, Ordering};

use crate::mutex::Mutex;
#[cfg(loom)]
use crate::ticket::Ticket as Running;
#[cfg(not(loom))]
use crate::word::Word as Running;

/// Something that is done once, by the first thread that comes, while the others wait for it.
///
/// Take it for a table or a connection that is set up when it is first used. Not for a value: `std::sync::OnceLock` has that
/// together with its flag.
///
/// A thread that comes later pays for one load. If the closure panics, the panic goes on in its caller, and nothing is done:
/// the next thread that comes tries again, where `std::sync::Once` is poisoned. A closure that calls the same `Once` would
/// wait for itself: with debug assertions that panics.
///
/// **Progress:** blocking; those who wait sleep. **Memory ordering:** what the closure did is visible to every thread whose
/// call of [`Once::call_once`] has returned, or that has seen [`Once::is_completed`].
///
/// ```
/// use corecast_lock::Once;
///
/// static SETUP: Once = Once::new();
///
/// let calls = std::sync::atomic::AtomicU32::new(0);
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| SETUP.call_once(|| drop(calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed))));
///     }
/// });
/// assert!(SETUP.is_completed() && calls.into_inner() == 1);
/// ```
pub struct Once {
    /// Written once, by the thread that has done it.
    is_done: AtomicBool,
    /// Held by the thread that does it. In models it is one that polls, which has fewer states.
    running: Mutex<(), Running>,
}

impl Once {
    /// Nothing is done yet.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self { is_done: AtomicBool::new(false), running: Mutex::from_raw(<Running as crate::RawConst>::INIT, ()) }
    }

    /// Nothing is done yet.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self { is_done: AtomicBool::new(false), running: Mutex::from(()) }
    }

    /// Calls `act` unless that was done before; returns when it is done, by this thread or another one.
    #[inline]
    pub fn call_once(&self, act: impl FnOnce()) {
        if !self.is_completed() {
            self.call_or_wait(act);
        }
    }

    #[cold]
    fn call_or_wait(&self, act: impl FnOnce()) {
        let _running = self.running.lock();
        if !self.is_completed() {
            act();
            // ORDERING: Release, pairs with the Acquire in is_completed: the closure's writes are visible [once-done]
            self.is_done.store(true, Ordering::Release);
        }
    }

    /// True once it is done.
    #[inline]
    #[must_use]
    pub fn is_completed(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in call_or_wait [once-done]
        self.is_done.load(Ordering::Acquire)
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("is_completed", &self.is_completed()).finish()
    }
}
