//! Counts of calls, told at exit to users who ask for them.
//!
//! The table is written by one system call to the standard error, without a buffer of the C library and without an allocation.
//! A program that ends by `_exit`, `exec` or a signal writes none.

use std::fmt::{self, Write};

use corecast_base::sync::{AtomicPtr, AtomicU64, Ordering};

use crate::settings::Settings;

/// The calls of one function, or of a few of a kind.
#[derive(Debug)]
pub struct Operation {
    name: &'static str,
    /// The time that a served call is assumed to save, in nanoseconds: from measurements of the author of an object.
    saved_ns: u64,
    /// Calls that the object has served. Written by every thread that calls.
    served: AtomicU64,
    /// Calls that it began to serve and had to pass on. Written by every thread that calls.
    diverted: AtomicU64,
    /// Calls that it passed on at once. Written by every thread that calls.
    passed: AtomicU64,
}

impl Operation {
    /// No calls yet. A served one is assumed to save `saved_ns` nanoseconds; 0 where nobody can tell.
    #[must_use]
    pub const fn new(name: &'static str, saved_ns: u64) -> Self {
        Self { name, saved_ns, served: AtomicU64::new(0), diverted: AtomicU64::new(0), passed: AtomicU64::new(0) }
    }

    /// Counts a call that was served, if calls are counted.
    #[inline]
    pub fn serve(&self) {
        count(&self.served);
    }

    /// Counts a call that was passed on after it had begun here.
    #[inline]
    pub fn divert(&self) {
        count(&self.diverted);
    }

    /// Counts a call that was passed on at once.
    #[inline]
    pub fn pass(&self) {
        count(&self.passed);
    }

    fn counts(&self) -> [u64; 3] {
        // ORDERING: Relaxed, numbers for people, of threads that may still run
        [&self.served, &self.diverted, &self.passed].map(|counter| counter.load(Ordering::Relaxed))
    }
}

#[inline]
fn count(counter: &AtomicU64) {
    if Settings::get().counts() {
        // ORDERING: Relaxed, a number for people
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The operations of an object.
#[derive(Debug)]
pub struct Statistics {
    /// The object's name.
    pub object: &'static str,
    /// Its operations, in the order in which they are told.
    pub operations: &'static [Operation],
}

/// The statistics of this object; null before they are to be told.
static TOLD: AtomicPtr<Statistics> = AtomicPtr::new(std::ptr::null_mut());

impl Statistics {
    /// Writes the table to the standard error when the program exits, if users asked for it. For the constructor of an object,
    /// which calls it once.
    pub fn tell_at_exit(&'static self) {
        if !Settings::get().counts() {
            return;
        }
        // ORDERING: Release, pairs with the Acquire in tell [told-statistics]
        TOLD.store(std::ptr::from_ref(self).cast_mut(), Ordering::Release);
        // SAFETY: the function needs nothing but the static, and objects that are preloaded stay.
        unsafe { libc::atexit(tell) };
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for operation in self.operations {
            let [served, diverted, passed] = operation.counts();
            if served + diverted + passed == 0 {
                continue;
            }
            write!(f, "{}: {}: served {served}, diverted {diverted}, passed {passed}", self.object, operation.name)?;
            match served.saturating_mul(operation.saved_ns) {
                0 => writeln!(f)?,
                saved => writeln!(f, ", saved about {:.3} s", saved as f64 / 1e9)?,
            }
        }
        Ok(())
    }
}

extern "C" fn tell() {
    // ORDERING: Acquire, pairs with the Release in tell_at_exit [told-statistics]
    let told = TOLD.load(Ordering::Acquire);
    // SAFETY: null, or a static.
    let Some(told) = (unsafe { told.as_ref() }) else { return };
    let mut page = Page { bytes: [0; 4096], len: 0 };
    // Text that does not fit is left out.
    let _ = write!(page, "{told}");
    // SAFETY: as many bytes as are told. A standard error that is closed or full is nobody's trouble here.
    unsafe { libc::write(libc::STDERR_FILENO, page.bytes.as_ptr().cast(), page.len) };
}

/// A text on the stack.
struct Page {
    bytes: [u8; 4096],
    len: usize,
}

impl Write for Page {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_operations_that_were_called_are_told() {
        static OPERATIONS: [Operation; 3] =
            [Operation::new("wait", 2_000_000), Operation::new("init", 0), Operation::new("never", 1)];
        // ORDERING: Relaxed, one thread
        OPERATIONS[0].served.store(1500, Ordering::Relaxed);
        // ORDERING: Relaxed, one thread
        OPERATIONS[1].passed.store(2, Ordering::Relaxed);
        let told = Statistics { object: "corecast pthread", operations: &OPERATIONS }.to_string();
        let expected = "corecast pthread: wait: served 1500, diverted 0, passed 0, saved about 3.000 s\n\
                        corecast pthread: init: served 0, diverted 0, passed 2\n";
        assert_eq!(told, expected);
    }

    #[test]
    fn a_page_takes_no_more_than_it_has_room_for() {
        let mut page = Page { bytes: [0; 4096], len: 0 };
        assert!(page.write_str(&"x".repeat(4096)).is_ok() && page.write_str("y").is_err());
    }
}
