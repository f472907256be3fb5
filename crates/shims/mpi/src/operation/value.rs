//! Bytes of a message in a value of fitting size.
//!
//! Operations on values are compiled once for each size. A line of a message carries 56 bytes; these sizes fill one to five
//! lines, seven or nine, and the smallest saves copying.

use std::ptr;

/// The most bytes that travel as a value.
pub(crate) const MOST_BYTES: usize = 504;

/// Calls `$operation::<WORDS>` with the smallest number of words that holds `$len` bytes.
macro_rules! with_words {
    ($len:expr, $operation:ident($($argument:expr),*)) => {
        match $len {
            0..=8 => $operation::<1>($($argument),*),
            9..=56 => $operation::<7>($($argument),*),
            57..=112 => $operation::<14>($($argument),*),
            113..=168 => $operation::<21>($($argument),*),
            169..=224 => $operation::<28>($($argument),*),
            225..=280 => $operation::<35>($($argument),*),
            281..=392 => $operation::<49>($($argument),*),
            _ => $operation::<63>($($argument),*),
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
