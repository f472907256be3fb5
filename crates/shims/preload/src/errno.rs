//! `errno` as the caller left it.
//!
//! The functions that preload objects replace return their errors and leave `errno` alone, so system calls on the way must
//! not show in it.

use std::ffi::c_int;
use std::marker::PhantomData;

/// Keeps the `errno` of this thread, and puts it back when dropped.
#[derive(Debug)]
pub struct Errno {
    value: c_int,
    /// It belongs to this thread.
    thread: PhantomData<*const ()>,
}

impl Errno {
    /// Keeps the value of now.
    #[must_use]
    pub fn keep() -> Self {
        // SAFETY: asks for the place of this thread's errno, which is always there.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: valid for this thread, which is the only one that uses it.
        Self { value: unsafe { place.read() }, thread: PhantomData }
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as in keep.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: as in keep.
        unsafe { place.write(self.value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_system_call_does_not_show() {
        let errno = || std::io::Error::last_os_error().raw_os_error();
        // SAFETY: there is no such descriptor.
        unsafe { libc::close(-1) };
        assert_eq!(errno(), Some(libc::EBADF));
        let kept = Errno::keep();
        // SAFETY: no folder is named by an empty text.
        unsafe { libc::rmdir(c"".as_ptr()) };
        assert_eq!(errno(), Some(libc::ENOENT));
        drop(kept);
        assert_eq!(errno(), Some(libc::EBADF));
    }
}
