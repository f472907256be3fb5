//! The word in which the value of a variable lies.

use corecast_base::sync::{AtomicU64, Ordering};

/// The value of a variable in shared memory.
#[derive(Debug, Clone, Copy)]
pub struct StoredWord<'a>(&'a AtomicU64);

impl<'a> StoredWord<'a> {
    /// The value that lies in this word.
    #[inline]
    #[must_use]
    pub fn of(word: &'a AtomicU64) -> Self {
        Self(word)
    }

    /// The value, for a participant that looks at its own status afterwards: it does not count if the attempt was aborted.
    #[inline]
    #[must_use]
    pub fn load(self) -> u64 {
        // ORDERING: Acquire, pairs with the Release in store: a reader that sees a value of an attacker sees its own abort [revoked]
        self.0.load(Ordering::Acquire)
    }

    /// Stores a value, for the holder of the write lock whose attempt can no more be aborted.
    #[inline]
    pub fn store(self, value: u64) {
        // ORDERING: Release, pairs with the Acquire in load [revoked]
        self.0.store(value, Ordering::Release);
    }
}
