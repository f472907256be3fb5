//! A condition variable: threads that hold a lock sleep until another one has changed what it guards.

use std::time::{Duration, Instant};

use corecast::lock::Condvar as Words;

use crate::argument::required;
use crate::error::{Failure, call};
use crate::lock::{Lock, at as lock_at};
use crate::status::Status;

/// A condition variable. All zeroes are one that nobody waits for; it has nothing to destroy. It lies where its user puts it,
/// among the threads of one process, and must not be moved or freed while anybody is in a call with it.
///
/// It goes with locks whose threads sleep: auto, word, byte and qword; others are CORECAST_INVALID_ARGUMENT. One variable may
/// serve several locks. A notification wakes those who wait when it comes, and is not kept for later ones; the lock need not
/// be held to notify, but what is waited for is to be changed while it is.
#[derive(Debug)]
#[repr(C)]
pub struct Condvar {
    /// For the library.
    pub opaque: [u64; 2],
}

const _: () = assert!(size_of::<Words>() <= size_of::<Condvar>() && align_of::<Words>() <= align_of::<Condvar>());

/// The variable at an address that C passes.
///
/// # Safety
/// - `condvar` is NULL, or writable for the bytes of a variable for `'a`, which are reached by this library alone.
unsafe fn at<'a>(condvar: *mut Condvar) -> Result<&'a Words, Failure> {
    required((!condvar.is_null()).then_some(()), "condvar")?;
    if !condvar.is_aligned() {
        return Err(Failure::argument("condvar", format_args!("is not aligned to {} bytes", align_of::<Condvar>())));
    }
    // SAFETY: neither NULL nor askew; any bytes are a variable, and otherwise the caller's promise.
    Ok(unsafe { &*condvar.cast::<Words>() })
}

/// Frees the lock, which this thread holds, sleeps until a notification, and takes the lock again. It may return for no
/// reason, and another thread may have been there first: so look again, in a loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_condvar_wait(condvar: *mut Condvar, lock: *mut Lock) -> Status {
    call(|| {
        // SAFETY: C passes a variable.
        let condvar = unsafe { at(condvar) }?;
        // SAFETY: C passes a lock.
        Ok(unsafe { lock_at(lock) }?.wait(condvar)?)
    })
}

/// As corecast_condvar_wait, asleep for so long at most: CORECAST_TIMEOUT if no notification came. The lock is waited for
/// without a limit, and held then, too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_condvar_wait_timeout_ns(
    condvar: *mut Condvar,
    lock: *mut Lock,
    timeout_ns: u64,
) -> Status {
    call(|| {
        // SAFETY: C passes a variable.
        let condvar = unsafe { at(condvar) }?;
        // SAFETY: C passes a lock.
        let lock = unsafe { lock_at(lock) }?;
        let is_notified = match Instant::now().checked_add(Duration::from_nanos(timeout_ns)) {
            Some(deadline) => lock.wait_until(condvar, deadline)?,
            None => lock.wait(condvar).map(|()| true)?,
        };
        if is_notified { Ok(()) } else { Err(Failure::new(Status::Timeout, "no notification came until the deadline")) }
    })
}

/// Wakes one of those who wait, if anybody does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_condvar_notify_one(condvar: *mut Condvar) -> Status {
    call(|| {
        // SAFETY: C passes a variable.
        unsafe { at(condvar) }?.notify_one();
        Ok(())
    })
}

/// Wakes all who wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_condvar_notify_all(condvar: *mut Condvar) -> Status {
    call(|| {
        // SAFETY: C passes a variable.
        unsafe { at(condvar) }?.notify_all();
        Ok(())
    })
}
