//! [`AnyLock`]: when to take it, how it works, and its code.

mod condition;
mod kind;
mod spare;

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::time::Instant;

use corecast_base::LINE_BYTES;
use corecast_base::sync::{AtomicU32, Ordering, UnsafeCell};

use crate::auto::{Auto, AutoStats, Explanation};
use crate::patience::Patience;
use crate::raw::Setup;
use crate::registry::Algorithm;
use crate::this_thread;
use kind::Kind;

/// The label of a line: the number of the algorithm in the upper 8 bits, 0 for [`Auto`]; that of the thread that holds the
/// lock in the lower 24, 0 for nobody.
const THREAD: u32 = this_thread::LARGEST;
const AUTO: u32 = 0;
/// The label of an [`Auto`] that nobody holds.
const FREE_AUTO: u32 = AUTO << THREAD.count_ones();
/// The labels of one that a thread holds.
const HELD_AUTO: RangeInclusive<u32> = FREE_AUTO + 1..=FREE_AUTO + THREAD;
/// The number of no algorithm.
const DESTROYED: u32 = 0xff;

/// A lock whose algorithm is chosen when it is made, in one line.
///
/// Take it where a type cannot choose: behind the C interface, or where a configuration names the lock. It guards no data, and
/// it is told when to unlock. Where the algorithm is known [`Mutex`](crate::Mutex) is the better front: this one looks up what
/// it is at every call, and writes down who holds it.
///
/// A line of zeroes is a free [`Auto`], so it needs no call before its first use where the memory is zero. Nothing points into
/// a lock: its owner may move it, also while it is held.
///
/// Wrong uses that are reported: a thread that locks what it holds, that unlocks what it does not hold, or that uses a lock
/// which was destroyed. Nothing detects that a thread which has ended held it (it is held for ever then). A child of
/// `fork` holds what the thread that forked held, and must not wait for what other threads of its parent held. A thread that it
/// starts later is not taken for one of those: their numbers differ, and repeat at the earliest after four generations of forks
/// ([`this_thread`](crate::this_thread)).
///
/// **Progress** and **memory ordering:** those of the algorithm. **Source:** as the algorithm.
///
/// ```
/// use corecast_lock::{Algorithm, AnyLock, Setup};
///
/// let name = "mcs"; // from a configuration
/// let lock = AnyLock::new(name.parse::<Algorithm>()?, &Setup::default());
/// lock.lock()?;
/// assert!(!lock.try_lock()?);
/// lock.unlock()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[repr(C, align(64))]
pub struct AnyLock {
    /// An [`Auto`], or what [`Kind`] keeps; and behind it the label.
    line: UnsafeCell<[MaybeUninit<u8>; LINE_BYTES]>,
}

/// Where the label is.
const LABEL_AT: usize = 56;

const _: () = assert!(size_of::<AnyLock>() == LINE_BYTES && size_of::<Auto>() <= LABEL_AT);

// SAFETY: atomics, and what the algorithm lets its holder reach; every algorithm is Send.
unsafe impl Send for AnyLock {}
// SAFETY: as above; every algorithm is Sync.
unsafe impl Sync for AnyLock {}

/// A rule that a call would break; nothing was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongUse {
    /// It would wait for itself.
    #[error("this thread holds the lock already")]
    HeldHere,
    /// Another thread holds it, or nobody.
    #[error("this thread does not hold the lock")]
    NotHeldHere,
    /// It cannot be destroyed.
    #[error("the lock is held")]
    Held,
    /// It has to be made anew.
    #[error("the lock was destroyed")]
    Destroyed,
    /// The memory is not that of a lock.
    #[error("this is no lock: there is no algorithm with the number {number}")]
    NoLock {
        /// Where a lock has the number of its algorithm.
        number: u32,
    },
    /// Its threads never sleep.
    #[error("a condition variable goes with locks whose threads sleep, and {algorithm} is none")]
    NoSleep {
        /// The lock's algorithm.
        algorithm: Algorithm,
    },
    /// Only [`Auto`] has them.
    #[error("only the lock auto keeps statistics")]
    NoStats,
}

impl AnyLock {
    /// A free lock.
    #[must_use]
    pub fn new(algorithm: Algorithm, setup: &Setup) -> Self {
        let lock = Self { line: UnsafeCell::new([MaybeUninit::zeroed(); LINE_BYTES]) };
        if algorithm != Algorithm::Auto {
            let number = algorithm as u32;
            Kind::of(number).expect("every algorithm has a kind").create(&lock, setup);
            // ORDERING: Relaxed, the lock is not shared yet
            lock.label().store(number << THREAD.count_ones(), Ordering::Relaxed);
        }
        lock
    }

