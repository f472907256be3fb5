//! Checks of the arguments that C passes, as far as they can be checked: not NULL, text, of a size, one of a list.
//!
//! Handles and outputs arrive as references, for which C's NULL is `None`; the caller promises, as everywhere in C, that
//! they are live and of the right type, and that no other thread uses them meanwhile. Bytes, texts and parameter structs,
//! whose size is only known at run time, arrive as pointers and are read here.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Display;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::error::Failure;

/// A struct of parameters.
///
/// # Safety
/// - It is `repr(C)`, and its first field is its size in bytes, a `usize`.
/// - Any bytes are a value of it.
pub(crate) unsafe trait Parameters: Copy {
    /// The size in the first version that had it. Programs of that version pass no later fields, which are zeroes then.
    const FIRST_BYTES: usize = size_of::<Self>();
}

/// Larger than the parameters of any later version: a size beyond it was never set.
const LARGEST_PARAMETERS: usize = 4096;

/// The argument, which must not be NULL.
pub(crate) fn required<T>(argument: Option<T>, name: &'static str) -> Result<T, Failure> {
    argument.ok_or_else(|| null(name))
}

/// Where a call writes what it returns besides its status.
pub(crate) trait Outputs<V> {
    fn put(self, value: V);
}

impl Outputs<()> for () {
    fn put(self, (): ()) {}
}

impl<T> Outputs<T> for &mut MaybeUninit<T> {
    #[inline]
    fn put(self, value: T) {
        self.write(value);
    }
}

/// Where a call writes the pointer to an object that it makes for C, which has to destroy it.
pub(crate) struct New<'a, T>(pub(crate) &'a mut MaybeUninit<*mut T>);

impl<T> Outputs<T> for New<'_, T> {
    fn put(self, object: T) {
        self.0.write(Box::into_raw(Box::new(object)));
    }
}

impl<A: Outputs<V>, B: Outputs<W>, V, W> Outputs<(V, W)> for (A, B) {
    #[inline]
    fn put(self, (first, second): (V, W)) {
        self.0.put(first);
        self.1.put(second);
    }
}

/// # Safety
/// - `text` is NULL, or ends with a zero byte and stays as it is for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &'static str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: not NULL, and otherwise the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Failure::argument(name, "is not UTF-8"))
}

/// The same; `None` for NULL.
///
/// # Safety
/// - As of [`text`].
pub(crate) unsafe fn optional_text<'a>(at: *const c_char, name: &'static str) -> Result<Option<&'a str>, Failure> {
    // SAFETY: the caller's promise.
    if at.is_null() { Ok(None) } else { unsafe { text(at, name) }.map(Some) }
}

/// # Safety
/// - `data` is NULL, or readable for `len` bytes, which stay as they are for `'a`.
pub(crate) unsafe fn bytes<'a>(data: *const c_void, len: usize, name: &'static str) -> Result<&'a [u8], Failure> {
    // SAFETY: the caller's promise; bytes are always aligned.
    unsafe { elements(data.cast(), len, name) }
}

/// # Safety
/// - `first` is NULL, or aligned and readable for `count` elements, which stay as they are for `'a`.
pub(crate) unsafe fn elements<'a, T>(first: *const T, count: usize, name: &'static str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(null(name));
    }
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::argument(name, format_args!("{count} are more than memory has room for")));
    }
    // SAFETY: neither NULL nor longer than memory, and otherwise the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// # Safety
/// - `first` is NULL, or aligned, readable and writable for `count` elements, which nothing else reaches for `'a`.
pub(crate) unsafe fn elements_mut<'a, T>(
    first: *mut T,
    count: usize,
    name: &'static str,
) -> Result<&'a mut [T], Failure> {
    // SAFETY: the caller's promise.
    unsafe { elements(first, count, name) }?;
    // SAFETY: the check above, and otherwise the caller's promise; for none any aligned pointer will do.
    Ok(if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(first, count) } })
}

/// The parameters, or their defaults for NULL.
///
/// # Safety
/// - `from` is NULL, or aligned and readable for a `usize`, which is a number of bytes, and readable for that many.
pub(crate) unsafe fn parameters<T: Parameters>(from: *const T, name: &'static str) -> Result<T, Failure> {
    let mut value = MaybeUninit::<T>::zeroed();
    if from.is_null() {
        // SAFETY: any bytes are a value of parameters, zeroes too.
        return Ok(unsafe { value.assume_init() });
    }
    // SAFETY: readable by the caller's promise.
    let size = unsafe { from.cast::<usize>().read() };
    let known = size_of::<T>();
    if !(T::FIRST_BYTES..=LARGEST_PARAMETERS).contains(&size) {
        return Err(Failure::argument(name, format_args!("its size is {size}, not sizeof of its type, {known}")));
    }
    // SAFETY: `size` bytes are readable by the caller's promise.
    let given = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) };
    let taken = size.min(known);
    if given[taken..].iter().any(|&byte| byte != 0) {
        return Err(Failure::argument(name, "has fields that this version of the library does not know"));
    }
    // SAFETY: both have as many bytes, and the value is a new one.
    unsafe { value.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(given.as_ptr(), taken) };
    // SAFETY: any bytes are a value of parameters.
    Ok(unsafe { value.assume_init() })
}

