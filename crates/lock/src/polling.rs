//! The wait with a deadline of locks that have nothing better than to try again and again. It may starve.

use std::time::Instant;

use corecast_base::wait::Spinner;

use crate::raw::RawLock;

/// Tries until it succeeds, or the deadline has passed.
///
/// # Safety
/// - As of [`RawLock::lock`], if it returns true.
pub(crate) unsafe fn lock_until<L: RawLock>(lock: &L, node: &L::Node, deadline: Instant) -> bool {
    let mut spinner = Spinner::new();
    loop {
        // SAFETY: the caller's promise; a try that failed has used nothing.
        if unsafe { lock.try_lock(node) } {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        spinner.pause();
    }
}
