//! Words that can be loaded and not stored.

use std::fmt;
use std::ptr::NonNull;

use crate::place::{KeepAlive, PlaceSlice};
use crate::sync::{AtomicU64, Ordering};

/// Words that another thread or process writes at any time, and that this one may only load; a clone is the same words.
///
/// Every load is Relaxed, because memory that is mapped read-only allows no other. A fence behind it acquires.
#[derive(Clone)]
pub struct SealedWords {
    words: NonNull<[AtomicU64]>,
    keep: KeepAlive,
}

// SAFETY: the words are atomics, and the owner of their memory is Send and Sync.
unsafe impl Send for SealedWords {}
// SAFETY: as above.
unsafe impl Sync for SealedWords {}

impl SealedWords {
    /// # Safety
    /// - `first` is aligned, and `len` words from it on are readable for as long as `keep` lives.
    /// - No thread of any process accesses these bytes but through atomics of the same width.
    pub(super) unsafe fn within(first: NonNull<AtomicU64>, len: usize, keep: KeepAlive) -> Self {
        Self { words: NonNull::slice_from_raw_parts(first, len), keep }
    }

    /// The number of words.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True if there are no words.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word with this index.
    ///
    /// # Panics
    /// If it is beyond the last.
    #[inline(always)]
    #[must_use]
    pub fn load(&self, index: usize) -> u64 {
        self.read::<1>(index)[0]
    }

    /// `N` words from `first` on, loaded one by one in this order.
    ///
    /// # Panics
    /// If one is beyond the last.
    #[inline(always)]
    #[must_use]
    pub fn read<const N: usize>(&self, first: usize) -> [u64; N] {
        // SAFETY: valid while `keep` lives, which self holds; the promise of `within`, or of a PlaceSlice.
        let words = unsafe { self.words.as_ref() };
        let words = &words[first..][..N];
        // ORDERING: Relaxed, the caller fences
        std::array::from_fn(|at| words[at].load(Ordering::Relaxed))
    }
}

impl From<&PlaceSlice<AtomicU64>> for SealedWords {
    /// The same words, wherever they lie, for reading only.
    fn from(words: &PlaceSlice<AtomicU64>) -> Self {
        Self { words: NonNull::from(&**words), keep: words.keep().clone() }
    }
}

impl fmt::Debug for SealedWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedWords({:p}; {}; kept by {:p})", self.words, self.len(), self.keep)
    }
}
