//! The one interface of all reader-writer locks.

use std::time::Instant;

use corecast_base::wait::Spinner;

use crate::facts::Facts;
use crate::raw::Setup;

/// A reader-writer lock without the data that it guards. [`RwLock`](crate::RwLock) is the safe front.
///
/// **Memory ordering:** what happened before a writer's unlock is visible after the next lock of any kind, and what happened
/// before a reader's unlock after the next writer's lock, as with Release and Acquire.
///
/// # Safety
/// - Between a writer's lock, or a try of one that returned true, and its unlock no other lock succeeds.
/// - Between a reader's lock and its unlock no writer's lock succeeds.
/// - Everything before an unlock happens before everything after the next lock, unless both are readers'.
/// - A try never waits, and one that failed leaves nothing behind.
pub unsafe trait RawRwLock: Send + Sync + Sized {
    /// The state that a reader keeps until it ends: where it was counted, say; `()` where that is nothing.
    type Reader: Copy;

    /// The description for users.
    const FACTS: Facts;

    /// A free lock.
    fn new(setup: &Setup) -> Self;

    /// Waits until nobody writes, and reads.
    fn read(&self) -> Self::Reader;

    /// Reads if nobody writes, or is about to. It may fail while another try is under way.
    fn try_read(&self) -> Option<Self::Reader>;

    /// Ends a reader.
    ///
    /// # Safety
    /// - This is the reader that a lock of this lock returned, and ends now.
    unsafe fn unlock_read(&self, reader: Self::Reader);

    /// Waits until nobody reads or writes, and writes.
    fn write(&self);

    /// Writes if nobody reads or writes. It may fail while another try is under way.
    fn try_write(&self) -> bool;

    /// Ends the writer.
    ///
    /// # Safety
    /// - The caller writes, which ends now.
    unsafe fn unlock_write(&self);

    /// Makes the writer a reader, without a moment in which another one might write.
    ///
    /// # Safety
    /// - The caller writes, which ends now.
    unsafe fn downgrade(&self) -> Self::Reader;
}

/// A reader-writer lock whose wait can end at a time.
///
/// # Safety
/// - Both keep what [`RawRwLock`] says of tries, but that they wait.
pub unsafe trait RawRwTimed: RawRwLock {
    /// Waits until nobody writes, and reads; gives up at `deadline`, perhaps a little later. A deadline that has passed is a
    /// try. A lock that has nothing better tries again and again, and may starve.
    fn read_until(&self, deadline: Instant) -> Option<Self::Reader> {
        poll_until(deadline, || self.try_read())
    }

    /// As [`read_until`](Self::read_until), and writes.
    fn write_until(&self, deadline: Instant) -> bool {
        poll_until(deadline, || self.try_write().then_some(())).is_some()
    }
}

fn poll_until<R>(deadline: Instant, look: impl Fn() -> Option<R>) -> Option<R> {
    let mut spinner = Spinner::new();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        spinner.pause();
    }
}

/// A reader-writer lock whose only reader can become a writer. There is no such call that waits: two readers that waited for each
/// other to end would wait for ever.
///
/// # Safety
/// - A try that returned true has ended the reader and begun a writer, with no other writer in between.
pub unsafe trait RawRwUpgrade: RawRwLock {
    /// Makes the reader a writer if it is the only one; else it reads on. A lock may refuse, too, where somebody is about to
    /// write.
    ///
    /// # Safety
    /// - As of [`RawRwLock::unlock_read`], if it returns true.
    unsafe fn try_upgrade(&self, reader: Self::Reader) -> bool;
}

/// A reader-writer lock one reader of which may say beforehand that it may write: it reads beside plain readers, and can
/// wait until it writes, as writers and others of its kind wait for it.
///
/// # Safety
/// - From [`read_upgradable`](Self::read_upgradable), or a try of it that returned true, until that reader, or the writer
///   that it became, has ended or become a plain reader, neither a writer's lock nor another upgradable reader's succeeds.
/// - Between the two kinds of a step that makes one of the other no other thread writes.
pub unsafe trait RawRwUpgradable: RawRwLock {
    /// Waits until nobody writes or reads as this one does, and reads.
    fn read_upgradable(&self);

    /// Reads as [`read_upgradable`](Self::read_upgradable), if that is possible at once.
    fn try_read_upgradable(&self) -> bool;

    /// Ends the upgradable reader.
    ///
    /// # Safety
    /// - The caller is the upgradable reader, which ends now.
    unsafe fn unlock_upgradable(&self);

    /// Waits until all other readers have ended, and writes.
    ///
    /// # Safety
    /// - As of [`unlock_upgradable`](Self::unlock_upgradable).
    unsafe fn upgrade(&self);

    /// Writes if there is no other reader; else the upgradable reader reads on.
    ///
    /// # Safety
    /// - As of [`unlock_upgradable`](Self::unlock_upgradable), if it returns true.
    unsafe fn try_upgrade(&self) -> bool;

    /// Makes the upgradable reader a plain one.
    ///
    /// # Safety
    /// - As of [`unlock_upgradable`](Self::unlock_upgradable).
    unsafe fn downgrade_upgradable(&self) -> Self::Reader;

    /// Makes the writer an upgradable reader.
    ///
    /// # Safety
    /// - The caller writes, which ends now.
    unsafe fn downgrade_to_upgradable(&self);
}

/// A reader-writer lock of which a free one is a constant, so that it may be a static.
#[cfg(not(loom))]
pub trait RawRwConst: RawRwLock {
    /// A free lock.
    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a lock of its own")]
    const INIT: Self;
}
