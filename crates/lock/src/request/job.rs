//! A closure on its way to the data, and what it returned, in the frame of its caller.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::thread;

use corecast_base::sync::UnsafeCell;

enum State<F, R> {
    Waits(F),
    Runs,
    Done(thread::Result<R>),
}

/// One closure. Reached by its runner from when it is sent until it is done, and by its caller before and after.
pub(crate) struct Job<F, R>(UnsafeCell<State<F, R>>);

/// A job whose type is forgotten, for data of type `T`.
pub(crate) struct AnyJob<T> {
    job: *const (),
    run: unsafe fn(*const (), &mut T),
}

impl<F, R> Job<F, R> {
    pub(crate) fn new(f: F) -> Self {
        Self(UnsafeCell::new(State::Waits(f)))
    }

    /// The same, to send.
    pub(crate) fn forget_type<T>(&self) -> AnyJob<T>
    where
        F: FnOnce(&mut T) -> R,
    {
        AnyJob { job: ptr::from_ref(self).cast(), run: run::<T, F, R> }
    }

    /// The closure, which has not run.
    pub(crate) fn into_closure(self) -> F {
        match self.into_state() {
            State::Waits(f) => f,
            _ => unreachable!("nobody has run it"),
        }
    }

    /// The closure's result, or its panic.
    pub(crate) fn into_result(self) -> thread::Result<R> {
        match self.into_state() {
            State::Done(result) => result,
            _ => unreachable!("it is done"),
        }
    }

    /// By a look that models see.
    fn into_state(self) -> State<F, R> {
        // SAFETY: nobody else has the job any more.
        self.0.with_mut(|state| std::mem::replace(unsafe { &mut *state }, State::Runs))
    }
}

impl<T> AnyJob<T> {
    /// Runs it, and keeps a panic for its caller.
    ///
    /// # Safety
    /// - The job is alive, has not run, and nobody else reaches it.
    pub(crate) unsafe fn run(&self, data: &mut T) {
        // SAFETY: the function belongs to the type of the job; the rest is the caller's promise.
        unsafe { (self.run)(self.job, data) }
    }
}

/// # Safety
/// - `job` is a `Job<F, R>`; the rest is that of [`AnyJob::run`].
unsafe fn run<T, F: FnOnce(&mut T) -> R, R>(job: *const (), data: &mut T) {
    // SAFETY: the caller's promise.
    let job = unsafe { &*job.cast::<Job<F, R>>() };
    job.0.with_mut(|state| {
        // SAFETY: nobody else reaches it, says the caller.
        let state = unsafe { &mut *state };
        let State::Waits(f) = std::mem::replace(state, State::Runs) else { unreachable!("it has not run") };
        *state = State::Done(catch_unwind(AssertUnwindSafe(|| f(data))));
    });
}
