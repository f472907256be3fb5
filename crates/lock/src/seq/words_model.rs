//! The words of a model, whose atomics cannot lie in the place of a value.

use std::marker::PhantomData;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Plain, zeroed};

const WORD_BYTES: usize = size_of::<u64>();

/// Whole words, the last one filled with zeroes.
pub(super) struct Words<T>(Vec<AtomicU64>, PhantomData<T>);

// SAFETY: all accesses are atomic, and the value is nothing but its bytes.
unsafe impl<T: Plain> Sync for Words<T> {}

impl<T: Plain> Words<T> {
    pub(super) fn new(value: T) -> Self {
        let words = Self((0..size_of::<T>().div_ceil(WORD_BYTES)).map(|_| AtomicU64::new(0)).collect(), PhantomData);
        words.store(&value);
        words
    }

    pub(super) fn load(&self) -> T {
        // ORDERING: Relaxed, ordered by the number and the fences beside it
        let words: Vec<u64> = self.0.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        let mut copy = zeroed::<T>();
        let (from, to) = (words.as_ptr().cast::<u8>(), std::ptr::from_mut(&mut copy).cast::<u8>());
        // SAFETY: the words hold all bytes of the value, and any bytes are one.
        unsafe { std::ptr::copy_nonoverlapping(from, to, size_of::<T>()) };
        copy
    }

    pub(super) fn store(&self, value: &T) {
        let mut words = vec![0u64; self.0.len()];
        let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), words.as_mut_ptr().cast::<u8>());
        // SAFETY: the words have room for all bytes of the value.
        unsafe { std::ptr::copy_nonoverlapping(from, to, size_of::<T>()) };
        for (word, value) in self.0.iter().zip(words) {
            // ORDERING: Relaxed, ordered by the number and the fences beside it
            word.store(value, Ordering::Relaxed);
        }
    }
}
