//! [`Combine`]: when to take it, how it works, and its code.

#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::time::{Duration, Instant};

use corecast_base::sync::UnsafeCell;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::raw::Setup;
use crate::request::{Outcome, Queue, chain, returned, send};

/// Data to which threads send closures instead of locking it; the thread that has it runs those of the others, too.
///
/// Take it where many threads want one piece of data for moments: the data stays in the cache of one thread that runs many
/// closures in turn, where a lock would move it with each. Not where sections are long, as they still run one after the other,
/// or where the closure needs something of its own thread.
///
/// **How it works.** A thread that finds the data free takes it, runs its own closure, then those that came meanwhile, at most
/// twice as many as CPUs, and leaves. A thread that finds it taken pushes a request to a stack and waits until that is done. The
/// stack and the bit that says taken are one word, so nobody can leave while a request is in it that it has not seen. A
/// thread that leaves requests behind, as there were more than its share, frees the data first, and then calls the one that has
/// waited for longest: that one competes with newcomers, and is called again if it loses.
///
/// **Rules for closures.** A closure may run on another thread, while its caller waits: thread-locals are that thread's. It may
/// borrow from its caller's frame. If it panics, the panic goes on in its caller, and in nobody else; the data is as the
/// panic left it. A closure that runs the same data again would wait for itself, so that panics; two pieces of data whose
/// closures run each other wait for ever, as two locks taken in two orders do.
///
/// **Progress:** blocking; a waiter sleeps after a while, and may be overtaken by a newcomer when the data is free. **Memory
/// ordering:** what happened before a call of [`Combine::run`] is visible in its closure, and what happened in a closure is
/// visible in those that run later, and to its caller when the call returns.
/// Source: D. Hendler, I. Incze, N. Shavit, M. Tzafrir, Flat Combining and the Synchronization-Parallelism Tradeoff, 2010; that
/// requests are in a stack which is emptied at once is as in Y. Oyama, K. Taura, A. Yonezawa, Executing Parallel Programs
/// with Synchronization Bottlenecks Efficiently, 1999.
///
/// ```
/// use corecast_lock::Combine;
///
/// let counts: Combine<Vec<u32>> = Combine::new(vec![0; 3]);
/// std::thread::scope(|scope| {
///     for thread in 0..3 {
///         scope.spawn({ let counts = &counts; move || (0..100).for_each(|_| counts.run(|counts| counts[thread] += 1)) });
///     }
/// });
/// let total = counts.run(|counts| counts.iter().sum::<u32>());
/// assert_eq!((total, counts.into_inner()), (300, vec![100; 3]));
/// ```
/// A closure's captures have to be fit to go to another thread:
/// ```compile_fail,E0277
/// let mine = std::rc::Rc::new(7);
/// corecast_lock::Combine::new(0).run(|count| *count += *mine);
/// ```
pub struct Combine<T> {
    queue: Queue<T>,
    /// How many requests of others one call runs.
    share: usize,
    data: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the data, whichever that is.
unsafe impl<T: Send> Sync for Combine<T> {}
// SAFETY: the data goes along; there are no requests of others while it moves but withdrawn ones, which name no thread.
unsafe impl<T: Send> Send for Combine<T> {}

impl Combine<()> {
    /// The description for users.
    pub const FACTS: Facts = Facts {
        name: "combine",
        about: "runs the closures of those who wait, too",
        order: AcquisitionOrder::Barging,
        node: NodeKind::Pooled,
        parks: true,
        source: "Hendler, Incze, Shavit, Tzafrir 2010; Oyama, Taura, Yonezawa 1999",
    };
}

impl<T: Send> Combine<T> {
    /// `value`, free, for as many threads as usual.
    pub fn new(value: T) -> Self {
        Self::for_setup(value, &Setup::default())
    }

    /// `value`, free; a call runs as many requests of others as there are threads, at most.
    pub fn for_setup(value: T, setup: &Setup) -> Self {
        Self { queue: Queue::new(), share: setup.threads.max(1), data: UnsafeCell::new(value) }
    }

