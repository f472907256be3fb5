//! Some words in shared memory that one writer writes once.
//!
//! **When to take it:** a value of several words, such as the reason of a failure, that is read by those who have heard of it.
//! **When not:** the value changes, or readers wait for it: this has nothing to wake them by.
//!
//! A last word says that the others are there.
//!
//! **Progress:** wait-free. **Memory ordering:** a reader that finds the words sees all that the writer did before it wrote them.
//!
//! ```
//! use corecast_base::{OnceWords, sync::AtomicU64};
//! let memory: [AtomicU64; OnceWords::<2>::LEN] = [const { AtomicU64::new(0) }; 3];
//! let words = OnceWords::<2>::within(&memory);
//! assert_eq!(words.read(), None);
//! words.write([7, 8]);
//! assert_eq!(words.read(), Some([7, 8]));
//! ```

use crate::sync::{AtomicU64, Ordering};

/// `N` words that one writer writes once, and others read.
#[derive(Debug, Clone, Copy)]
pub struct OnceWords<'a, const N: usize> {
    /// Written by the writer before the sign; read by those that have found it.
    words: &'a [AtomicU64],
    /// 0, and 1 once the words are there. Written by the writer once, read by all.
    sign: &'a AtomicU64,
}

impl<'a, const N: usize> OnceWords<'a, N> {
    /// The words of memory that it takes, zeroes at first.
    pub const LEN: usize = N + 1;

    /// In the first words of this memory.
    ///
    /// # Panics
    /// If it has fewer than [`LEN`](Self::LEN).
    #[must_use]
    #[track_caller]
    pub fn within(memory: &'a [AtomicU64]) -> Self {
        Self { words: &memory[..N], sign: &memory[N] }
    }

    /// Writes them; the only writer calls it at most once.
    pub fn write(self, words: [u64; N]) {
        for (place, word) in self.words.iter().zip(words) {
            // ORDERING: Relaxed, made visible by the store to the sign
            place.store(word, Ordering::Relaxed);
        }
        // ORDERING: Release, pairs with the Acquire in read [once-words]
        self.sign.store(1, Ordering::Release);
    }

    /// The words, if they are there.
    #[must_use]
    pub fn read(self) -> Option<[u64; N]> {
        // ORDERING: Acquire, pairs with the Release in write [once-words]
        if self.sign.load(Ordering::Acquire) != 1 {
            return None;
        }
        // ORDERING: Relaxed, ordered by the sign
        Some(std::array::from_fn(|place| self.words[place].load(Ordering::Relaxed)))
    }
}
