//! [`Mutex`]: when to take it, how it works, and its code.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::time::{Duration, Instant};

#[cfg(any(simulated, not(any(loom, debug_assertions))))]
use corecast_base::LINE_BYTES;
use corecast_base::sync::UnsafeCell;

use crate::auto::Auto;
use crate::holder::Holder;
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

/// Data behind a lock: the safe front of every [`RawLock`], of [`Auto`] unless another one is named.
///
/// [`Mutex::with`] works with every lock: the node of an acquisition lies in its frame. [`Mutex::lock`] returns a guard,
/// and exists
/// for locks whose node may be forgotten ([`NodeMoves`]): a guard that borrowed a node of a queue would leave a dead one there if
/// it were forgotten.
///
/// A panic while the lock is held frees it; the data stays as the panic left it, and the mutex is not poisoned. A thread that
/// locks a mutex which it holds waits for ever; with debug assertions it panics.
///
/// ```
/// use corecast_lock::{Mcs, Mutex, Word};
///
/// static COUNT: Mutex<u32> = Mutex::new(7); // the lock that finds out how its threads should wait
/// *COUNT.lock() += 1;
/// assert_eq!(COUNT.with(|count| *count), 8);
///
/// let queue: Mutex<Vec<u32>, Mcs> = Mutex::from(Vec::new()); // another lock is one word away
/// std::thread::scope(|scope| {
///     for thread in 0..4 {
///         scope.spawn({ let queue = &queue; move || queue.with(|queue| queue.push(thread)) });
///     }
/// });
/// assert_eq!(queue.into_inner().len(), 4);
///
/// let word = Mutex::from_raw(Word::default(), 7);
/// *word.lock() += 1;
/// assert_eq!(word.try_with(|value| *value), Some(8));
/// ```
///
/// A mutex of another lock that is a constant ([`RawConst`]) may be a static, too:
/// ```
/// use corecast_lock::{Mcs, Mutex, RawConst};
///
/// static EVENTS: Mutex<Vec<u32>, Mcs> = Mutex::from_raw(Mcs::INIT, Vec::new());
///
/// EVENTS.with(|events| events.push(1));
/// assert_eq!(EVENTS.with(|events| events.len()), 1);
/// ```
///
/// A mutex cannot be dropped while another thread waits for it, as that one borrows it:
/// ```compile_fail,E0505
/// use corecast_lock::Mutex;
/// let mutex = Mutex::new(7);
/// let guard = mutex.lock();
/// drop(mutex);
/// drop(guard);
/// ```
/// A guard of a lock whose node lies in the frame is refused:
/// ```compile_fail,E0599
/// use corecast_lock::{Mutex, Mcs};
/// let mutex: Mutex<u32, Mcs> = Mutex::from(7);
/// let guard = mutex.lock();
/// ```
///
/// The lock comes first, so that data which begins on the same line comes along with it. [`Auto`] has a cache line to itself and
/// the first 8 bytes of the data: a `Mutex<u64>` is that line. With debug assertions the holder has these bytes, though not on
/// a simulated machine.
#[repr(C)]
pub struct Mutex<T: ?Sized, L: RawLock = Auto> {
    _alignment: [L::Alignment; 0],
    raw: L,
    holder: Holder,
    data: UnsafeCell<T>,
}

#[cfg(any(simulated, not(any(loom, debug_assertions))))]
const _: () = assert!(
    size_of::<Mutex<u64>>() == LINE_BYTES && align_of::<Mutex<u64>>() == LINE_BYTES,
    "a lock and a word are a line"
);

// SAFETY: the lock lets one thread at a time reach the data.
unsafe impl<T: ?Sized + Send, L: RawLock> Sync for Mutex<T, L> {}
// SAFETY: the data goes along, and a lock is Send.
unsafe impl<T: ?Sized + Send, L: RawLock> Send for Mutex<T, L> {}

/// The acquisition that ends when a lock is released, also by a panic.
struct Held<'a, T: ?Sized, L: RawLock> {
    mutex: &'a Mutex<T, L>,
    node: &'a L::Node,
}

