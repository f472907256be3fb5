//! Data behind a lock: the safe front of every [`RawLock`]; of [`Auto`] where none is named.
//!
//! [`Mutex::with`] works with every lock: what an acquisition brings along lies in its frame. [`Mutex::lock`] returns a
//! guard, and exists for locks whose node may be forgotten ([`NodeMoves`]): a guard that borrowed a node of a queue would
//! leave a dead one there if it were forgotten.
//!
//! A panic while the lock is held frees it; the data is as the panic left it, and nobody is told (no poisoning). To
//! lock a mutex that this thread holds waits for ever; with debug assertions it panics.
//!
//! ```
//! use corecast_lock::{Mcs, Mutex, Word};
//!
//! let queue: Mutex<Vec<u32>, Mcs> = Mutex::new(Vec::new());
//! std::thread::scope(|scope| {
//!     for thread in 0..4 {
//!         scope.spawn({ let queue = &queue; move || queue.with(|queue| queue.push(thread)) });
//!     }
//! });
//! assert_eq!(queue.into_inner().len(), 4);
//!
//! let any: Mutex<u32> = Mutex::new(7); // the lock that finds out how to wait
//! assert_eq!(any.with(|value| *value), 7);
//!
//! let word: Mutex<u32, Word> = Mutex::new(7);
//! *word.lock() += 1;
//! assert_eq!(word.try_with(|value| *value), Some(8));
//! ```
//!
//! A mutex of a lock that is a constant may be a static:
//! ```
//! use corecast_lock::{Mcs, Mutex};
//!
//! static EVENTS: Mutex<Vec<u32>, Mcs> = Mutex::const_new(Vec::new());
//! static COUNT: Mutex<u32> = Mutex::const_new(7);
//!
//! EVENTS.with(|events| events.push(1));
//! *COUNT.lock() += 1;
//! assert_eq!((EVENTS.with(|events| events.len()), *COUNT.lock()), (1, 8));
//! ```
//!
//! A mutex cannot be dropped while another thread waits for it, as that one borrows it:
//! ```compile_fail,E0505
//! use corecast_lock::{Mutex, Word};
//! let mutex: Mutex<u32, Word> = Mutex::new(7);
//! let guard = mutex.lock();
//! drop(mutex);
//! drop(guard);
//! ```
//! A guard of a lock whose node lies in the frame is refused:
//! ```compile_fail,E0599
//! use corecast_lock::{Mutex, Mcs};
//! let mutex: Mutex<u32, Mcs> = Mutex::new(7);
//! let guard = mutex.lock();
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use corecast_base::sync::UnsafeCell;

use crate::auto::Auto;
use crate::holder::Holder;
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

/// Data that one thread at a time reaches. See the [module](self).
///
/// The lock comes first, so that data which begins on the same line comes along with it.
#[repr(C)]
pub struct Mutex<T, L = Auto> {
    raw: L,
    holder: Holder,
    data: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at a time reach the data.
unsafe impl<T: Send, L: RawLock> Sync for Mutex<T, L> {}
// SAFETY: the data goes along, and a lock is Send.
unsafe impl<T: Send, L: RawLock> Send for Mutex<T, L> {}

/// What ends when a lock is released, also by a panic.
struct Held<'a, T, L: RawLock> {
    mutex: &'a Mutex<T, L>,
    node: &'a L::Node,
}

impl<T, L: RawLock> Drop for Held<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: whoever makes this holds the lock with this node, which stays in its frame.
        unsafe { self.mutex.release(self.node) };
    }
}

impl<T, L: RawLock> Mutex<T, L> {
    /// `value`, free, for as many threads as usual.
    pub fn new(value: T) -> Self {
        Self::for_setup(value, &Setup::default())
    }

    /// `value`, free.
    pub fn for_setup(value: T, setup: &Setup) -> Self {
        Self { raw: L::new(setup), holder: Holder::new(), data: UnsafeCell::new(value) }
    }

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

#[cfg(not(loom))]
impl<T, L: RawConst> Mutex<T, L> {
    /// `value`, free, as a constant.
    pub const fn const_new(value: T) -> Self {
        Self { raw: L::INIT, holder: Holder::NOBODY, data: UnsafeCell::new(value) }
    }
}

impl<T, L> Mutex<T, L> {
    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T, L: RawTimed> Mutex<T, L> {
    /// As [`with`](RawLock), but gives up when `limit` has passed: `None` then, perhaps a little later.
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

impl<T, L: NodeMoves> Mutex<T, L> {
    /// Waits until the lock is free, and holds it for as long as the guard lives.
    ///
    /// # Panics
    /// With debug assertions, if this thread holds the lock.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> Guard<'_, T, L> {
        let node = L::Node::default();
        self.holder.expect_another();
        // SAFETY: the node goes into the guard, as it may.
        unsafe { self.raw.lock(&node) };
        self.guard(node)
    }

    /// As [`lock`](Self::lock) if the lock is free; `None` if not, without waiting.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T, L>> {
        let node = L::Node::default();
        // SAFETY: the node goes into the guard, as it may.
        unsafe { self.raw.try_lock(&node) }.then(|| self.guard(node))
    }

    #[inline]
    fn guard(&self, node: L::Node) -> Guard<'_, T, L> {
        self.holder.enter();
        Guard { mutex: self, node, _thread: PhantomData }
    }
}

impl<T: Default, L: RawLock> Default for Mutex<T, L> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T, L: RawLock> fmt::Debug for Mutex<T, L>
where
    T: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Mutex");
        match self.try_with(|data| text.field("data", data).finish_non_exhaustive()) {
            Some(result) => result,
            None => f.write_str("Mutex { <locked> }"),
        }
    }
}

/// A mutex that is held. Dropped, it frees it; forgotten, the mutex is held for ever. It stays on its thread.
pub struct Guard<'a, T, L: NodeMoves = Auto> {
    mutex: &'a Mutex<T, L>,
    node: L::Node,
    _thread: PhantomData<*const ()>,
}

impl<'a, T, L: NodeMoves> Guard<'a, T, L> {
    /// What it frees.
    pub(crate) fn mutex(guard: &Self) -> &'a Mutex<T, L> {
        guard.mutex
    }
}

// SAFETY: it lends the data as a reference to it would.
unsafe impl<T: Sync, L: NodeMoves> Sync for Guard<'_, T, L> {}

impl<T, L: NodeMoves> Deref for Guard<'_, T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held for as long as the guard lives.
        self.mutex.data.with(|data| unsafe { &*data })
    }
}

impl<T, L: NodeMoves> DerefMut for Guard<'_, T, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held for as long as the guard lives, which is borrowed for writing.
        self.mutex.data.with_mut(|data| unsafe { &mut *data })
    }
}

impl<T, L: NodeMoves> Drop for Guard<'_, T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the guard was made of the lock's acquisition with this node.
        unsafe { self.mutex.release(&self.node) };
    }
}

impl<T: fmt::Debug, L: NodeMoves> fmt::Debug for Guard<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
