//! The locks without a node as raw mutexes of the crate `lock_api` 0.4, behind the feature `lock_api`.
//!
//! Take it for libraries that are generic over `lock_api::RawMutex`. Where there is a choice take the
//! [`Mutex`](crate::Mutex) of this crate, which has all locks, tells in debug builds of a thread that would wait for itself, and
//! works with [`Condvar`](crate::Condvar). That interface brings nothing along from a lock to its unlock, so locks with a node do
//! not fit it.
//!
//! No lock is handed over to the one that waits longest: `RawMutexFair` is for `ticket` no more than what it does anyway, and
//! for the others not to be had.
//!
//! **Progress** and **memory ordering:** those of the lock.
//!
//! ```
//! use corecast_lock::lock_api::Mutex;
//! use corecast_lock::Word;
//!
//! static COUNT: Mutex<u32> = Mutex::new(7); // over auto
//! *COUNT.lock() += 1;
//! assert_eq!(COUNT.try_lock().as_deref(), Some(&8));
//! let word: Mutex<u32, Word> = Mutex::default();
//! assert_eq!(*word.lock(), 0);
//! ```
//!
//! A lock with a node is refused:
//! ```compile_fail,E0271
//! use corecast_lock::lock_api::Mutex;
//! use corecast_lock::Mcs;
//! let queue: Mutex<u32, Mcs> = Mutex::new(7);
//! ```

use std::time::{Duration, Instant};

use ::lock_api::{GuardNoSend, RawMutex, RawMutexTimed};

use crate::auto::Auto;
use crate::raw::{RawConst, RawTimed};

/// A mutex of `lock_api` over a lock of this crate.
pub type Mutex<T, L = Auto> = ::lock_api::Mutex<Raw<L>, T>;
/// Its guard.
pub type MutexGuard<'a, T, L = Auto> = ::lock_api::MutexGuard<'a, Raw<L>, T>;
/// Its guard of a part of the data.
pub type MappedMutexGuard<'a, T, L = Auto> = ::lock_api::MappedMutexGuard<'a, Raw<L>, T>;

/// A lock as that crate wants it.
#[derive(Debug)]
pub struct Raw<L>(L);

impl<L> Raw<L> {
    /// The lock itself, for what it can tell.
    pub fn inner(&self) -> &L {
        &self.0
    }
}

// SAFETY: a lock takes and frees nothing but itself.
unsafe impl<L: RawConst<Node = ()>> RawMutex for Raw<L> {
    type GuardMarker = GuardNoSend;

    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a lock of its own")]
    const INIT: Self = Self(L::INIT);

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
        unsafe { self.0.unlock(&()) };
    }
}

// SAFETY: it takes the lock as the mutex does, or not at all.
unsafe impl<L: RawConst<Node = ()> + RawTimed> RawMutexTimed for Raw<L> {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, limit: Duration) -> bool {
        let Some(deadline) = Instant::now().checked_add(limit) else {
            RawMutex::lock(self);
            return true;
        };
        self.try_lock_until(deadline)
    }

    fn try_lock_until(&self, deadline: Instant) -> bool {
        // SAFETY: there is no node.
        unsafe { self.0.lock_until(&(), deadline) }
    }
}