impl<T: ?Sized, L: RawLock> Drop for Held<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the thread that makes this holds the lock with this node, which stays in its frame.
        unsafe { self.mutex.release(self.node) };
    }
}

#[cfg(not(loom))]
impl<T> Mutex<T> {
    /// `value`, free, behind [`Auto`]. Of another lock: [`from_raw`](Self::from_raw), or `Mutex::from(value)` where its type is
    /// known.
    pub const fn new(value: T) -> Self {
        Self::from_raw(Auto::INIT, value)
    }
}

#[cfg(not(loom))]
impl<T, L: RawLock> Mutex<T, L> {
    /// `value`, free, behind this lock, which nothing else uses.
    pub const fn from_raw(raw: L, value: T) -> Self {
        Self { _alignment: [], raw, holder: Holder::NOBODY, data: UnsafeCell::new(value) }
    }
}

impl<T, L: RawLock> Mutex<T, L> {
    /// `value`, free, behind a lock that is made for this number of threads and these neighbours.
    pub fn for_setup(value: T, setup: &Setup) -> Self {
        Self { _alignment: [], raw: L::new(setup), holder: Holder::new(), data: UnsafeCell::new(value) }
    }
}

impl<T, L: RawLock> From<T> for Mutex<T, L> {
    /// `value`, free, for the usual number of threads.
    fn from(value: T) -> Self {
        Self::for_setup(value, &Setup::default())
    }
}

impl<T: ?Sized, L: RawLock> Mutex<T, L> {
    /// Waits until the lock is free, and calls `use_it` on the data while it is held.
    ///
    /// # Panics
    /// If `use_it` does; the lock is freed then. With debug assertions, if this thread holds the lock.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        let node = L::Node::default();
        self.holder.expect_another();
        // SAFETY: the node stays in this frame, and is used for this.
        unsafe { self.raw.lock(&node) };
        // SAFETY: just locked with this node.
        unsafe { self.held(&node, use_it) }
    }

    /// As [`with`](Self::with) if the lock is free; `None` if not, without waiting.
    ///
    /// # Panics
    /// If `use_it` does; the lock is freed then.
    #[inline]
    pub fn try_with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> Option<R> {
        let node = L::Node::default();
        // SAFETY: the node stays in this frame, and is used for this.
        if !unsafe { self.raw.try_lock(&node) } {
            return None;
        }
        // SAFETY: just locked with this node.
        Some(unsafe { self.held(&node, use_it) })
    }

    /// # Safety
    /// - The lock was taken with this node, which nothing else has ended.
    #[inline]
    unsafe fn held<R>(&self, node: &L::Node, use_it: impl FnOnce(&mut T) -> R) -> R {
        self.holder.enter();
        let _held = Held { mutex: self, node };
        self.data.with_mut(|data| {
            // SAFETY: the lock is held, so nobody else looks at the data.
            use_it(unsafe { &mut *data })
        })
    }

    /// # Safety
    /// - As of [`RawLock::unlock`].
    #[inline]
    unsafe fn release(&self, node: &L::Node) {
        self.holder.leave();
        // SAFETY: the caller's promise.
        unsafe { self.raw.unlock(node) };
    }

    /// True if a thread holds the lock at this moment, which may be over when this returns. It is a try: another one at the same
    /// time may fail because of it.
    pub fn is_locked(&self) -> bool {
        self.try_with(|_| ()).is_none()
    }

    /// The lock itself, for what it can tell.
    pub fn raw(&self) -> &L {
        &self.raw
    }

    /// The data, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: this is the only reference to the mutex.
        self.data.with_mut(|data| unsafe { &mut *data })
    }
}

