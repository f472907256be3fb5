//! The environment of the program, read without a copy.

use std::ffi::CStr;

/// The value of a variable, if it is set. It is read once, early: a program that changes the variable later may move the text.
#[must_use]
pub fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name is a text that ends.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: a text that ends; callers read it at once, before the program can change it.
    Some(unsafe { CStr::from_ptr(value) }.to_bytes())
}

/// True if the variable is set, and neither empty nor `0`.
pub(crate) fn is_on(name: &CStr) -> bool {
    variable(name).is_some_and(|value| !matches!(value, b"" | b"0"))
}

/// True in a program that runs with more rights than its caller has. The environment is not to be trusted then.
pub(crate) fn is_privileged() -> bool {
    // SAFETY: asks for a number that the system gave at the start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The longest path of an executable that is read, in bytes.
const LONGEST: usize = libc::PATH_MAX as usize;

/// Lets `use_it` see the path of this program's executable; an empty one if the system does not tell.
pub(crate) fn with_executable<R>(use_it: impl FnOnce(&[u8]) -> R) -> R {
    let mut path = [0_u8; LONGEST];
    // SAFETY: a text, and room for as many bytes as are told.
    let len = unsafe { libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), LONGEST) };
    use_it(&path[..usize::try_from(len).unwrap_or(0)])
}
