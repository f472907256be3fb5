//! [`Real`]: the function of another library that ours stands before.

use std::ffi::{CStr, c_void};
use std::ptr;

use corecast_base::sync::{AtomicPtr, Ordering};

use crate::errno::Errno;

/// A function of this name behind ours, looked for once.
///
/// Threads may look for it at the same time, also before the constructors of this object: all find the same. To look for it
/// takes the loader's lock, and may allocate if it fails; so objects call [`next`](Self::next) in their constructors, and the
/// hot path finds it there.
#[derive(Debug)]
pub struct Real {
    name: &'static CStr,
    /// The version to look for first.
    version: Option<&'static CStr>,
    /// Null before it was found. Written by every thread that looks for it, with the same value.
    next: AtomicPtr<c_void>,
}

impl Real {
    /// The function of this name.
    #[must_use]
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, version: None, next: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The function of this name and version; the default version where there is no such one, as on another architecture.
    #[must_use]
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Self {
        let mut real = Self::new(name);
        real.version = Some(version);
        real
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static CStr {
        self.name
    }

    /// The function in the libraries behind this one, in the order of the loader; null if there is none.
    #[inline]
    #[must_use]
    pub fn next(&self) -> *mut c_void {
        // ORDERING: Relaxed, code is there before the process starts
        let found = self.next.load(Ordering::Relaxed);
        if found.is_null() { self.look_for_next() } else { found }
    }

    #[cold]
    fn look_for_next(&self) -> *mut c_void {
        let _errno = Errno::keep();
        let found = self.look_in(libc::RTLD_NEXT);
        // ORDERING: Relaxed, as in next
        self.next.store(found, Ordering::Relaxed);
        found
    }

    /// The function in a library that was opened, or in those that `RTLD_NEXT` stands for; null if there is none.
    pub(crate) fn look_in(&self, library: *mut c_void) -> *mut c_void {
        let versioned = self.version.map_or(ptr::null_mut(), |version| {
            // SAFETY: a library or RTLD_NEXT, and two texts.
            unsafe { libc::dlvsym(library, self.name.as_ptr(), version.as_ptr()) }
        });
        if !versioned.is_null() {
            return versioned;
        }
        // SAFETY: a library or RTLD_NEXT, and a text.
        unsafe { libc::dlsym(library, self.name.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_once_and_one_that_is_not_there_never() {
        static REAL: Real = Real::new(c"pthread_barrier_wait");
        assert!(!REAL.next().is_null() && REAL.next() == REAL.next());
        static NONE: Real = Real::new(c"corecast_no_such_function");
        assert!(NONE.next().is_null());
    }

    #[test]
    fn versions_are_looked_for_first_and_may_be_missing() {
        static SIGNAL: Real = Real::versioned(c"pthread_cond_signal", c"GLIBC_2.3.2");
        static OTHER: Real = Real::versioned(c"pthread_cond_signal", c"CORECAST_NONE");
        assert!(!SIGNAL.next().is_null() && SIGNAL.next() == OTHER.next());
    }
}