impl<T, L: RawLock> Mutex<T, L> {
    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized, L: RawTimed> Mutex<T, L> {
    /// As [`with`](Self::with), but gives up when `limit` has passed: `None` then, perhaps a little later.
    ///
    /// # Panics
    /// If `use_it` does; the lock is freed then. With debug assertions, if this thread holds the lock.
    #[inline]
    #[track_caller]
    pub fn with_timeout<R>(&self, limit: Duration, use_it: impl FnOnce(&mut T) -> R) -> Option<R> {
        let Some(deadline) = Instant::now().checked_add(limit) else { return Some(self.with(use_it)) };
        let node = L::Node::default();
        self.holder.expect_another();
        // SAFETY: the node stays in this frame, and is used for this.
        if !unsafe { self.raw.lock_until(&node, deadline) } {
            return None;
        }
        // SAFETY: just locked with this node.
        Some(unsafe { self.held(&node, use_it) })
    }
}

impl<T: ?Sized, L: NodeMoves> Mutex<T, L> {
    /// Waits until the lock is free, and holds it for as long as the guard lives.
    ///
    /// # Panics
    /// With debug assertions, if this thread holds the lock.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T, L> {
        let node = L::Node::default();
        self.holder.expect_another();
        // SAFETY: the node goes into the guard, as it may.
        unsafe { self.raw.lock(&node) };
        self.guard(node)
    }

    /// As [`lock`](Self::lock) if the lock is free; `None` if not, without waiting.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T, L>> {
        let node = L::Node::default();
        // SAFETY: the node goes into the guard, as it may.
        unsafe { self.raw.try_lock(&node) }.then(|| self.guard(node))
    }

    /// As [`lock`](Self::lock), but gives up when `limit` has passed: `None` then, perhaps a little later.
    ///
    /// # Panics
    /// With debug assertions, if this thread holds the lock.
    #[track_caller]
    pub fn try_lock_for(&self, limit: Duration) -> Option<MutexGuard<'_, T, L>>
    where
        L: RawTimed,
    {
        let Some(deadline) = Instant::now().checked_add(limit) else { return Some(self.lock()) };
        let node = L::Node::default();
        self.holder.expect_another();
        // SAFETY: the node goes into the guard, as it may.
        unsafe { self.raw.lock_until(&node, deadline) }.then(|| self.guard(node))
    }

    #[inline]
    fn guard(&self, node: L::Node) -> MutexGuard<'_, T, L> {
        self.holder.enter();
        MutexGuard { mutex: self, node, _thread: PhantomData }
    }
}

impl<T: Default, L: RawLock> Default for Mutex<T, L> {
    fn default() -> Self {
        Self::from(T::default())
    }
}

impl<T: ?Sized + fmt::Debug, L: RawLock> fmt::Debug for Mutex<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Mutex");
        match self.try_with(|data| text.field("data", &&*data).finish_non_exhaustive()) {
            Some(result) => result,
            None => f.write_str("Mutex { <locked> }"),
        }
    }
}

/// A mutex that is held. Dropped, it frees it; forgotten, the mutex is held for ever. It stays on its thread.
pub struct MutexGuard<'a, T: ?Sized, L: NodeMoves = Auto> {
    mutex: &'a Mutex<T, L>,
    node: L::Node,
    _thread: PhantomData<*const ()>,
}

impl<'a, T: ?Sized, L: NodeMoves> MutexGuard<'a, T, L> {
    /// A guard of a part of the data, such as one field.
    pub fn map<U: ?Sized>(guard: Self, part: impl FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'a, U, L> {
        match Self::try_map(guard, |data| Some(part(data))) {
            Ok(mapped) => mapped,
            Err(_) => unreachable!("the part is always there"),
        }
    }

