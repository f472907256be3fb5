//! Locks of this crate as raw mutexes and raw reader-writer locks of the crate `lock_api` 0.4, behind the feature `lock_api`.
//!
//! Take it for libraries that are generic over `lock_api`. Otherwise take the [`Mutex`](crate::Mutex) and the
//! [`RwLock`](crate::RwLock) of this crate, which have all locks and detect, in debug builds, a thread that would wait
//! for itself.
//! `lock_api` passes nothing from a lock to its unlock, so locks with a node do not fit it, nor does `rw_spread`, whose readers
//! keep their place.
//!
//! A reader that can become a writer is to be had of `rw_phase`: it waits for a writer's turn, and reads beside others.
//!
//! No lock is handed over to the thread that has waited longest: `RawMutexFair` would be for `ticket` what it does anyway, and
//! for the others not to be had.
//!
//! **Progress** and **memory ordering:** those of the lock.
//!
//! ```
//! use corecast_lock::lock_api::{Mutex, MutexOf, RwLock, RwLockUpgradableReadGuard};
//! use corecast_lock::Word;
//!
//! static COUNT: Mutex<u32> = Mutex::new(7); // over auto
//! *COUNT.lock() += 1;
//! assert_eq!(COUNT.try_lock().as_deref(), Some(&8));
//! let word: MutexOf<u32, Word> = MutexOf::default();
//! assert_eq!(*word.lock(), 0);
//! let names = RwLock::new(vec!["one"]); // over rw_phase
//! names.write().push("two");
//! let reader = names.upgradable_read(); // beside other readers
//! assert_eq!(reader.len(), 2);
//! RwLockUpgradableReadGuard::upgrade(reader).clear();
//! assert!(names.read().is_empty());
//! ```
//!
//! A lock with a node is refused:
//! ```compile_fail,E0271
//! use corecast_lock::lock_api::MutexOf;
//! use corecast_lock::Mcs;
//! let queue: MutexOf<u32, Mcs> = MutexOf::new(7);
//! ```

use std::time::{Duration, Instant};

use ::lock_api::{
    GuardNoSend, RawMutex, RawMutexTimed, RawRwLock as ApiRwLock, RawRwLockDowngrade, RawRwLockTimed, RawRwLockUpgrade,
    RawRwLockUpgradeDowngrade,
};

use crate::auto::Auto;
use crate::raw::{RawConst, RawTimed};
use crate::rw::{RawRwConst, RawRwTimed, RawRwUpgradable, RwPhase};

/// A mutex of `lock_api` over [`Auto`].
pub type Mutex<T> = MutexOf<T, Auto>;
/// Its guard.
pub type MutexGuard<'a, T> = ::lock_api::MutexGuard<'a, Raw<Auto>, T>;
/// Its guard of a part of the data.
pub type MappedMutexGuard<'a, T> = ::lock_api::MappedMutexGuard<'a, Raw<Auto>, T>;
/// A mutex of `lock_api` over another lock of this crate.
pub type MutexOf<T, L> = ::lock_api::Mutex<Raw<L>, T>;
/// A reader-writer lock of `lock_api` over [`RwPhase`].
pub type RwLock<T> = RwLockOf<T, RwPhase>;
/// Its guard for reading.
pub type RwLockReadGuard<'a, T> = ::lock_api::RwLockReadGuard<'a, Raw<RwPhase>, T>;
/// Its guard for writing.
pub type RwLockWriteGuard<'a, T> = ::lock_api::RwLockWriteGuard<'a, Raw<RwPhase>, T>;
/// Its guard for reading, of which one at a time can become a guard for writing.
pub type RwLockUpgradableReadGuard<'a, T> = ::lock_api::RwLockUpgradableReadGuard<'a, Raw<RwPhase>, T>;
/// A reader-writer lock of `lock_api` over another lock of this crate.
pub type RwLockOf<T, L> = ::lock_api::RwLock<Raw<L>, T>;

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

// SAFETY: a lock keeps writers from all others, and readers from writers.
unsafe impl<L: RawRwConst<Reader = ()>> ApiRwLock for Raw<L> {
    type GuardMarker = GuardNoSend;

    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a lock of its own")]
    const INIT: Self = Self(L::INIT);

    #[inline]
    fn lock_shared(&self) {
        self.0.read();
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.0.try_read().is_some()
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller reads.
        unsafe { self.0.unlock_read(()) };
    }

    #[inline]
    fn lock_exclusive(&self) {
        self.0.write();
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.0.try_write()
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: the caller writes.
        unsafe { self.0.unlock_write() };
    }
}

// SAFETY: nobody writes between the writer and the reader that it becomes.
unsafe impl<L: RawRwConst<Reader = ()>> RawRwLockDowngrade for Raw<L> {
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: the caller writes.
        unsafe { self.0.downgrade() };
    }
}

// SAFETY: RawRwUpgradable keeps writers and others of its kind away.
unsafe impl<L: RawRwConst<Reader = ()> + RawRwUpgradable> RawRwLockUpgrade for Raw<L> {
    #[inline]
    fn lock_upgradable(&self) {
        self.0.read_upgradable();
    }

    #[inline]
    fn try_lock_upgradable(&self) -> bool {
        self.0.try_read_upgradable()
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        // SAFETY: the caller reads and can become a writer.
        unsafe { self.0.unlock_upgradable() };
    }

    #[inline]
    unsafe fn upgrade(&self) {
        // SAFETY: the caller reads and can become a writer.
        unsafe { self.0.upgrade() };
    }

    #[inline]
    unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: the caller reads and can become a writer.
        unsafe { self.0.try_upgrade() }
    }
}

// SAFETY: nobody writes before and after either step but the caller.
unsafe impl<L: RawRwConst<Reader = ()> + RawRwUpgradable> RawRwLockUpgradeDowngrade for Raw<L> {
    #[inline]
    unsafe fn downgrade_upgradable(&self) {
        // SAFETY: the caller reads and can become a writer.
        unsafe { self.0.downgrade_upgradable() };
    }

    #[inline]
    unsafe fn downgrade_to_upgradable(&self) {
        // SAFETY: the caller writes.
        unsafe { self.0.downgrade_to_upgradable() };
    }
}

// SAFETY: it takes the lock as the other calls do, or not at all.
unsafe impl<L: RawRwConst<Reader = ()> + RawRwTimed> RawRwLockTimed for Raw<L> {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, limit: Duration) -> bool {
        match Instant::now().checked_add(limit) {
            Some(deadline) => self.0.read_until(deadline).is_some(),
            None => {
                self.0.read();
                true
            }
        }
    }

    fn try_lock_shared_until(&self, deadline: Instant) -> bool {
        self.0.read_until(deadline).is_some()
    }

    fn try_lock_exclusive_for(&self, limit: Duration) -> bool {
        match Instant::now().checked_add(limit) {
            Some(deadline) => self.0.write_until(deadline),
            None => {
                self.0.write();
                true
            }
        }
    }

    fn try_lock_exclusive_until(&self, deadline: Instant) -> bool {
        self.0.write_until(deadline)
    }
}
