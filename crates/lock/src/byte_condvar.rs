//! [`ByteCondvar`]: when to take it, how it works, and its code.

use std::fmt;
use std::ptr;
use std::time::Instant;

use corecast_base::sync::{AtomicPtr, Ordering};

use crate::byte::Byte;
use crate::parking::{Awakening, Requeue, enter, requeue};
use crate::raw::RawLock;

/// A condition variable of one word for [`Byte`], which tells how many threads it has woken.
///
/// Take it for code that was written for parking_lot: no wait returns for no reason, a notification says whether a thread waited,
/// and all waiters use one mutex. Otherwise take [`Condvar`](crate::Condvar), which has a safe front for every lock, and a
/// notification of which costs less.
///
/// Waiters sleep in the table in which the mutex has its sleepers. A notification while the mutex is held wakes nobody: it moves
/// the waiter to the queue of the mutex, whose holder wakes it. [`notify_all`](Self::notify_all) wakes one at most, and moves the
/// others, so that they do not all run to find the mutex held.
///
/// **Progress:** blocking. **Memory ordering:** that of the mutex; a notification itself orders nothing.
/// Source: F. Pizlo, Locking in WebKit, 2016; that waiters move from one queue to the other is older: U. Drepper, Futexes Are
/// Tricky, 2004.
///
/// ```
/// use corecast_lock::{Byte, ByteCondvar, RawConst, RawLock};
///
/// let (mutex, condvar) = (Byte::INIT, ByteCondvar::new());
/// assert!(!condvar.notify_one());
/// // SAFETY: a lock without a node, which is held before each wait and unlock.
/// std::thread::scope(|scope| unsafe {
///     mutex.lock(&());
///     scope.spawn(|| {
///         mutex.lock(&()); // free once the other thread waits
///         assert_eq!(condvar.notify_all(), 1);
///         mutex.unlock(&());
///     });
///     assert!(condvar.wait(&mutex, None));
///     mutex.unlock(&());
/// });
/// ```
pub struct ByteCondvar {
    /// The mutex of the threads that wait, null if none does. Written under the mutex of the line in which they sleep: by the
    /// first one that comes, and by the one that takes the last one out.
    mutex: AtomicPtr<Byte>,
}

impl ByteCondvar {
    /// A variable that no thread waits on.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self { mutex: AtomicPtr::new(ptr::null_mut()) }
    }

    /// A variable that no thread waits on.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self { mutex: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Frees the mutex, sleeps until a notification or the deadline, and takes the mutex again without a limit. True after a
    /// notification.
    ///
    /// # Panics
    /// If other threads wait with another mutex. This one is held then.
    ///
    /// # Safety
    /// - The caller holds the mutex.
    #[track_caller]
    pub unsafe fn wait(&self, mutex: &Byte, deadline: Option<Instant>) -> bool {
        let place = enter(self.address(), 0, || self.bind(mutex));
        let place = place.expect("all threads that wait on a condition variable at a time use one mutex");
        // SAFETY: the caller holds it.
        unsafe { mutex.unlock(&()) };
        let awakening = place.sleep(deadline, |is_last| self.unbind_if(is_last));
        if awakening != Awakening::HandedOver {
            // A thread that was moved to the queue of the mutex sleeps there in a row with others.
            mutex.wait_and_take(None, awakening == Awakening::Woken);
        }
        awakening != Awakening::TimedOut
    }

    /// Wakes the thread that has waited for the longest time, or moves it to the queue of the mutex. True if there was one.
    #[inline]
    pub fn notify_one(&self) -> bool {
        let mutex = self.bound();
        !mutex.is_null() && self.notify(mutex, 1) != 0
    }

    /// Wakes a thread and moves the others to the queue of the mutex, or moves all. Returns their number.
    #[inline]
    pub fn notify_all(&self) -> usize {
        let mutex = self.bound();
        if mutex.is_null() { 0 } else { self.notify(mutex, usize::MAX) }
    }

    #[cold]
    fn notify(&self, mutex: *mut Byte, at_most: usize) -> usize {
        let plan = || {
            if self.bound() != mutex {
                // All that waited were woken meanwhile; those of now came later.
                return Requeue { woken: 0, moved: 0 };
            }
            // SAFETY: a thread waits with this mutex, and borrows it until it has left the line, whose mutex this one has.
            let is_held = unsafe { &*mutex }.mark_awaited();
            let woken = usize::from(!is_held);
            Requeue { woken, moved: at_most - woken }
        };
        requeue(self.address(), mutex.addr(), plan, |are_left| self.unbind_if(!are_left))
    }

    fn bound(&self) -> *mut Byte {
        // ORDERING: Relaxed, a waiter has written it before it freed the mutex, which a notifier has held after that; notify
        // looks again under the line's mutex
        self.mutex.load(Ordering::Relaxed)
    }

    /// For a newcomer, under the line's mutex: false if others wait with another mutex.
    fn bind(&self, mutex: &Byte) -> bool {
        let mutex = ptr::from_ref(mutex).cast_mut();
        let bound = self.bound();
        if bound.is_null() {
            // ORDERING: Relaxed, as in bound
            self.mutex.store(mutex, Ordering::Relaxed);
        }
        bound.is_null() || bound == mutex
    }

    /// Under the line's mutex: forgets the mutex if nobody waits any more.
    fn unbind_if(&self, is_over: bool) {
        if is_over {
            // ORDERING: Relaxed, as in bound
            self.mutex.store(ptr::null_mut(), Ordering::Relaxed);
        }
    }

    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }
}

impl fmt::Debug for ByteCondvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteCondvar").finish_non_exhaustive()
    }
}

impl Default for ByteCondvar {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<ByteCondvar>() == size_of::<usize>());
