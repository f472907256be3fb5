//! Data behind a reader-writer lock: the safe front of every [`RawRwLock`], of [`RwSpread`] unless another one is named.
//!
//! A panic while the lock is held frees it; the data stays as the panic left it, and the lock is not poisoned. A thread
//! that locks
//! one which it writes waits for ever; with debug assertions it panics. A reader that reads once more may wait for ever, too, and
//! nothing detects that: a writer that came in between waits for the first read, and the second read for the writer.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::time::{Duration, Instant};

use corecast_base::sync::UnsafeCell;

#[cfg(not(loom))]
use super::raw::RawRwConst;
use super::raw::{RawRwLock, RawRwTimed, RawRwUpgrade};
use super::spread::RwSpread;
use crate::holder::Holder;
use crate::raw::Setup;

/// Data that many threads read at a time, or one writes.
///
/// A lock cannot be dropped while another thread waits for it, as that one borrows it:
/// ```compile_fail,E0505
/// use corecast_lock::{RwLock, RwTtas};
/// let lock: RwLock<u32, RwTtas> = RwLock::from(7);
/// let guard = lock.read();
/// drop(lock);
/// drop(guard);
/// ```
pub struct RwLock<T: ?Sized, L = RwSpread> {
    raw: L,
    /// The thread that writes.
    writer: Holder,
    data: UnsafeCell<T>,
}

// SAFETY: the lock lets many threads read the data, or one write it.
unsafe impl<T: ?Sized + Send + Sync, L: RawRwLock> Sync for RwLock<T, L> {}
// SAFETY: the data goes along, and a lock is Send.
unsafe impl<T: ?Sized + Send, L: RawRwLock> Send for RwLock<T, L> {}

#[cfg(not(loom))]
impl<T> RwLock<T> {
    /// `value`, free, behind [`RwSpread`]. Of another lock: [`from_raw`](Self::from_raw), or `RwLock::from(value)` where its type
    /// is known.
    pub const fn new(value: T) -> Self {
        Self::from_raw(RwSpread::INIT, value)
    }
}

#[cfg(not(loom))]
impl<T, L> RwLock<T, L> {
    /// `value`, free, behind this lock, which nothing else uses.
    pub const fn from_raw(raw: L, value: T) -> Self {
        Self { raw, writer: Holder::NOBODY, data: UnsafeCell::new(value) }
    }
}

impl<T, L: RawRwLock> RwLock<T, L> {
    /// `value`, free, behind a lock that is made for this number of threads.
    pub fn for_setup(value: T, setup: &Setup) -> Self {
        Self { raw: L::new(setup), writer: Holder::new(), data: UnsafeCell::new(value) }
    }
}

impl<T, L: RawRwLock> From<T> for RwLock<T, L> {
    /// `value`, free, for the usual number of threads.
    fn from(value: T) -> Self {
        Self::for_setup(value, &Setup::default())
    }
}

impl<T: ?Sized, L: RawRwLock> RwLock<T, L> {
    /// Waits until nobody writes, and reads for as long as the guard lives.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> RwLockReadGuard<'_, T, L> {
        self.expect_other_writer();
        self.reading(self.raw.read())
    }

    /// As [`read`](Self::read) if nobody writes or is about to; `None` if somebody does, without waiting.
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T, L>> {
        self.raw.try_read().map(|reader| self.reading(reader))
    }

    /// Waits until nobody reads or writes, and writes for as long as the guard lives.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> RwLockWriteGuard<'_, T, L> {
        self.expect_other_writer();
        self.raw.write();
        self.writing()
    }

    /// As [`write`](Self::write) if nobody reads or writes; `None` if somebody does, without waiting.
    #[inline]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T, L>> {
        self.raw.try_write().then(|| self.writing())
    }

    /// Waits until nobody writes, and calls `use_it` on the data while that is so.
    ///
    /// # Panics
    /// If `use_it` does; the lock is freed then. With debug assertions, if this thread writes.
    #[inline]
    #[track_caller]
    pub fn with_read<R>(&self, use_it: impl FnOnce(&T) -> R) -> R {
        let _guard = self.read();
        // SAFETY: the guard keeps writers out.
        self.data.with(|data| use_it(unsafe { &*data }))
    }

    /// Waits until nobody reads or writes, and calls `use_it` on the data while that is so.
    ///
    /// # Panics
    /// If `use_it` does; the lock is freed then. With debug assertions, if this thread writes.
    #[inline]
    #[track_caller]
    pub fn with_write<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        let _guard = self.write();
        // SAFETY: the guard keeps all others out.
        self.data.with_mut(|data| use_it(unsafe { &mut *data }))
    }

    #[inline]
    #[track_caller]
    fn expect_other_writer(&self) {
        assert!(!self.writer.is_this_thread(), "a thread must not wait for a reader-writer lock that it writes");
    }

    #[inline]
    fn reading(&self, reader: L::Reader) -> RwLockReadGuard<'_, T, L> {
        RwLockReadGuard { lock: self, reader, _thread: PhantomData }
    }

    #[inline]
    fn writing(&self) -> RwLockWriteGuard<'_, T, L> {
        self.writer.enter();
        RwLockWriteGuard { lock: self, _thread: PhantomData }
    }

    /// True if a thread reads or writes at this moment, which may be over when this returns. It is a try: another one at the same
    /// time may fail because of it.
    pub fn is_locked(&self) -> bool {
        self.try_write().is_none()
    }

    /// The lock itself, for what it can tell.
    pub fn raw(&self) -> &L {
        &self.raw
    }

    /// The data, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: this is the only reference to the lock.
        self.data.with_mut(|data| unsafe { &mut *data })
    }
}

