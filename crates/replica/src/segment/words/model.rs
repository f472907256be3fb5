//! Words of the model checker.

use corecast_base::PlaceSlice;
use corecast_base::sync::{AtomicU64, Ordering};

/// Words that another thread writes at any time, and that this one may only load.
#[derive(Debug, Clone)]
pub struct ReadWords(PlaceSlice<AtomicU64>);

impl ReadWords {
    /// The number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The word with this index.
    #[must_use]
    pub fn load(&self, index: usize) -> u64 {
        // ORDERING: Relaxed, the caller fences
        self.0[index].load(Ordering::Relaxed)
    }

    /// `N` words from `first` on, loaded one by one in this order.
    #[must_use]
    pub fn read<const N: usize>(&self, first: usize) -> [u64; N] {
        std::array::from_fn(|at| self.load(first + at))
    }
}

impl From<&PlaceSlice<AtomicU64>> for ReadWords {
    fn from(words: &PlaceSlice<AtomicU64>) -> Self {
        Self(words.clone())
    }
}
