//! The one interface of all locks.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread::available_parallelism;
use std::time::Instant;

use corecast_base::wait::Spinner;

use crate::domains::Domains;
use crate::facts::Facts;

/// Aligned to a cache line, and empty. See [`RawLock::Alignment`].
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct LineAligned;

const _: () = assert!(align_of::<LineAligned>() == corecast_base::LINE_BYTES);

/// The circumstances that a lock is made for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Setup {
    /// How many threads will use it, as far as known: twice the CPUs by default. Further threads are harmless but
    /// slow some locks down.
    pub threads: usize,
    /// The CPUs that are near each other: all by default. For locks that hand over to a near thread.
    pub domains: Domains,
    /// How often in turn such a lock is handed over within a domain at most, before others have their turn. `Hclh` does not
    /// look at it: it hands over to all that had come together.
    pub hand_overs: u32,
}

/// Enough that a transfer of the lock to another domain is no longer felt, and 64 short sections are a few microseconds.
const HAND_OVERS: u32 = 64;

impl Setup {
    /// For this number of threads, at least one, in one domain.
    #[must_use]
    pub fn of_threads(threads: usize) -> Self {
        Self { threads: threads.max(1), domains: Domains::one(), hand_overs: HAND_OVERS }
    }
}

impl Default for Setup {
    /// For the CPUs that there were when the first one was asked for: to ask the system takes as long as a thousand locks.
    fn default() -> Self {
        static USUAL: OnceLock<Setup> = OnceLock::new();
        let make = || Self::of_threads(2 * available_parallelism().map_or(1, NonZeroUsize::get));
        USUAL.get_or_init(make).clone()
    }
}

/// A lock without the data that it guards. [`Mutex`](crate::Mutex) is the safe front.
///
/// **Memory ordering:** what happened before an unlock is visible after the next lock, as with Release and Acquire.
///
/// # Safety
/// - Between a lock, or a try that returned true, and its unlock no other one succeeds.
/// - Everything before an unlock happens before everything after the next lock.
/// - A try never waits, and one that returned false leaves nothing behind.
pub unsafe trait RawLock: Send + Sync + Sized {
    /// The storage of one acquisition; `()` where it needs none.
    type Node: Default;

    /// A mutex is aligned as a value of this type: as a [`LineAligned`] if the lock should lie in one cache line with the data
    /// behind it, or `()`, which asks for nothing.
    type Alignment;

    /// The description for users.
    const FACTS: Facts;

    /// A free lock.
    fn new(setup: &Setup) -> Self;

    /// Waits until the lock is free, and takes it.
    ///
    /// # Safety
    /// - `node` is used by no other acquisition until it is unlocked, and neither moved nor dropped, unless the lock is
    ///   [`NodeMoves`], for which it may move.
    unsafe fn lock(&self, node: &Self::Node);

    /// Takes the lock if it is free.
    ///
    /// # Safety
    /// - As of [`lock`](Self::lock), if it returns true.
    unsafe fn try_lock(&self, node: &Self::Node) -> bool;

    /// Frees the lock.
    ///
    /// # Safety
    /// - The lock is held by an acquisition with this node, which ends now.
    /// - Of [`Auto`](crate::Auto): the calling thread is the one that has taken it.
    unsafe fn unlock(&self, node: &Self::Node);
}

/// A lock whose wait can end at a time.
///
/// # Safety
/// - `lock_until` keeps what [`RawLock`] says of a try, but that it waits.
pub unsafe trait RawTimed: RawLock {
    /// Waits until the lock is free, and takes it; gives up at `deadline`, perhaps a little later. A deadline that has passed
    /// is a try. A lock that has nothing better tries again and again, and may starve.
    ///
    /// # Safety
    /// - As of [`RawLock::lock`], if it returns true.
    unsafe fn lock_until(&self, node: &Self::Node, deadline: Instant) -> bool {
        let mut spinner = Spinner::new();
        loop {
            // SAFETY: the caller's promise; a try that failed has used nothing.
            if unsafe { self.try_lock(node) } {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            spinner.pause();
        }
    }
}

/// A lock of which a free one is a constant, so that it may be a static. Those that allocate are not, nor those that are
/// made for a number of threads.
#[cfg(not(loom))]
pub trait RawConst: RawLock {
    /// A free lock.
    #[allow(clippy::declare_interior_mutable_const, reason = "each use is a lock of its own")]
    const INIT: Self;
}

/// A lock whose node nobody else looks at, so that it may move, or be forgotten (the lock is held for ever then). So
/// a guard can keep it.
///
/// # Safety
/// - The lock keeps no pointer to the node.
pub unsafe trait NodeMoves: RawLock {}
