//! [`Once`] over [`corecast_lock::Once`], with what parking_lot adds: it is poisoned by a panic, and tells how far it is.

use std::fmt;
use std::panic::RefUnwindSafe;

use corecast_base::sync::{AtomicBool, Ordering};

/// Something that is done once, by the first thread that comes, while the others wait for it.
///
/// A closure that panics poisons it: later ones panic, too, until one is called by [`call_once_force`](Self::call_once_force) and
/// comes to its end.
pub struct Once {
    /// Says that it is done, and lets one thread at a time run a closure.
    once: corecast_lock::Once,
    /// Whether a closure runs. Written by its thread.
    is_running: AtomicBool,
    /// Whether the last closure has panicked. Written by its thread, while it keeps others from running theirs.
    is_poisoned: AtomicBool,
}

/// How far a [`Once`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// No closure has run.
    New,
    /// The last closure has panicked.
    Poisoned,
    /// A closure runs.
    InProgress,
    /// It is done.
    Done,
}

impl OnceState {
    /// True if the last closure has panicked.
    #[inline]
    #[must_use]
    pub fn poisoned(self) -> bool {
        self == Self::Poisoned
    }

    /// True if it is done.
    #[inline]
    #[must_use]
    pub fn done(self) -> bool {
        self == Self::Done
    }
}

impl Once {
    /// Nothing is done yet.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            once: corecast_lock::Once::new(),
            is_running: AtomicBool::new(false),
            is_poisoned: AtomicBool::new(false),
        }
    }

    /// How far it is. All but `Done` may have changed meanwhile.
    #[must_use]
    pub fn state(&self) -> OnceState {
        // ORDERING: Relaxed, a look at what may change at once; that it is done comes with the other one
        let is_running = self.is_running.load(Ordering::Relaxed);
        if self.once.is_completed() {
            OnceState::Done
        } else if is_running {
            OnceState::InProgress
        } else {
            self.before()
        }
    }

    /// Calls `act` unless that was done before; returns when it is done, by this thread or another one.
    ///
    /// # Panics
    /// If `act` does, or a closure has that was called before.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, act: F) {
        self.once.call_once(|| {
            assert!(!self.before().poisoned(), "the closure that was to be called once has panicked before");
            self.run(|_| act());
        });
    }

    /// As [`call_once`](Self::call_once), also if a closure has panicked before. `act` is told whether one has.
    ///
    /// # Panics
    /// If `act` does.
    #[inline]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, act: F) {
        self.once.call_once(|| self.run(act));
    }

    /// For the thread that alone may run a closure: runs it.
    fn run(&self, act: impl FnOnce(OnceState)) {
        let before = self.before();
        // ORDERING: Relaxed, a note for state
        self.is_running.store(true, Ordering::Relaxed);
        let mut end = End { once: self, has_panicked: true };
        act(before);
        end.has_panicked = false;
    }

    /// Whether it is new or poisoned, for a thread that knows that it is neither done nor running.
    fn before(&self) -> OnceState {
        // ORDERING: Relaxed, it was written by the thread that ran a closure before this one, which keeps others out
        if self.is_poisoned.load(Ordering::Relaxed) { OnceState::Poisoned } else { OnceState::New }
    }
}

/// The end of a closure, also by a panic.
struct End<'a> {
    once: &'a Once,
    has_panicked: bool,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        // ORDERING: Relaxed, the next thread that may run a closure comes after this one
        self.once.is_poisoned.store(self.has_panicked, Ordering::Relaxed);
        // ORDERING: Relaxed, a note for state
        self.once.is_running.store(false, Ordering::Relaxed);
    }
}

// It has no data that a panic might leave behind half done.
impl RefUnwindSafe for Once {}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}
