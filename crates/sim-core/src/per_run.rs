//! Variables of which each run has its own: a simulated process begins and ends with its run, and with it all that its threads
//! have learnt.

use std::fmt;

use crate::thread::with_current;
use crate::values::Values;

/// A variable that the threads of a run share. Threads that are not simulated have one each.
pub struct PerRun<T: 'static> {
    init: fn() -> T,
    /// It has an address of its own by it, which is its name.
    _name: u8,
}

thread_local! {
    /// Those of a thread of the host.
    static OUTSIDE: Values = Values::default();
}

impl<T: 'static> PerRun<T> {
    /// One whose first value in each run is that of `init`.
    #[must_use]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _name: 0 }
    }

    /// Calls `f` with that of this run.
    ///
    /// # Panics
    /// If a thread of the host has ended, and a destructor calls.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        let name = (&raw const self._name).addr();
        let found = with_current(|thread| match thread {
            Some(thread) => thread.of_run.with(name, self.init, f),
            None => OUTSIDE.with(|values| values.with(name, self.init, f)),
        });
        found.expect("values of a run do not end before it")
    }
}

impl<T> fmt::Debug for PerRun<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerRun").finish_non_exhaustive()
    }
}
