//! Variables of which each thread has its own: simulated threads share those of the host's thread.

use std::cell::Cell;
use std::fmt;

use crate::thread::with_current;
use crate::values::{Ended, Values};

/// A variable of which each thread has its own. Threads that are not simulated have theirs, too.
pub struct PerThread<T: 'static> {
    init: fn() -> T,
    /// It has an address of its own by it, which is its name.
    _name: u8,
}

thread_local! {
    /// Those of a thread of the host.
    static OUTSIDE: Values = Values::default();
}

impl<T: 'static> PerThread<T> {
    /// One whose first value in each thread is that of `init`.
    #[must_use]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _name: 0 }
    }

    /// Calls `f` with this thread's.
    ///
    /// # Panics
    /// If the thread has ended, and a destructor calls.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("the thread has not ended")
    }

    /// As [`with`](Self::with).
    ///
    /// # Errors
    /// [`Ended`] if the thread has ended, and a destructor calls.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, Ended> {
        with_current(|thread| match thread {
            Some(thread) => thread.values.with(self.name(), self.init, f),
            None => OUTSIDE.try_with(|values| values.with(self.name(), self.init, f)).unwrap_or(Err(Ended)),
        })
    }

    fn name(&'static self) -> usize {
        (&raw const self._name).addr()
    }
}

impl<T: 'static> PerThread<Cell<T>> {
    /// This thread's value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Sets this thread's value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }
}

impl<T> fmt::Debug for PerThread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThread").finish_non_exhaustive()
    }
}
