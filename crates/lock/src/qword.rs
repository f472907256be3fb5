//! [`Qword`]: when to take it, how it works, and its code.

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::{LONGEST_SLEEP, Spinner};

use crate::auto::queue::{Place, Queue};
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};
use crate::three_states::{IS_MODEL, time_until};

const FREE: u32 = 0;
/// Free, and somebody who is awake is in the queue, or was a moment ago.
const QUEUED: u32 = 1;
/// Held, by the thread whose exchange set this bit.
const HELD: u32 = 1 << 1;
/// While it is held: somebody may sleep on the word.
const AWAITED: u32 = 1 << 2;

/// A word that says whether the lock is held, and a queue of waiters: the first polls the word, each other one its own node.
///
/// Take it where many threads want one lock, there may be more of them than CPUs, and none should be overtaken for long;
/// `auto` does the same and finds out whether a queue is worth it. Eight bytes, and nothing that an acquisition has to keep: a
/// thread is in the queue while it waits, and not while it holds the lock.
///
/// A thread that has waited in vain for about as long as a wake-up costs sleeps, the first of the queue on the word, each
/// other one on
/// its node. While somebody queues, newcomers queue too. But where the first one sleeps, a newcomer may take the
/// lock: nothing waits for a thread that does not run. Exclusion rests on the word alone; the queue only says who
/// tries, and anybody may leave it at any time.
///
/// **Progress:** blocking; a waiter may be overtaken while the first of the queue sleeps. **Memory ordering:** that of
/// [`RawLock`].
/// Source: the lock of K42, as in M. Scott, Shared-Memory Synchronization, 2013, for a queue that a holder is no longer
/// in; U. Drepper, Futexes Are Tricky, 2004, for sleep on the word.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Qword {
    /// [`FREE`], [`QUEUED`], or [`HELD`], perhaps with [`AWAITED`]. Written by every thread that wants the lock, and by its
    /// holder.
    word: AtomicU32,
    queue: Queue,
}

impl Qword {
    /// Takes the lock if nobody has it or waits for it.
    #[inline]
    fn take_unwanted(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [qword-free]
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As a thread that uses the lock's memory otherwise: the model fails unless all that other threads did to it happened
    /// before.
    #[cfg(loom)]
    pub fn use_otherwise(&mut self) {
        self.word.with_mut(|_| ());
        self.queue.use_otherwise();
    }

    #[cold]
    fn lock_slow(&self, left: impl Fn() -> Option<Duration>) -> bool {
        Comer { lock: self, left, spinner: Spinner::new(), place: None, has_slept: false }.compete()
    }

    /// Frees a lock that was marked as awaited, and wakes one sleeper on the word. Until that one runs anybody may take the lock.
    #[cold]
    fn free_and_wake(&self) {
        // Nobody but the holder changes a word that is marked.
        // ORDERING: Release, pairs with the Acquire in lock, try_lock and take [qword-free]
        self.word.store(FREE, Ordering::Release);
        // The lock may be gone: only its address is used.
        futex_wake(&self.word, 1, Scope::Process);
    }
}

/// A thread that has found the lock held. `left` tells for how long it may sleep at once, `None` to give up.
struct Comer<'a, F> {
    lock: &'a Qword,
    left: F,
    spinner: Spinner,
    place: Option<Place>,
    /// Whether it has slept on the word: it may have been woken in another thread's place, and others may sleep.
    has_slept: bool,
}

