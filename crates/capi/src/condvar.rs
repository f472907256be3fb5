//! A condition variable: threads that hold a lock sleep until another one has changed what it guards.

use std::time::Instant;

use corecast::lock::Condvar as Words;

use crate::argument::required;
use crate::error::Failure;
use crate::lock::Lock;
use crate::status::Status;

/// A condition variable. All zeroes are a variable without waiting threads; it has nothing to destroy. It lies where its
/// user puts it, among the threads of one process, and must not be moved or freed while a thread is in a call with it.
///
/// It goes with locks whose threads sleep: auto, word, byte and qword; others are CORECAST_INVALID_ARGUMENT. One variable
/// may serve several locks. A notification wakes threads that wait at that moment, and is not kept for later ones. A thread
/// need not hold the lock to notify, but it must hold it while it changes the state that others wait for.
#[derive(Debug)]
#[repr(C)]
pub struct Condvar {
    /// For the library.
    pub opaque: [u64; 2],
}

const _: () = assert!(size_of::<Words>() <= size_of::<Condvar>() && align_of::<Words>() <= align_of::<Condvar>());

impl Condvar {
    /// The variable at an address that C passes.
    ///
    /// # Safety
    /// - `condvar` is NULL, or writable for the bytes of a variable for `'a`, which are reached by this library alone.
    unsafe fn at<'a>(condvar: *mut Self) -> Result<&'a Words, Failure> {
        required((!condvar.is_null()).then_some(()), "condvar")?;
        if !condvar.is_aligned() {
            return Err(Failure::argument("condvar", format_args!("is not aligned to {} bytes", align_of::<Self>())));
        }
        // SAFETY: neither NULL nor askew; any bytes are a variable, and otherwise the caller's promise.
        Ok(unsafe { &*condvar.cast::<Words>() })
    }
}

c_functions! {
    /// Frees the lock, which this thread holds, sleeps until a notification, and takes the lock again. It may return for no
    /// reason, and another thread may have been there first: so look again, in a loop.
    unsafe fn corecast_condvar_wait(condvar: in_place Condvar, lock: in_place Lock) {
        lock.wait(condvar)?
    }

    /// As corecast_condvar_wait, asleep for at most `timeout_ns` nanoseconds: CORECAST_TIMEOUT if no notification came. The
    /// thread waits for the lock without a limit, and holds it after a timeout too.
    unsafe fn corecast_condvar_wait_timeout_ns(condvar: in_place Condvar, lock: in_place Lock, timeout_ns: Duration) {
        let is_notified = match Instant::now().checked_add(timeout_ns) {
            Some(deadline) => lock.wait_until(condvar, deadline)?,
            None => lock.wait(condvar).map(|()| true)?,
        };
        if !is_notified {
            return Err(Failure::new(Status::Timeout, "no notification came until the deadline"));
        }
    }

    /// Wakes one waiting thread, if there is one.
    unsafe fn corecast_condvar_notify_one(condvar: in_place Condvar) {
        condvar.notify_one()
    }

    /// Wakes all waiting threads.
    unsafe fn corecast_condvar_notify_all(condvar: in_place Condvar) {
        condvar.notify_all()
    }
}
