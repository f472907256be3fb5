//! The CPUs that this process may use, asked for once.

use std::mem::MaybeUninit;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_preload::Errno;

/// The number of CPUs that the first thread that asked may run on, at least 1. Masks that change later only make waits less apt.
#[inline]
pub(crate) fn allowed() -> u32 {
    /// 0 before it is known. Written by the threads that ask first.
    static ALLOWED: AtomicU32 = AtomicU32::new(0);
    // ORDERING: Relaxed, the number is all there is, and it only says how to wait
    match ALLOWED.load(Ordering::Relaxed) {
        0 => {
            let allowed = ask();
            // ORDERING: Relaxed, as at the access above
            ALLOWED.store(allowed, Ordering::Relaxed);
            allowed
        }
        allowed => allowed,
    }
}

#[cold]
fn ask() -> u32 {
    let _errno = Errno::keep();
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: room for a set. Machines with more CPUs than fit have an error, and then a CPU for each thread.
    if unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) } != 0 {
        return u32::MAX;
    }
    // SAFETY: zeroes are a set, and the system has written one.
    let set = unsafe { set.assume_init() };
    // SAFETY: counts the bits of a set.
    unsafe { libc::CPU_COUNT(&set) }.unsigned_abs().max(1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_a_cpu() {
        assert!(super::allowed() >= 1 && super::allowed() == super::allowed());
    }
}
