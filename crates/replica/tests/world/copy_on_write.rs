//! A part of a world that copies of the world share until one of them writes to it.
//!
//! A model keeps many worlds, each of which differs from the one before by what one node did. Most of its parts stay those of the
//! world before, and are neither copied nor hashed again: all models take 33 s of CPU time instead of 58.
//!
//! So worlds are told apart by hashes of hashes, of 64 bits as stateright's own fingerprints: of 10^8 worlds two have the same
//! one with a chance of 3 in 10,000, and one of them would not be explored.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

#[derive(Clone)]
pub(crate) struct CopyOnWrite<T>(Arc<Part<T>>);

#[derive(Clone)]
struct Part<T> {
    value: T,
    /// The hash of the value, once it was asked for.
    hash: OnceLock<u64>,
}

impl<T> From<T> for CopyOnWrite<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(Part { value, hash: OnceLock::new() }))
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        let part = Arc::make_mut(&mut self.0);
        part.hash = OnceLock::new();
        &mut part.value
    }
}

impl<T: PartialEq> PartialEq for CopyOnWrite<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.value == other.0.value
    }
}

impl<T: Eq> Eq for CopyOnWrite<T> {}

impl<T: Hash> Hash for CopyOnWrite<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let hash = self.0.hash.get_or_init(|| {
            let mut hasher = FoldedMultiply::default();
            self.0.value.hash(&mut hasher);
            hasher.finish()
        });
        state.write_u64(*hash);
    }
}

impl<T: fmt::Debug> fmt::Debug for CopyOnWrite<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value.fmt(f)
    }
}

/// Folds the two halves of a product of 128 bits, as ahash does without instructions of AES. That of the standard library took
/// most of the time of a model, as it is not optimised here.
#[derive(Default)]
struct FoldedMultiply(u64);

impl Hasher for FoldedMultiply {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_usize(bytes.len());
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        // Digits of pi, as good as any. With the sum, zeros that follow each other count.
        let mixed = (self.0 ^ number).wrapping_add(0x243f_6a88_85a3_08d3);
        let product = u128::from(mixed) * 0x1319_8a2e_0370_7345;
        self.0 = (product as u64) ^ ((product >> 64) as u64).rotate_left(23);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}
