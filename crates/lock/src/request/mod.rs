//! Closures that wait for data which another thread has: how they are sent, and how their callers wait.
//!
//! Used by [`Combine`](crate::Combine), where the thread that has the data runs them, and by [`Delegate`](crate::Delegate),
//! where one thread does for good, for those that come with a limit or find no line.

#[cfg_attr(loom, path = "chain_model.rs")]
#[cfg_attr(not(loom), path = "chain_native.rs")]
pub(crate) mod chain;
mod job;
mod progress;
mod queue;

use std::panic::resume_unwind;
use std::ptr;
use std::thread;
use std::time::Instant;

use crate::three_states::IS_MODEL;
pub(crate) use job::{AnyJob, Job};
use progress::Progress;
use queue::Request;
pub(crate) use queue::{Begun, Queue};

/// The outcome of a closure.
pub(crate) enum Outcome<F, R> {
    /// It has run.
    Done(thread::Result<R>),
    /// Nobody had the queue, and this thread has it now.
    Locked(F),
    /// It has not run in time, and will not.
    Withdrawn(F),
}

/// Sends `f` to the thread that has the queue, and waits until it has run, or until the deadline if it has not begun then; one
/// that has passed sends nothing. Calls
/// `pushed` once it is sent, and `called` whenever the thread that had the queue has left.
pub(crate) fn send<T, R: Send, F: FnOnce(&mut T) -> R + Send>(
    queue: &Queue<T>,
    f: F,
    deadline: Option<Instant>,
    pushed: impl FnOnce(),
    called: impl Fn(),
) -> Outcome<F, R> {
    // In a model every deadline has passed, and is for when nobody can go on.
    if !IS_MODEL && deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return Outcome::Withdrawn(f);
    }
    let progress = Progress::take();
    let job = Job::new(f);
    let within = Request::within(&job, progress);
    // A request that is withdrawn stays where it is until somebody comes across it, so it cannot lie in this frame.
    let boxed = deadline.map(|_| Box::into_raw(Box::new(Request::to_withdraw(&job, progress))));
    // SAFETY: the job stays in this frame until it is done or withdrawn; so does the request, or stays in its box for good.
    let is_locked = unsafe { queue.lock_or_push(boxed.unwrap_or(ptr::from_ref(&within).cast_mut())) };
    if !is_locked {
        pushed();
        if !progress.wait(deadline, called) {
            return Outcome::Withdrawn(job.into_closure());
        }
    }
    if let Some(request) = boxed {
        // SAFETY: made above; nobody else has it any more, or has ever had.
        drop(unsafe { Box::from_raw(request) });
    }
    progress.give_back();
    if is_locked { Outcome::Locked(job.into_closure()) } else { Outcome::Done(job.into_result()) }
}

/// A closure's result; its panic goes on here.
pub(crate) fn returned<R>(result: thread::Result<R>) -> R {
    result.unwrap_or_else(|panic| resume_unwind(panic))
}
