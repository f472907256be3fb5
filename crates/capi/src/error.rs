//! The border to C: an error or a panic on this side becomes a status and a message, and no panic crosses it.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::Status;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: Cow<'static, str>,
    /// How many messages a reader missed that fell behind.
    pub(crate) missed: u64,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into(), missed: 0 }
    }

    /// The argument of this name is wrong.
    pub(crate) fn argument(name: &'static str, why: impl std::fmt::Display) -> Self {
        Self::new(Status::InvalidArgument, format!("argument '{name}': {why}"))
    }
}

thread_local! {
    /// The message of the last failure on this thread.
    static MESSAGE: RefCell<Cow<'static, str>> = const { RefCell::new(Cow::Borrowed("")) };
}

/// Runs the body of a function that C calls.
#[inline]
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    // The status tells C to do nothing with an object that a panic has left half changed but destroy it.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(failure)) => tell(failure),
        Err(panic) => tell(Failure::new(Status::Panic, words(panic))),
    }
}

/// The same for functions that return nothing, such as those that destroy an object.
pub(crate) fn finish(body: impl FnOnce()) {
    call(|| {
        body();
        Ok(())
    });
}

fn tell(failure: Failure) -> Status {
    // A thread that is ending keeps no message.
    let _ = MESSAGE.try_with(|message| message.replace(failure.message));
    failure.status
}

#[cold]
fn words(panic: Box<dyn Any + Send>) -> Cow<'static, str> {
    match panic.downcast::<String>() {
        Ok(text) => Cow::Owned(*text),
        Err(panic) => Cow::Borrowed(panic.downcast_ref::<&str>().copied().unwrap_or("a panic without words")),
    }
}

c_functions! {
    /// The message of the last call of this thread that did not return CORECAST_OK; "" before the first such call. Copies
    /// at most `size` bytes to `buffer`, which may be NULL if `size` is 0; the text always ends with a zero byte, and is
    /// cut if the buffer is too small. Returns the length of the whole text without the zero byte, as snprintf does.
    unsafe fn corecast_error_message(buffer: *mut c_char, size: usize) => (usize) {
        // SAFETY: the caller's promise.
        let copy = |message: &RefCell<Cow<'static, str>>| unsafe { copy_text(&message.borrow(), buffer, size) };
        MESSAGE.try_with(copy).unwrap_or(0)
    }
}

/// Copies a text as [`corecast_error_message`] does, and returns its length.
///
/// # Safety
/// - `buffer` is NULL, or writable for `size` bytes.
pub(crate) unsafe fn copy_text(text: &str, buffer: *mut c_char, size: usize) -> usize {
    if !buffer.is_null() && size > 0 {
        let len = text.len().min(size - 1);
        // SAFETY: the caller has `size` bytes there, writable and more than `len`.
        let buffer = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<MaybeUninit<u8>>(), len + 1) };
        let bytes = text.as_bytes()[..len].iter().chain(&[0]);
        buffer.iter_mut().zip(bytes).for_each(|(to, &byte)| _ = to.write(byte));
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn message(size: usize) -> (String, usize) {
        let mut buffer = [0x7f_u8; 64];
        // SAFETY: the buffer has 64 bytes, no less than any test asks for.
        let len = unsafe { corecast_error_message(buffer.as_mut_ptr().cast(), size) };
        let text = CStr::from_bytes_until_nul(&buffer).map(|text| text.to_str().expect("ASCII").to_owned());
        (text.unwrap_or_default(), len)
    }

    #[test]
    fn a_panic_becomes_a_status_and_its_words() {
        assert_eq!(call(|| panic!("a rule of {}", "use")), Status::Panic);
        assert_eq!(message(64), ("a rule of use".to_owned(), 13));
        assert_eq!(call(|| std::panic::panic_any(7)), Status::Panic);
        assert_eq!(message(64).0, "a panic without words");
        finish(|| panic!("in a destructor"));
        assert_eq!(message(64).0, "in a destructor");
    }

    #[test]
    fn messages_are_cut_kept_and_of_each_thread() {
        assert_eq!(call(|| Err(Failure::argument("slots", "is odd"))), Status::InvalidArgument);
        assert_eq!(call(|| Ok(())), Status::Ok, "which leaves the message alone");
        assert_eq!(message(64), ("argument 'slots': is odd".to_owned(), 24));
        assert_eq!(message(9), ("argument".to_owned(), 24));
        assert_eq!(message(1), (String::new(), 24));
        // SAFETY: nothing is written to a buffer of no bytes.
        assert_eq!(unsafe { corecast_error_message(std::ptr::null_mut(), 0) }, 24);
        let elsewhere = std::thread::spawn(|| message(64));
        assert_eq!(elsewhere.join().expect("no panic"), (String::new(), 0));
    }
}