    /// The lock's algorithm.
    ///
    /// # Errors
    /// [`WrongUse::Destroyed`] and [`WrongUse::NoLock`].
    pub fn algorithm(&self) -> Result<Algorithm, WrongUse> {
        match self.number() {
            AUTO => Ok(Algorithm::Auto),
            number => Algorithm::of_number(number).ok_or_else(|| no_lock(number)),
        }
    }

    /// Takes the lock for this thread if it is an [`Auto`] that nobody holds or waits for, and returns whether it did. False
    /// says nothing: another call has to find out why. For callers to whom the other calls cost more than the lock, as they
    /// may panic or have errors: this one does neither, and asks nobody for the number of the thread, which the caller keeps
    /// where it reaches it sooner. With 0 it takes nothing.
    ///
    /// # Safety
    /// - `thread` is what [`this_thread::number`] returns to this thread, or 0.
    #[inline]
    #[must_use]
    pub unsafe fn lock_at_once(&self, thread: u32) -> bool {
        let label = self.label();
        // ORDERING: Relaxed, the exchange looks again whether somebody holds it
        if label.load(Ordering::Relaxed) != FREE_AUTO || thread == 0 || !self.auto().take_unwanted() {
            return false;
        }
        // ORDERING: Relaxed, other threads only see that it is none of theirs
        label.store(thread, Ordering::Relaxed);
        true
    }

    /// Frees the lock if it is an [`Auto`] that this thread holds, and which nobody waits for, and returns whether it did. As
    /// [`lock_at_once`](Self::lock_at_once) otherwise.
    ///
    /// # Safety
    /// - As of [`lock_at_once`](Self::lock_at_once).
    #[inline]
    #[must_use]
    pub unsafe fn unlock_at_once(&self, thread: u32) -> bool {
        let label = self.label();
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        let holder = label.load(Ordering::Relaxed);
        if !HELD_AUTO.contains(&holder) || holder != thread {
            return false;
        }
        // ORDERING: Relaxed, as above; the next holder's store comes after this one, by the lock
        label.store(FREE_AUTO, Ordering::Relaxed);
        let is_free = self.auto().free_unwanted();
        if !is_free {
            // ORDERING: Relaxed, a thread sees its own store, and others only see that it is none of theirs
            label.store(holder, Ordering::Relaxed);
        }
        is_free
    }

    /// Waits until the lock is free, and takes it for this thread.
    ///
    /// # Errors
    /// [`WrongUse::HeldHere`], [`WrongUse::Destroyed`] and [`WrongUse::NoLock`].
    #[inline]
    pub fn lock(&self) -> Result<(), WrongUse> {
        let thread = self.expect_another()?;
        self.acquire(Patience::Endless, thread).map(|_| ())
    }

    /// Takes the lock for this thread if it is free, and returns whether it was.
    ///
    /// # Errors
    /// [`WrongUse::Destroyed`] and [`WrongUse::NoLock`].
    #[inline]
    pub fn try_lock(&self) -> Result<bool, WrongUse> {
        self.acquire(Patience::None, this_thread::number())
    }

    /// As [`lock`](Self::lock), but gives up at `deadline`, perhaps a little later, and returns false then.
    ///
    /// # Errors
    /// As of [`lock`](Self::lock).
    #[inline]
    pub fn lock_until(&self, deadline: Instant) -> Result<bool, WrongUse> {
        let thread = self.expect_another()?;
        self.acquire(Patience::Until(deadline), thread)
    }

    /// Frees the lock.
    ///
    /// # Errors
    /// [`WrongUse::NotHeldHere`], [`WrongUse::Destroyed`] and [`WrongUse::NoLock`].
    #[inline]
    pub fn unlock(&self) -> Result<(), WrongUse> {
        let label = self.label();
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        let seen = label.load(Ordering::Relaxed);
        let kind = self.kind()?;
        if seen & THREAD != this_thread::number() {
            return Err(WrongUse::NotHeldHere);
        }
        // ORDERING: Relaxed, as above; the next holder's store comes after this one, by the lock
        label.store(seen & !THREAD, Ordering::Relaxed);
        match kind {
            None => self.auto().free_by_word(),
            // SAFETY: this thread holds it.
            Some(kind) => unsafe { kind.release(self) },
        }
        Ok(())
    }