impl<T: ?Sized, L: RawRwTimed> RwLock<T, L> {
    /// As [`read`](Self::read), but gives up when `limit` has passed: `None` then, perhaps a little later.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[track_caller]
    pub fn try_read_for(&self, limit: Duration) -> Option<RwLockReadGuard<'_, T, L>> {
        let Some(deadline) = Instant::now().checked_add(limit) else { return Some(self.read()) };
        self.expect_other_writer();
        self.raw.read_until(deadline).map(|reader| self.reading(reader))
    }

    /// As [`write`](Self::write), but gives up when `limit` has passed: `None` then, perhaps a little later.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[track_caller]
    pub fn try_write_for(&self, limit: Duration) -> Option<RwLockWriteGuard<'_, T, L>> {
        let Some(deadline) = Instant::now().checked_add(limit) else { return Some(self.write()) };
        self.expect_other_writer();
        self.raw.write_until(deadline).then(|| self.writing())
    }
}

impl<T, L> RwLock<T, L> {
    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: Default, L: RawRwLock> Default for RwLock<T, L> {
    fn default() -> Self {
        Self::from(T::default())
    }
}

impl<T: ?Sized + fmt::Debug, L: RawRwLock> fmt::Debug for RwLock<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_read() {
            Some(data) => f.debug_struct("RwLock").field("data", &&*data).finish_non_exhaustive(),
            None => f.write_str("RwLock { <locked> }"),
        }
    }
}

/// A lock that is read. Dropped, it ends that; forgotten, nobody ever writes. It stays on its thread.
pub struct RwLockReadGuard<'a, T: ?Sized, L: RawRwLock = RwSpread> {
    lock: &'a RwLock<T, L>,
    reader: L::Reader,
    _thread: PhantomData<*const ()>,
}

// SAFETY: it lends the data as a reference to it would; a reader is only copied, and used up by its own thread.
unsafe impl<T: ?Sized + Sync, L: RawRwLock> Sync for RwLockReadGuard<'_, T, L> {}

impl<'a, T: ?Sized, L: RawRwLock> RwLockReadGuard<'a, T, L> {
    /// A guard of a part of the data, such as one field.
    pub fn map<U: ?Sized>(guard: Self, part: impl FnOnce(&T) -> &U) -> MappedRwLockReadGuard<'a, U, L> {
        let part = ptr::from_ref(part(&guard));
        let guard = ManuallyDrop::new(guard);
        MappedRwLockReadGuard { raw: &guard.lock.raw, reader: guard.reader, part, _thread: PhantomData }
    }
}

impl<'a, T: ?Sized, L: RawRwUpgrade> RwLockReadGuard<'a, T, L> {
    /// Writes if this is the only reader; some locks ask as well that nobody is about to write.
    ///
    /// # Errors
    /// The guard, if there are others: it reads on.
    pub fn try_upgrade(self) -> Result<RwLockWriteGuard<'a, T, L>, Self> {
        // SAFETY: the guard is a reader, which goes into the one for writing.
        if !unsafe { self.lock.raw.try_upgrade(self.reader) } {
            return Err(self);
        }
        Ok(ManuallyDrop::new(self).lock.writing())
    }
}

impl<T: ?Sized, L: RawRwLock> Deref for RwLockReadGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes for as long as the guard lives.
        self.lock.data.with(|data| unsafe { &*data })
    }
}

impl<T: ?Sized, L: RawRwLock> Drop for RwLockReadGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard was made of this reader.
        unsafe { self.lock.raw.unlock_read(self.reader) };
    }
}

