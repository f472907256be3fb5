//! Bytes of a message in a value of fitting size.
//!
//! Operations on values are compiled once for each size. With these few sizes a message takes as many lines as it needs, or a
//! line or two more.

use std::ptr;

/// The most bytes that travel as a value.
pub(crate) const MOST_BYTES: usize = 480;

/// Calls `$operation::<WORDS>` with the smallest number of words that holds `$len` bytes.
macro_rules! with_words {
    ($len:expr, $operation:ident($($argument:expr),*)) => {
        match $len {
            0..=8 => $operation::<1>($($argument),*),
            9..=24 => $operation::<3>($($argument),*),
            25..=56 => $operation::<7>($($argument),*),
            57..=120 => $operation::<15>($($argument),*),
            121..=248 => $operation::<31>($($argument),*),
            _ => $operation::<60>($($argument),*),
        }
    };
}
pub(crate) use with_words;

/// The first `len` bytes there, and zeroes.
///
/// # Safety
/// - `from` points to `len` bytes.
/// - `len` is at most the size of the value.
#[inline]
pub(crate) unsafe fn load<const WORDS: usize>(from: *const u8, len: usize) -> [u64; WORDS] {
    let mut value = [0; WORDS];
    debug_assert!(len <= size_of_val(&value), "the caller chose the size by the length");
    // SAFETY: that many bytes on either side, as the caller says; the value is new.
    unsafe { ptr::copy_nonoverlapping(from, value.as_mut_ptr().cast(), len) };
    value
}

/// Stores the first `len` bytes of a value.
///
/// # Safety
/// - `into` points to room for `len` bytes.
/// - `len` is at most the size of the value.
#[inline]
pub(crate) unsafe fn store<const WORDS: usize>(value: &[u64; WORDS], into: *mut u8, len: usize) {
    debug_assert!(len <= size_of_val(value), "the caller chose the size by the length");
    // SAFETY: that many bytes on either side, as the caller says; the value is this thread's own.
    unsafe { ptr::copy_nonoverlapping(value.as_ptr().cast(), into, len) };
}
