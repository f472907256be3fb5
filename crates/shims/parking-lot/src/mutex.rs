//! [`Mutex`] over a lock of one byte, [`Byte`].
//!
//! `corecast_lock::lock_api::Raw<Byte>` is nearly that. But its guards cannot be sent to other threads, which a feature of
//! parking_lot asks for; it frees a lock where this one may hand it over; and a wrapper would pass on each of the calls that
//! are left.

use std::time::{Duration, Instant};

use corecast_lock::{Byte, RawConst, RawLock, RawTimed};
use lock_api::{RawMutex as _, RawMutexFair, RawMutexTimed};

use crate::GuardMarker;
use crate::time::{deadline_after, is_hand_over_due};

/// A mutex of one byte beside its data, whose threads sleep.
///
/// There is no poisoning: a panic frees it. A thread that locks what it holds waits for ever.
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;

/// The guard of a [`Mutex`], which frees it when it is dropped.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;

/// The guard of a part of the data of a [`Mutex`].
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// A free mutex, for constants. [`Mutex::new`] is constant as well.
pub const fn const_mutex<T>(value: T) -> Mutex<T> {
    Mutex::const_new(RawMutex::INIT, value)
}

/// The lock of a [`Mutex`], without data.
#[derive(Debug)]
pub struct RawMutex(pub(crate) Byte);

// SAFETY: Byte excludes all but one; there is no node.
unsafe impl lock_api::RawMutex for RawMutex {
    type GuardMarker = GuardMarker;

    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a lock of its own")]
    const INIT: Self = Self(Byte::INIT);

    #[inline]
    fn lock(&self) {
        // SAFETY: there is no node.
        unsafe { self.0.lock(&()) };
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // SAFETY: there is no node.
        unsafe { self.0.try_lock(&()) }
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock_or_hand_over(|| is_hand_over_due(self)) };
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_held()
    }
}

// SAFETY: it hands the lock over to a thread that waits for it, or frees it.
unsafe impl RawMutexFair for RawMutex {
    #[inline]
    unsafe fn unlock_fair(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock_or_hand_over(|| true) };
    }

    #[inline]
    unsafe fn bump(&self) {
        if self.0.is_awaited() {
            // SAFETY: the caller holds the lock.
            unsafe { self.unlock_fair() };
            self.lock();
        }
    }
}

// SAFETY: it takes the lock as lock does, or not at all.
unsafe impl RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_for(&self, limit: Duration) -> bool {
        if self.try_lock() {
            return true;
        }
        match deadline_after(limit) {
            Some(deadline) => self.try_lock_until(deadline),
            None => {
                self.lock();
                true
            }
        }
    }

    #[inline]
    fn try_lock_until(&self, deadline: Instant) -> bool {
        // SAFETY: there is no node.
        unsafe { self.0.lock_until(&(), deadline) }
    }
}

const _: () = assert!(size_of::<Mutex<()>>() == 1);