    /// The statistics of an [`Auto`]. Waits for the lock.
    ///
    /// # Errors
    /// [`WrongUse::NoStats`] for other algorithms; else as of [`lock`](Self::lock).
    pub fn stats(&self) -> Result<AutoStats, WrongUse> {
        self.expect_another()?;
        match self.kind()? {
            None => Ok(self.auto().stats()),
            Some(_) => Err(WrongUse::NoStats),
        }
    }

    /// Why an [`Auto`] waits as it does, for people. Waits for the lock.
    ///
    /// # Errors
    /// As of [`stats`](Self::stats).
    pub fn explain(&self) -> Result<Explanation, WrongUse> {
        self.expect_another()?;
        match self.kind()? {
            None => Ok(self.auto().explain()),
            Some(_) => Err(WrongUse::NoStats),
        }
    }

    /// Frees what the lock has allocated; it has to be made anew before it is used again. Dropping a lock does the same.
    ///
    /// # Errors
    /// [`WrongUse::Held`] if anybody holds it, [`WrongUse::Destroyed`] and [`WrongUse::NoLock`].
    ///
    /// # Safety
    /// - No other thread uses the lock meanwhile; none waits for it.
    pub unsafe fn destroy(&self) -> Result<(), WrongUse> {
        let kind = self.kind()?;
        if !self.try_lock()? {
            return Err(WrongUse::Held);
        }
        self.unlock()?;
        if let Some(kind) = kind {
            // SAFETY: it was made, is not destroyed yet, and nobody uses it.
            unsafe { kind.destroy(self) };
        }
        // ORDERING: Relaxed, nobody uses the lock meanwhile
        self.label().store(DESTROYED << THREAD.count_ones(), Ordering::Relaxed);
        Ok(())
    }

    #[inline]
    fn acquire(&self, patience: Patience, thread: u32) -> Result<bool, WrongUse> {
        let is_taken = match self.kind()? {
            None => self.auto().acquire_by_word(patience),
            Some(kind) => kind.acquire(self, patience),
        };
        if is_taken {
            let label = self.label();
            // ORDERING: Relaxed, only holders write it
            let seen = label.load(Ordering::Relaxed);
            // ORDERING: Relaxed, other threads only see that it is none of theirs
            label.store(seen & !THREAD | thread, Ordering::Relaxed);
        }
        Ok(is_taken)
    }

    /// The number of this thread, which must not hold the lock.
    #[inline]
    fn expect_another(&self) -> Result<u32, WrongUse> {
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        let (holder, thread) = (self.label().load(Ordering::Relaxed) & THREAD, this_thread::number());
        if holder == thread { Err(WrongUse::HeldHere) } else { Ok(thread) }
    }

    fn number(&self) -> u32 {
        // ORDERING: Relaxed, it does not change while the lock is in use
        self.label().load(Ordering::Relaxed) >> THREAD.count_ones()
    }

    /// `None` for an [`Auto`].
    #[inline]
    fn kind(&self) -> Result<Option<&'static Kind>, WrongUse> {
        match self.number() {
            AUTO => Ok(None),
            number => Kind::of(number).map(Some).ok_or_else(|| no_lock(number)),
        }
    }

    /// Where the byte with this number is.
    #[inline]
    fn at(&self, byte: usize) -> *mut u8 {
        // SAFETY: only bytes of the line are asked for.
        self.line.with_mut(|line| unsafe { line.cast::<u8>().add(byte) })
    }

    #[inline]
    fn label(&self) -> &AtomicU32 {
        let label = self.at(LABEL_AT).cast::<AtomicU32>();
        // SAFETY: inside the line, aligned, and reached as an atomic only once it is shared.
        unsafe { &*label }
    }

    #[inline]
    fn auto(&self) -> &Auto {
        // SAFETY: zeroes are an Auto: it is made of numbers, truth values and modes, for all of which zero is what a free one
        // has. Lines that are no Auto have another label.
        unsafe { &*self.at(0).cast::<Auto>() }
    }
}

#[cold]
fn no_lock(number: u32) -> WrongUse {
    if number == DESTROYED { WrongUse::Destroyed } else { WrongUse::NoLock { number } }
}

impl Default for AnyLock {
    fn default() -> Self {
        Self::new(Algorithm::Auto, &Setup::default())
    }
}

impl Drop for AnyLock {
    fn drop(&mut self) {
        if let Ok(Some(kind)) = self.kind() {
            // SAFETY: it was made, is not destroyed, and nobody else has it.
            unsafe { kind.destroy(self) };
        }
    }
}

impl fmt::Debug for AnyLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyLock").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}
