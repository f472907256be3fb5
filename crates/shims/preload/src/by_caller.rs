//! [`RealOfCallers`]: the function that callers in an object mean.

use std::ffi::{CStr, c_void};

use crate::caller::{self, ByObject};
use crate::errno::Errno;
use crate::real::Real;

/// As [`Real`], for functions of runtimes of which a process can have several, such as those in Python's wheels, which are loaded
/// privately: callers in different objects may mean different ones.
///
/// The function that was found is remembered for each object until a library is [unloaded](crate::unload). A first call from an
/// object asks the loader, which takes the loader's lock, and may allocate: 16 objects have room without.
#[derive(Debug)]
pub struct RealOfCallers {
    real: Real,
    known: ByObject,
}

impl RealOfCallers {
    /// The function of this name.
    #[must_use]
    pub const fn new(name: &'static CStr) -> Self {
        Self { real: Real::new(name), known: ByObject::new() }
    }

    /// As [`Real::next`].
    #[must_use]
    pub fn next(&self) -> *mut c_void {
        self.real.next()
    }

    /// The function that a call from `address`, which is in the caller's code, would have reached without this object: the one
    /// of the caller's object or of what that was linked to, else [`next`](Self::next).
    #[must_use]
    pub fn of_caller(&self, address: *const c_void) -> *mut c_void {
        self.known.get(address, || self.look_for(address))
    }

    #[cold]
    fn look_for(&self, address: *const c_void) -> *mut c_void {
        let _errno = Errno::keep();
        caller::with_library(address, |library| self.real.look_in(library))
            .filter(|&found| !found.is_null() && !caller::is_ours(found))
            .unwrap_or_else(|| self.next())
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    #[test]
    fn a_function_that_is_not_there_is_found_by_nobody() {
        static NONE: RealOfCallers = RealOfCallers::new(c"corecast_no_such_function");
        assert!(NONE.next().is_null() && NONE.of_caller(ptr::null()).is_null());
    }

    #[test]
    fn the_function_of_a_callers_object_is_found_by_an_address_in_its_code() {
        static OPEN: RealOfCallers = RealOfCallers::new(c"dlopen");
        static CLOSE: RealOfCallers = RealOfCallers::new(c"close");
        let in_libc = CLOSE.next();
        assert_eq!(OPEN.of_caller(in_libc), OPEN.next());
        assert_eq!(CLOSE.of_caller(in_libc), in_libc);
        // A function of this object counts as ours.
        let here = ptr::from_ref(&OPEN).cast::<c_void>();
        assert_eq!(CLOSE.of_caller(here), in_libc);
    }
}
