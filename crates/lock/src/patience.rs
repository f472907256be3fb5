//! How long an acquisition waits, where that is known at run time.

use std::time::Instant;

use crate::raw::RawTimed;

/// How long an acquisition waits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// Until then.
    Until(Instant),
    /// For ever.
    Endless,
}

impl Patience {
    /// # Safety
    /// - As of [`RawLock::lock`](crate::RawLock::lock), if it returns true.
    #[inline]
    pub(crate) unsafe fn acquire<L: RawTimed>(self, lock: &L, node: &L::Node) -> bool {
        match self {
            // SAFETY: the caller's promise.
            Self::None => unsafe { lock.try_lock(node) },
            // SAFETY: the caller's promise.
            Self::Until(deadline) => unsafe { lock.lock_until(node, deadline) },
            Self::Endless => {
                // SAFETY: the caller's promise.
                unsafe { lock.lock(node) };
                true
            }
        }
    }
}
