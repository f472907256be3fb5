//! [`RwLock`] over a lock of one word, [`RwWord`].

use std::time::{Duration, Instant};

use corecast_lock::{RawRwConst, RawRwLock as _, RawRwUpgradable, RwAccess, RwWord};
use lock_api::{
    RawRwLock as _, RawRwLockDowngrade, RawRwLockFair, RawRwLockRecursive, RawRwLockRecursiveTimed, RawRwLockTimed,
    RawRwLockUpgrade, RawRwLockUpgradeDowngrade, RawRwLockUpgradeFair, RawRwLockUpgradeTimed,
};

use crate::GuardMarker;
use crate::time::{deadline_after, is_hand_over_due};

/// Data that many may read at once, or one may write, beside a lock of four bytes.
///
/// A writer that waits holds readers back. So a thread that reads must not read again by [`RwLock::read`]:
/// [`RwLock::read_recursive`] goes before such writers. There is no poisoning.
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;

/// The guard of a reader.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;

/// The guard of the writer.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;

/// The guard of the one reader, beside others, that may become a writer.
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;

/// The guard of a reader of a part of the data.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;

/// The guard of the writer of a part of the data.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// A free lock, for constants. [`RwLock::new`] is constant as well.
pub const fn const_rwlock<T>(value: T) -> RwLock<T> {
    RwLock::const_new(RawRwLock::INIT, value)
}

/// The lock of a [`RwLock`], without data.
#[derive(Debug)]
pub struct RawRwLock(RwWord);

// SAFETY: RwWord keeps writers from all others, and readers from writers.
unsafe impl lock_api::RawRwLock for RawRwLock {
    type GuardMarker = GuardMarker;

    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a lock of its own")]
    const INIT: Self = Self(RwWord::INIT);

    #[inline]
    fn lock_shared(&self) {
        self.0.hold(RwAccess::Read, None);
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.0.try_hold(RwAccess::Read)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller reads.
        unsafe { self.0.unlock_read(()) };
    }

    #[inline]
    fn lock_exclusive(&self) {
        self.0.hold(RwAccess::Write, None);
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.0.try_hold(RwAccess::Write)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: the caller writes.
        unsafe { self.0.unlock_write_or_hand_over(|| is_hand_over_due(self)) };
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_held()
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_held_by_writer()
    }
}

// SAFETY: they end what the caller holds, and hand it over or free it.
unsafe impl RawRwLockFair for RawRwLock {
    /// A reader that leaves lets in the writer whose turn it is, in any case.
    #[inline]
    unsafe fn unlock_shared_fair(&self) {
        // SAFETY: the caller reads.
        unsafe { self.unlock_shared() };
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self) {
        // SAFETY: the caller writes.
        unsafe { self.0.unlock_write_or_hand_over(|| true) };
    }

    #[inline]
    unsafe fn bump_shared(&self) {
        // Beside a reader a writer can only wait.
        if self.0.is_held_by_writer() {
            // SAFETY: the caller reads.
            unsafe { self.unlock_shared() };
            self.lock_shared();
        }
    }

    #[inline]
    unsafe fn bump_exclusive(&self) {
        if self.0.is_awaited() {
            // SAFETY: the caller writes.
            unsafe { self.unlock_exclusive_fair() };
            self.lock_exclusive();
        }
    }
}

// SAFETY: no other thread writes between the writer and the reader that it becomes.
unsafe impl RawRwLockDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: the caller writes.
        unsafe { self.0.downgrade() };
    }
}

// SAFETY: they hold the lock as the calls without a limit do, or not at all.
unsafe impl RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    #[inline]
    fn try_lock_shared_for(&self, limit: Duration) -> bool {
        self.0.hold(RwAccess::Read, deadline_after(limit))
    }

    #[inline]
    fn try_lock_shared_until(&self, deadline: Instant) -> bool {
        self.0.hold(RwAccess::Read, Some(deadline))
    }

    #[inline]
    fn try_lock_exclusive_for(&self, limit: Duration) -> bool {
        self.0.hold(RwAccess::Write, deadline_after(limit))
    }

    #[inline]
    fn try_lock_exclusive_until(&self, deadline: Instant) -> bool {
        self.0.hold(RwAccess::Write, Some(deadline))
    }
}

// SAFETY: such a reader waits for writers, but not for those that wait for another reader.
unsafe impl RawRwLockRecursive for RawRwLock {
    #[inline]
    fn lock_shared_recursive(&self) {
        self.0.hold(RwAccess::ReadAgain, None);
    }

    #[inline]
    fn try_lock_shared_recursive(&self) -> bool {
        self.0.try_hold(RwAccess::ReadAgain)
    }
}

// SAFETY: they hold the lock as the calls without a limit do, or not at all.
unsafe impl RawRwLockRecursiveTimed for RawRwLock {
    #[inline]
    fn try_lock_shared_recursive_for(&self, limit: Duration) -> bool {
        self.0.hold(RwAccess::ReadAgain, deadline_after(limit))
    }

    #[inline]
    fn try_lock_shared_recursive_until(&self, deadline: Instant) -> bool {
        self.0.hold(RwAccess::ReadAgain, Some(deadline))
    }
}

// SAFETY: an upgradable reader keeps writers and others of its kind away.
unsafe impl RawRwLockUpgrade for RawRwLock {
    #[inline]
    fn lock_upgradable(&self) {
        self.0.hold(RwAccess::ReadUpgradable, None);
    }

    #[inline]
    fn try_lock_upgradable(&self) -> bool {
        self.0.try_hold(RwAccess::ReadUpgradable)
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.unlock_upgradable_or_hand_over(|| is_hand_over_due(self)) };
    }

    #[inline]
    unsafe fn upgrade(&self) {
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.upgrade() };
    }

    #[inline]
    unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.try_upgrade() }
    }
}

// SAFETY: they end what the caller holds, and hand it over or free it.
unsafe impl RawRwLockUpgradeFair for RawRwLock {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self) {
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.unlock_upgradable_or_hand_over(|| true) };
    }

    #[inline]
    unsafe fn bump_upgradable(&self) {
        if self.0.is_awaited() {
            // SAFETY: the caller is the upgradable reader.
            unsafe { self.unlock_upgradable_fair() };
            self.lock_upgradable();
        }
    }
}

// SAFETY: no other thread writes before and after either step.
unsafe impl RawRwLockUpgradeDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade_upgradable(&self) {
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.downgrade_upgradable() };
    }

    #[inline]
    unsafe fn downgrade_to_upgradable(&self) {
        // SAFETY: the caller writes.
        unsafe { self.0.downgrade_to_upgradable() };
    }
}

// SAFETY: they hold the lock as the calls without a limit do, or it is held as before.
unsafe impl RawRwLockUpgradeTimed for RawRwLock {
    #[inline]
    fn try_lock_upgradable_for(&self, limit: Duration) -> bool {
        self.0.hold(RwAccess::ReadUpgradable, deadline_after(limit))
    }

    #[inline]
    fn try_lock_upgradable_until(&self, deadline: Instant) -> bool {
        self.0.hold(RwAccess::ReadUpgradable, Some(deadline))
    }

    #[inline]
    unsafe fn try_upgrade_for(&self, limit: Duration) -> bool {
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.upgrade_until(deadline_after(limit)) }
    }

    #[inline]
    unsafe fn try_upgrade_until(&self, deadline: Instant) -> bool {
        // SAFETY: the caller is the upgradable reader.
        unsafe { self.0.upgrade_until(Some(deadline)) }
    }
}

const _: () = assert!(size_of::<RawRwLock>() == 4);