impl<F: Fn() -> Option<Duration>> Comer<'_, F> {
    /// Takes the lock, or gives up.
    fn compete(mut self) -> bool {
        let taken = loop {
            // ORDERING: Relaxed, the exchanges look again
            let word = self.lock.word.load(Ordering::Relaxed);
            if word & HELD == 0 && self.may_take(word) && self.take(word) {
                break true;
            }
            if !self.wait(word) {
                break false;
            }
        };
        if let Some(place) = self.place {
            self.lock.queue.leave(place);
        }
        taken
    }

    /// Whether it is this one's turn to try. Where the lock is free and the first has not taken it for so long, that one
    /// does not run.
    fn may_take(&self, word: u32) -> bool {
        match &self.place {
            None => word == FREE || self.lock.queue.is_empty(),
            Some(place) => self.spinner.is_spent() || place.is_head(),
        }
    }

    fn take(&self, word: u32) -> bool {
        let held = if self.has_slept { HELD | AWAITED } else { HELD };
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [qword-free]
        self.lock.word.compare_exchange(word, held, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Waits for a moment, or sleeps; false to give up.
    fn wait(&mut self, word: u32) -> bool {
        match &self.place {
            None if (self.left)().is_none() => return false,
            None => self.place = Some(self.lock.queue.enter()),
            Some(place) if place.is_head() => return self.wait_first(word),
            Some(_) => return self.wait_behind(),
        }
        true
    }

    /// Polls the own node for as long as that is worth it, and sleeps.
    fn wait_behind(&mut self) -> bool {
        let (Some(left), Some(place)) = ((self.left)(), &self.place) else { return false };
        if IS_MODEL || self.spinner.is_spent() {
            place.nap(left);
        } else {
            self.spinner.pause();
        }
        if place.is_head() {
            // The time before was spent on others.
            self.spinner = Spinner::new();
        }
        true
    }

    /// Polls the word for as long as that is worth it, and sleeps.
    fn wait_first(&mut self, word: u32) -> bool {
        let left = (self.left)();
        if left.is_none() && !self.has_slept {
            return false;
        }
        let may_sleep = left.is_none() || IS_MODEL || self.spinner.is_spent();
        if word & HELD == 0 || !may_sleep {
            self.spinner.pause();
            return true;
        }
        // A thread that gives up may have been woken in the place of another: so the mark stays for them.
        let marked = word | AWAITED;
        // ORDERING: Relaxed, the mark publishes nothing
        let mark = || self.lock.word.compare_exchange(word, marked, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if word != marked && !mark() {
            return true;
        }
        let Some(left) = left else { return false };
        self.has_slept = true;
        futex_wait(&self.lock.word, marked, left, Scope::Process);
        true
    }
}

// SAFETY: exactly one exchange sets HELD between two releases that clear it, which only holders do; Acquire and Release.
unsafe impl RawLock for Qword {
    type Node = ();
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "qword",
        about: "one word and a queue of waiters, which sleep",
        order: AcquisitionOrder::Barging,
        node: NodeKind::Nothing,
        parks: true,
        source: "Scott 2013; Drepper 2004",
    };

    fn new(_setup: &Setup) -> Self {
        Self { word: AtomicU32::new(FREE), queue: Queue::new() }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if !self.take_unwanted() {
            self.lock_slow(|| Some(LONGEST_SLEEP));
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [qword-free]
        match self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => true,
            Err(word) if word & HELD != 0 => false,
            // ORDERING: Acquire, as above; Relaxed where it fails, as nothing was taken [qword-free]
            Err(word) => self.word.compare_exchange(word, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok(),
        }
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        let rest = if self.queue.is_empty() { FREE } else { QUEUED };
        // ORDERING: Release, pairs with the Acquire in lock, try_lock and take; Relaxed where it fails, as it is freed below
        // [qword-free]
        if self.word.compare_exchange(HELD, rest, Ordering::Release, Ordering::Relaxed).is_err() {
            self.free_and_wake();
        }
    }
}

// SAFETY: it takes the lock as lock does, or leaves the queue, and the word marked where others may sleep.
unsafe impl RawTimed for Qword {
    unsafe fn lock_until(&self, node: &(), deadline: Instant) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.take_unwanted() || self.lock_slow(|| time_until(deadline)) || self.try_lock(node) }
    }
}

// SAFETY: there is no node.
unsafe impl NodeMoves for Qword {}

#[cfg(not(loom))]
impl RawConst for Qword {
    const INIT: Self = Self { word: AtomicU32::new(FREE), queue: Queue::EMPTY };
}