/// One of the values that an enumeration of the header has, numbered from 0.
pub(crate) fn choice<T: Copy>(number: u32, choices: &[T], name: &'static str) -> Result<T, Failure> {
    let wrong = || Failure::argument(name, format_args!("is {number}, not one of 0 to {}", choices.len() - 1));
    choices.get(number as usize).copied().ok_or_else(wrong)
}

/// A number between two others, both included.
pub(crate) fn within<T: Copy + PartialOrd + Display>(
    value: T,
    least: T,
    most: T,
    name: &'static str,
) -> Result<T, Failure> {
    let is_within = least <= value && value <= most;
    is_within.then_some(value).ok_or_else(|| Failure::argument(name, format_args!("is {value}, not {least} to {most}")))
}

/// A descriptor of C's as one of the library's own.
pub(crate) fn duplicate(fd: c_int) -> Result<OwnedFd, Failure> {
    if fd < 0 {
        return Err(Failure::argument("fd", "is no descriptor"));
    }
    // SAFETY: not -1; the caller keeps it open during this call.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?)
}

fn null(name: &'static str) -> Failure {
    Failure::argument(name, "is NULL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Old {
        size: usize,
        slots: u32,
        wait: u32,
    }

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Newer {
        old: Old,
        more: u64,
    }

    // SAFETY: numbers laid out as C does, the size first.
    unsafe impl Parameters for Old {}

    // SAFETY: the same.
    unsafe impl Parameters for Newer {
        const FIRST_BYTES: usize = size_of::<Old>();
    }

    fn read(newer: &Newer) -> Result<Old, Failure> {
        // SAFETY: no test says a size beyond that of the newer struct which passes the first check.
        unsafe { parameters(std::ptr::from_ref(newer).cast::<Old>(), "config") }
    }

    #[test]
    fn parameters_may_be_of_the_first_version() {
        let old = Old { size: size_of::<Old>(), slots: 7, wait: 1 };
        // SAFETY: it has as many bytes as it says.
        let found =
            unsafe { parameters(std::ptr::from_ref(&old).cast::<Newer>(), "config") }.expect("the first version");
        assert_eq!((found.old.slots, found.old.wait, found.more), (7, 1, 0));
        let smaller = Old { size: size_of::<Old>() - 1, ..old };
        // SAFETY: the same.
        let refused = unsafe { parameters(std::ptr::from_ref(&smaller).cast::<Newer>(), "config") };
        assert_eq!(refused.err().map(|failure| failure.status), Some(crate::status::Status::InvalidArgument));
    }

    #[test]
    fn parameters_may_be_of_a_later_version_that_asks_for_nothing_new() {
        let with = |size, more| Newer { old: Old { size, slots: 7, wait: 1 }, more };
        let (old, newer) = (size_of::<Old>(), size_of::<Newer>());
        for given in [with(old, 99), with(newer, 0)] {
            let found = read(&given).expect("known fields only");
            assert_eq!((found.slots, found.wait), (7, 1));
        }
        let message = |given| read(&given).map(|_| ()).expect_err("wrong").message.into_owned();
        assert_eq!(
            message(with(newer, 1)),
            "argument 'config': has fields that this version of the library does not know"
        );
        for size in [0, 8, old - 1, usize::MAX] {
            assert_eq!(
                message(with(size, 0)),
                format!("argument 'config': its size is {size}, not sizeof of its type, {old}")
            );
        }
        // SAFETY: NULL is allowed.
        let defaults: Old = unsafe { parameters(std::ptr::null(), "config") }.expect("defaults");
        assert_eq!((defaults.size, defaults.slots), (0, 0));
    }

    #[test]
    fn texts_and_bytes_are_checked() {
        // SAFETY: NULL, or a constant text.
        let read = |pointer| unsafe { text(pointer, "name") }.map_err(|failure| failure.message.into_owned());
        assert_eq!(read(std::ptr::null()), Err("argument 'name': is NULL".to_owned()));
        assert_eq!(read(c"\xff".as_ptr()), Err("argument 'name': is not UTF-8".to_owned()));
        assert_eq!(read(c"a b".as_ptr()), Ok("a b"));
        // SAFETY: NULL, or refused for its length.
        let read =
            |pointer, len| unsafe { bytes(pointer, len, "data") }.map_err(|failure| failure.message.into_owned());
        assert_eq!(read(std::ptr::null(), 0), Ok(&[][..]));
        assert_eq!(read(std::ptr::null(), 1), Err("argument 'data': is NULL".to_owned()));
        assert!(read(c"".as_ptr().cast(), usize::MAX).is_err());
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(choice(1, &['a', 'b'], "wait").expect("in the list"), 'b');
        assert_eq!(
            choice(2, &['a', 'b'], "wait").expect_err("none").message,
            "argument 'wait': is 2, not one of 0 to 1"
        );
        assert_eq!(within(3, 1, 3, "n").expect("inside"), 3);
        assert_eq!(within(0, 1, 3, "n").expect_err("outside").message, "argument 'n': is 0, not 1 to 3");
    }
}