    /// Runs `f` on the data, here or on another thread, and returns what it returns.
    ///
    /// # Panics
    /// If `f` does, or if this is called by a closure that runs on the same data.
    #[track_caller]
    pub fn run<R: Send>(&self, f: impl FnOnce(&mut T) -> R + Send) -> R {
        self.expect_other_data();
        if self.queue.try_lock() {
            return self.run_locked(f);
        }
        match send(&self.queue, f, None, || (), || self.serve_if_free()) {
            Outcome::Done(result) => returned(result),
            Outcome::Locked(f) => self.run_locked(f),
            Outcome::Withdrawn(_) => unreachable!("there is no limit"),
        }
    }

    /// As [`run`](Self::run) if the data is free.
    ///
    /// # Errors
    /// `f`, if it is not, without waiting.
    ///
    /// # Panics
    /// If `f` does.
    pub fn try_run<R, F: FnOnce(&mut T) -> R>(&self, f: F) -> Result<R, F> {
        if self.queue.try_lock() { Ok(self.run_locked(f)) } else { Err(f) }
    }

    /// As [`run`](Self::run), but takes `f` back when `limit` has passed and it has not begun, perhaps a little later. One that
    /// has begun is waited for.
    ///
    /// Each closure that is given up leaves some 200 bytes until the holder of the data finds them: so wait once for long,
    /// and not often for moments.
    ///
    /// # Errors
    /// `f`, if it has not run.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    #[track_caller]
    pub fn run_timeout<R: Send, F: FnOnce(&mut T) -> R + Send>(&self, limit: Duration, f: F) -> Result<R, F> {
        let Some(deadline) = Instant::now().checked_add(limit) else { return Ok(self.run(f)) };
        self.expect_other_data();
        if self.queue.try_lock() {
            return Ok(self.run_locked(f));
        }
        match send(&self.queue, f, Some(deadline), || (), || self.serve_if_free()) {
            Outcome::Done(result) => Ok(returned(result)),
            Outcome::Locked(f) => Ok(self.run_locked(f)),
            Outcome::Withdrawn(f) => Err(f),
        }
    }

    #[track_caller]
    fn expect_other_data(&self) {
        assert!(
            !chain::has(self.address()),
            "a closure that runs on combined data must not run another one on the same"
        );
    }

    fn address(&self) -> *const () {
        // Not the whole: data that is combined itself may lie at the same address.
        ptr::from_ref(&self.queue).cast()
    }

    /// For the thread that has locked the queue: runs `f`, then its share of requests, and leaves.
    fn run_locked<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let result = chain::with(self.address(), || {
            // SAFETY: the queue is locked by this thread, so nobody else reaches the data.
            let result = self.data.with_mut(|data| catch_unwind(AssertUnwindSafe(|| f(unsafe { &mut *data }))));
            self.serve_and_leave();
            result
        });
        returned(result)
    }

    /// For the thread that has locked the queue.
    fn serve_and_leave(&self) {
        let mut left = self.share;
        loop {
            // SAFETY: the queue is locked by this thread.
            while left > 0 && unsafe { self.serve_one() } {
                left -= 1;
            }
            // SAFETY: as above; it is free from then on.
            let Some(behind) = (unsafe { self.queue.unlock() }) else { return };
            // One that has given up meanwhile calls nobody, and there may be others.
            if behind.call() || !self.queue.try_lock() {
                return;
            }
        }
    }

    /// Runs the oldest request; false if there is none.
    ///
    /// # Safety
    /// - The queue is locked by this thread.
    unsafe fn serve_one(&self) -> bool {
        // SAFETY: the caller's promise.
        let Some(begun) = (unsafe { self.queue.begin_oldest() }) else { return false };
        self.data.with_mut(|data| {
            // SAFETY: the queue is locked by this thread, so nobody else reaches the data.
            begun.run(unsafe { &mut *data });
        });
        true
    }

    /// For a called thread: runs requests, unless another thread has come and does.
    fn serve_if_free(&self) {
        // The caller freed the data before it called, so this load does not miss that.
        if self.queue.is_free() && self.queue.try_lock() {
            chain::with(self.address(), || self.serve_and_leave());
        }
    }

    /// The data, which nobody else can reach.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: this is the only reference to it.
        self.data.with_mut(|data| unsafe { &mut *data })
    }
}

impl<T> Combine<T> {
    /// The data.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: Send + Default> Default for Combine<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Send + fmt::Debug> fmt::Debug for Combine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_run(|data| f.debug_struct("Combine").field("data", data).finish_non_exhaustive()) {
            Ok(result) => result,
            Err(_) => f.write_str("Combine { <taken> }"),
        }
    }
}