    /// As [`map`](Self::map), if the part is there.
    ///
    /// # Errors
    /// The guard, if `part` returned `None`.
    pub fn try_map<U: ?Sized>(
        mut guard: Self,
        part: impl FnOnce(&mut T) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U, L>, Self> {
        let Some(part) = part(&mut guard).map(|part| ptr::from_mut(part)) else { return Err(guard) };
        let guard = ManuallyDrop::new(guard);
        let (raw, holder) = (&guard.mutex.raw, &guard.mutex.holder);
        // SAFETY: the guard is not dropped and not used again, so this is the only one that uses its node.
        let node = unsafe { ptr::read(&guard.node) };
        Ok(MappedMutexGuard { raw, holder, node, part, _thread: PhantomData })
    }

    /// Frees the mutex while `run` runs.
    pub(crate) fn unlocked<R>(guard: &mut Self, run: impl FnOnce() -> R) -> R {
        // SAFETY: the guard holds the lock with this node, and is borrowed until it does again.
        unsafe { guard.mutex.release(&guard.node) };
        let again = Relock(guard);
        let result = run();
        drop(again);
        result
    }
}

/// Locks the mutex of a guard again, also after a panic, as the guard will free it.
struct Relock<'a, 'b, T: ?Sized, L: NodeMoves>(&'b mut MutexGuard<'a, T, L>);

impl<T: ?Sized, L: NodeMoves> Drop for Relock<'_, '_, T, L> {
    fn drop(&mut self) {
        // SAFETY: the node is the guard's, whose last acquisition has ended.
        unsafe { self.0.mutex.raw.lock(&self.0.node) };
        self.0.mutex.holder.enter();
    }
}

// SAFETY: it lends the data as a reference to it would.
unsafe impl<T: ?Sized + Sync, L: NodeMoves> Sync for MutexGuard<'_, T, L> {}

impl<T: ?Sized, L: NodeMoves> Deref for MutexGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held for as long as the guard lives.
        self.mutex.data.with(|data| unsafe { &*data })
    }
}

impl<T: ?Sized, L: NodeMoves> DerefMut for MutexGuard<'_, T, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held for as long as the guard lives, which is borrowed for writing.
        self.mutex.data.with_mut(|data| unsafe { &mut *data })
    }
}

impl<T: ?Sized, L: NodeMoves> Drop for MutexGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard was made of the lock's acquisition with this node.
        unsafe { self.mutex.release(&self.node) };
    }
}

impl<T: ?Sized + fmt::Debug, L: NodeMoves> fmt::Debug for MutexGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display, L: NodeMoves> fmt::Display for MutexGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

/// A part of the data of a mutex that is held; see [`MutexGuard::map`]. Dropped, it frees the mutex.
pub struct MappedMutexGuard<'a, T: ?Sized, L: NodeMoves = Auto> {
    raw: &'a L,
    holder: &'a Holder,
    node: L::Node,
    /// The part, which nothing else reaches while the mutex is held.
    part: *mut T,
    _thread: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized, L: NodeMoves> MappedMutexGuard<'a, T, L> {
    /// A guard of a part of this part.
    pub fn map<U: ?Sized>(mut guard: Self, part: impl FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'a, U, L> {
        let part = ptr::from_mut(part(&mut guard));
        let guard = ManuallyDrop::new(guard);
        // SAFETY: the guard is not dropped and not used again, so this is the only one that uses its node.
        let node = unsafe { ptr::read(&guard.node) };
        MappedMutexGuard { raw: guard.raw, holder: guard.holder, node, part, _thread: PhantomData }
    }
}

// SAFETY: it lends the part as a reference to it would.
unsafe impl<T: ?Sized + Sync, L: NodeMoves> Sync for MappedMutexGuard<'_, T, L> {}

impl<T: ?Sized, L: NodeMoves> Deref for MappedMutexGuard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held for as long as the guard lives.
        unsafe { &*self.part }
    }
}

impl<T: ?Sized, L: NodeMoves> DerefMut for MappedMutexGuard<'_, T, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held for as long as the guard lives, which is borrowed for writing.
        unsafe { &mut *self.part }
    }
}

impl<T: ?Sized, L: NodeMoves> Drop for MappedMutexGuard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        self.holder.leave();
        // SAFETY: the guard was made of the lock's acquisition with this node.
        unsafe { self.raw.unlock(&self.node) };
    }
}

impl<T: ?Sized + fmt::Debug, L: NodeMoves> fmt::Debug for MappedMutexGuard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
