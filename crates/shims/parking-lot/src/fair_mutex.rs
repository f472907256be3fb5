//! [`FairMutex`]: a mutex that every unlock hands over.

use std::time::{Duration, Instant};

use lock_api::{RawMutex as _, RawMutexFair, RawMutexTimed};

use crate::mutex::RawMutex;

/// A mutex of one byte beside its data that goes to the thread that sleeps for the longest time, whenever one does.
///
/// It rests until that thread runs, so it is slow where a [`Mutex`](crate::Mutex) lets a newcomer have it in between.
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;

/// The guard of a [`FairMutex`], which frees it when it is dropped.
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;

/// The guard of a part of the data of a [`FairMutex`].
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// A free fair mutex, for constants. [`FairMutex::new`] is constant as well.
pub const fn const_fair_mutex<T>(value: T) -> FairMutex<T> {
    FairMutex::const_new(RawFairMutex::INIT, value)
}

/// The lock of a [`FairMutex`], without data.
#[derive(Debug)]
pub struct RawFairMutex(RawMutex);

// SAFETY: a RawMutex, which is unlocked by another of its ways.
unsafe impl lock_api::RawMutex for RawFairMutex {
    type GuardMarker = <RawMutex as lock_api::RawMutex>::GuardMarker;

    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a lock of its own")]
    const INIT: Self = Self(RawMutex::INIT);

    #[inline]
    fn lock(&self) {
        self.0.lock();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock_fair() };
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: as of RawMutex.
unsafe impl RawMutexFair for RawFairMutex {
    #[inline]
    unsafe fn unlock_fair(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock_fair() };
    }

    #[inline]
    unsafe fn bump(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.bump() };
    }
}

// SAFETY: as of RawMutex.
unsafe impl RawMutexTimed for RawFairMutex {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_for(&self, limit: Duration) -> bool {
        self.0.try_lock_for(limit)
    }

    #[inline]
    fn try_lock_until(&self, deadline: Instant) -> bool {
        self.0.try_lock_until(deadline)
    }
}
