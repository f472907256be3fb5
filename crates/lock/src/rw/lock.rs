//! Data behind a reader-writer lock: the safe front of every [`RawRwLock`].
//!
//! A panic while the lock is held frees it; the data is as the panic left it, and nobody is told (no poisoning). To lock one that
//! this thread writes waits for ever; with debug assertions it panics. So may a reader that reads once more, and nothing
//! tells of that: a writer that came in between waits for the first, and the second for the writer.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use corecast_base::sync::UnsafeCell;

use super::raw::{RawRwLock, RawRwTimed, RawRwUpgrade};
use crate::holder::Holder;
use crate::raw::Setup;

/// Data that many threads read at a time, or one writes. See the [module](crate::rw).
///
/// A lock cannot be dropped while another thread waits for it, as that one borrows it:
/// ```compile_fail,E0505
/// use corecast_lock::{RwLock, RwTtas};
/// let lock: RwLock<u32, RwTtas> = RwLock::new(7);
/// let guard = lock.read();
/// drop(lock);
/// drop(guard);
/// ```
pub struct RwLock<T, L> {
    raw: L,
    /// The thread that writes.
    writer: Holder,
    data: UnsafeCell<T>,
}

// SAFETY: the lock lets many threads read the data, or one write it.
unsafe impl<T: Send + Sync, L: RawRwLock> Sync for RwLock<T, L> {}
// SAFETY: the data goes along, and a lock is Send.
unsafe impl<T: Send, L: RawRwLock> Send for RwLock<T, L> {}

impl<T, L: RawRwLock> RwLock<T, L> {
    /// `value`, free, for as many threads as usual.
    pub fn new(value: T) -> Self {
        Self::for_setup(value, &Setup::default())
    }

    /// `value`, free.
    pub fn for_setup(value: T, setup: &Setup) -> Self {
        Self { raw: L::new(setup), writer: Holder::new(), data: UnsafeCell::new(value) }
    }

    /// Waits until nobody writes, and reads for as long as the guard lives.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> ReadGuard<'_, T, L> {
        self.expect_other_writer();
        self.reading(self.raw.read())
    }

    /// As [`read`](Self::read) if nobody writes or is about to; `None` if somebody does, without waiting.
    #[inline]
    pub fn try_read(&self) -> Option<ReadGuard<'_, T, L>> {
        self.raw.try_read().map(|reader| self.reading(reader))
    }

    /// Waits until nobody reads or writes, and writes for as long as the guard lives.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> WriteGuard<'_, T, L> {
        self.expect_other_writer();
        self.raw.write();
        self.writing()
    }

    /// As [`write`](Self::write) if nobody reads or writes; `None` if somebody does, without waiting.
    #[inline]
    pub fn try_write(&self) -> Option<WriteGuard<'_, T, L>> {
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
    fn reading(&self, reader: L::Reader) -> ReadGuard<'_, T, L> {
        ReadGuard { lock: self, reader, _thread: PhantomData }
    }

    #[inline]
    fn writing(&self) -> WriteGuard<'_, T, L> {
        self.writer.enter();
        WriteGuard { lock: self, _thread: PhantomData }
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

impl<T, L: RawRwTimed> RwLock<T, L> {
    /// As [`read`](Self::read), but gives up when `limit` has passed: `None` then, perhaps a little later.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[track_caller]
    pub fn read_timeout(&self, limit: Duration) -> Option<ReadGuard<'_, T, L>> {
        let Some(deadline) = Instant::now().checked_add(limit) else { return Some(self.read()) };
        self.expect_other_writer();
        self.raw.read_until(deadline).map(|reader| self.reading(reader))
    }

    /// As [`write`](Self::write), but gives up when `limit` has passed: `None` then, perhaps a little later.
    ///
    /// # Panics
    /// With debug assertions, if this thread writes.
    #[track_caller]
    pub fn write_timeout(&self, limit: Duration) -> Option<WriteGuard<'_, T, L>> {
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
        Self::new(T::default())
    }
}

impl<T: fmt::Debug, L: RawRwLock> fmt::Debug for RwLock<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_read() {
            Some(data) => f.debug_struct("RwLock").field("data", &*data).finish_non_exhaustive(),
            None => f.write_str("RwLock { <locked> }"),
        }
    }
}

/// A lock that is read. Dropped, it ends that; forgotten, nobody ever writes. It stays on its thread.
pub struct ReadGuard<'a, T, L: RawRwLock> {
    lock: &'a RwLock<T, L>,
    reader: L::Reader,
    _thread: PhantomData<*const ()>,
}

// SAFETY: it lends the data as a reference to it would; a reader is only copied, and used up by its own thread.
unsafe impl<T: Sync, L: RawRwLock> Sync for ReadGuard<'_, T, L> {}

impl<'a, T, L: RawRwUpgrade> ReadGuard<'a, T, L> {
    /// Writes if this is the only reader; some locks ask as well that nobody is about to write.
    ///
    /// # Errors
    /// The guard, if there are others: it reads on.
    pub fn try_upgrade(self) -> Result<WriteGuard<'a, T, L>, Self> {
        // SAFETY: the guard is a reader, which goes into the one for writing.
        if !unsafe { self.lock.raw.try_upgrade(self.reader) } {
            return Err(self);
        }
        Ok(ManuallyDrop::new(self).lock.writing())
    }
}

impl<T, L: RawRwLock> Deref for ReadGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes for as long as the guard lives.
        self.lock.data.with(|data| unsafe { &*data })
    }
}

impl<T, L: RawRwLock> Drop for ReadGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard was made of this reader.
        unsafe { self.lock.raw.unlock_read(self.reader) };
    }
}

impl<T: fmt::Debug, L: RawRwLock> fmt::Debug for ReadGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A lock that is written. Dropped, it ends that; forgotten, it is held for ever. It stays on its thread.
pub struct WriteGuard<'a, T, L: RawRwLock> {
    lock: &'a RwLock<T, L>,
    _thread: PhantomData<*const ()>,
}

// SAFETY: it lends the data as a reference to it would.
unsafe impl<T: Sync, L: RawRwLock> Sync for WriteGuard<'_, T, L> {}

impl<'a, T, L: RawRwLock> WriteGuard<'a, T, L> {
    /// Reads from now on; nobody writes in between.
    #[must_use]
    pub fn downgrade(self) -> ReadGuard<'a, T, L> {
        let lock = ManuallyDrop::new(self).lock;
        lock.writer.leave();
        // SAFETY: the guard wrote, and is not dropped.
        lock.reading(unsafe { lock.raw.downgrade() })
    }
}

impl<T, L: RawRwLock> Deref for WriteGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: nobody else writes for as long as the guard lives.
        self.lock.data.with(|data| unsafe { &*data })
    }
}

impl<T, L: RawRwLock> DerefMut for WriteGuard<'_, T, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: nobody else reads or writes for as long as the guard lives, which is borrowed for writing.
        self.lock.data.with_mut(|data| unsafe { &mut *data })
    }
}

impl<T, L: RawRwLock> Drop for WriteGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        self.lock.writer.leave();
        // SAFETY: the guard was made of a writer.
        unsafe { self.lock.raw.unlock_write() };
    }
}

impl<T: fmt::Debug, L: RawRwLock> fmt::Debug for WriteGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