impl<T: ?Sized + fmt::Debug, L: RawRwLock> fmt::Debug for RwLockReadGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A lock that is written. Dropped, it ends that; forgotten, it is held for ever. It stays on its thread.
pub struct RwLockWriteGuard<'a, T: ?Sized, L: RawRwLock = RwSpread> {
    lock: &'a RwLock<T, L>,
    _thread: PhantomData<*const ()>,
}

// SAFETY: it lends the data as a reference to it would.
unsafe impl<T: ?Sized + Sync, L: RawRwLock> Sync for RwLockWriteGuard<'_, T, L> {}

impl<'a, T: ?Sized, L: RawRwLock> RwLockWriteGuard<'a, T, L> {
    /// A guard of a part of the data, such as one field.
    pub fn map<U: ?Sized>(mut guard: Self, part: impl FnOnce(&mut T) -> &mut U) -> MappedRwLockWriteGuard<'a, U, L> {
        let part = ptr::from_mut(part(&mut guard));
        let lock = ManuallyDrop::new(guard).lock;
        MappedRwLockWriteGuard { raw: &lock.raw, writer: &lock.writer, part, _thread: PhantomData }
    }

    /// Reads from now on; nobody writes in between.
    #[must_use]
    pub fn downgrade(self) -> RwLockReadGuard<'a, T, L> {
        let lock = ManuallyDrop::new(self).lock;
        lock.writer.leave();
        // SAFETY: the guard wrote, and is not dropped.
        lock.reading(unsafe { lock.raw.downgrade() })
    }
}

impl<T: ?Sized, L: RawRwLock> Deref for RwLockWriteGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody else writes for as long as the guard lives.
        self.lock.data.with(|data| unsafe { &*data })
    }
}

impl<T: ?Sized, L: RawRwLock> DerefMut for RwLockWriteGuard<'_, T, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: nobody else reads or writes for as long as the guard lives, which is borrowed for writing.
        self.lock.data.with_mut(|data| unsafe { &mut *data })
    }
}

impl<T: ?Sized, L: RawRwLock> Drop for RwLockWriteGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        self.lock.writer.leave();
        // SAFETY: the guard was made of a writer.
        unsafe { self.lock.raw.unlock_write() };
    }
}

impl<T: ?Sized + fmt::Debug, L: RawRwLock> fmt::Debug for RwLockWriteGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A part of the data of a lock that is read; see [`RwLockReadGuard::map`]. Dropped, it ends that.
pub struct MappedRwLockReadGuard<'a, T: ?Sized, L: RawRwLock = RwSpread> {
    raw: &'a L,
    reader: L::Reader,
    /// The part, which nobody writes while the lock is read.
    part: *const T,
    _thread: PhantomData<(&'a T, *const ())>,
}

// SAFETY: it lends the part as a reference to it would.
unsafe impl<T: ?Sized + Sync, L: RawRwLock> Sync for MappedRwLockReadGuard<'_, T, L> {}

impl<T: ?Sized, L: RawRwLock> Deref for MappedRwLockReadGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes for as long as the guard lives.
        unsafe { &*self.part }
    }
}

impl<T: ?Sized, L: RawRwLock> Drop for MappedRwLockReadGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard was made of this reader.
        unsafe { self.raw.unlock_read(self.reader) };
    }
}

impl<T: ?Sized + fmt::Debug, L: RawRwLock> fmt::Debug for MappedRwLockReadGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A part of the data of a lock that is written; see [`RwLockWriteGuard::map`]. Dropped, it ends that.
pub struct MappedRwLockWriteGuard<'a, T: ?Sized, L: RawRwLock = RwSpread> {
    raw: &'a L,
    writer: &'a Holder,
    /// The part, which nothing else reaches while the lock is written.
    part: *mut T,
    _thread: PhantomData<(&'a mut T, *const ())>,
}

// SAFETY: it lends the part as a reference to it would.
unsafe impl<T: ?Sized + Sync, L: RawRwLock> Sync for MappedRwLockWriteGuard<'_, T, L> {}

impl<T: ?Sized, L: RawRwLock> Deref for MappedRwLockWriteGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody else writes for as long as the guard lives.
        unsafe { &*self.part }
    }
}

impl<T: ?Sized, L: RawRwLock> DerefMut for MappedRwLockWriteGuard<'_, T, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: nobody else reads or writes for as long as the guard lives, which is borrowed for writing.
        unsafe { &mut *self.part }
    }
}

impl<T: ?Sized, L: RawRwLock> Drop for MappedRwLockWriteGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        self.writer.leave();
        // SAFETY: the guard was made of a writer.
        unsafe { self.raw.unlock_write() };
    }
}

impl<T: ?Sized + fmt::Debug, L: RawRwLock> fmt::Debug for MappedRwLockWriteGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
