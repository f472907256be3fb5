//! A value that is read and written word by word, in its own place.

use std::mem::MaybeUninit;

use corecast_base::Plain;
use corecast_base::sync::{AtomicU8, AtomicU64, Ordering, UnsafeCell};

const WORD_BYTES: usize = size_of::<u64>();

/// Whole words as such, and what is left byte by byte.
#[repr(align(8))]
pub(super) struct Words<T>(UnsafeCell<T>);

// SAFETY: all accesses are atomic, and the value is nothing but its bytes.
unsafe impl<T: Plain> Sync for Words<T> {}

impl<T: Plain> Words<T> {
    /// The bytes at the end that fill no word.
    const REST: usize = size_of::<T>() % WORD_BYTES;
    const WORDS: usize = size_of::<T>() / WORD_BYTES;

    pub(super) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    #[inline]
    fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at < Self::WORDS, "inside the value");
        // SAFETY: this word lies inside the value, which is aligned to words.
        let word = self.0.with_mut(|value| unsafe { value.cast::<u64>().add(at) });
        // SAFETY: it lives as long as self, has no padding, and is reached by atomics of this size only.
        unsafe { AtomicU64::from_ptr(word) }
    }

    #[inline]
    fn byte(&self, at: usize) -> &AtomicU8 {
        debug_assert!((Self::WORDS * WORD_BYTES..size_of::<T>()).contains(&at), "behind the words, inside the value");
        // SAFETY: this byte lies inside the value.
        let byte = self.0.with_mut(|value| unsafe { value.cast::<u8>().add(at) });
        // SAFETY: it lives as long as self, is no padding, and is reached by atomics of this size only.
        unsafe { AtomicU8::from_ptr(byte) }
    }

    /// A copy, which may be made of several values.
    #[inline]
    pub(super) fn load(&self) -> T {
        let mut copy = MaybeUninit::<T>::uninit();
        let to = copy.as_mut_ptr().cast::<u8>();
        for at in 0..Self::WORDS {
            // ORDERING: Relaxed, ordered by the number and the fences beside it
            let word = self.word(at).load(Ordering::Relaxed);
            // SAFETY: the copy has room for all words of the value.
            let to = unsafe { to.add(at * WORD_BYTES) };
            // SAFETY: as above; it need not be aligned to words.
            unsafe { to.cast::<u64>().write_unaligned(word) };
        }
        for at in size_of::<T>() - Self::REST..size_of::<T>() {
            // ORDERING: Relaxed, ordered by the number and the fences beside it
            let byte = self.byte(at).load(Ordering::Relaxed);
            // SAFETY: the copy has room for all bytes of the value.
            let to = unsafe { to.add(at) };
            // SAFETY: as above.
            unsafe { to.write(byte) };
        }
        // SAFETY: each byte is written, and any bytes are a value.
        unsafe { copy.assume_init() }
    }

    /// Writes another value. Nobody else does meanwhile.
    #[inline]
    pub(super) fn store(&self, value: &T) {
        let from = std::ptr::from_ref(value).cast::<u8>();
        for at in 0..Self::WORDS {
            // SAFETY: this word lies inside the value.
            let from = unsafe { from.add(at * WORD_BYTES) };
            // SAFETY: as above; it need not be aligned to words, and has no padding.
            let word = unsafe { from.cast::<u64>().read_unaligned() };
            // ORDERING: Relaxed, ordered by the number and the fences beside it
            self.word(at).store(word, Ordering::Relaxed);
        }
        for at in size_of::<T>() - Self::REST..size_of::<T>() {
            // SAFETY: this byte lies inside the value.
            let from = unsafe { from.add(at) };
            // SAFETY: as above; it is no padding.
            let byte = unsafe { from.read() };
            // ORDERING: Relaxed, ordered by the number and the fences beside it
            self.byte(at).store(byte, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_back<T: Plain + PartialEq + std::fmt::Debug>(first: T, second: T) {
        let words = Words::new(first);
        assert_eq!(words.load(), first);
        words.store(&second);
        assert_eq!(words.load(), second);
    }

    #[test]
    fn values_of_all_sizes_come_back() {
        comes_back((), ());
        comes_back(3u8, 255);
        comes_back([1u8, 2, 3], [4, 5, 6]);
        comes_back(u64::MAX, 1);
        comes_back([1u16; 7], [0x1234; 7]);
        comes_back(u128::MAX, 7);
        comes_back([1.5f64; 3], [-2.5; 3]);
        comes_back([9u8; 4099], [1; 4099]);
    }
}
