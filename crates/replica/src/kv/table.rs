//! The lines of a [`Compact`](super::Compact): chains of buckets, all of which exist from the beginning.
//!
//! There is a first line for each hash, and a pool of further ones that is large enough whatever the hashes are: a chain takes
//! a further line only when its others are full, so `capacity` entries need at most half as many of them. Whether a key
//! fits depends on the number of keys only, and so is the same on every replica and after a restart.

use super::bucket::{Bucket, ENTRIES, Found, Words, tag_of};
use super::fingerprint::folded;

/// Odd: digits of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn hash(key: u64) -> u64 {
    folded(key ^ FACTOR, FACTOR)
}

/// The lines: first those that chains begin with, a power of two, and then the pool.
#[derive(Debug)]
pub(super) struct Table {
    lines: Box<[Bucket]>,
    /// The number of chains, less one.
    mask: usize,
}

/// There is not enough memory.
#[derive(Debug)]
pub(super) struct NoMemory;

/// The writer's count of lines of the pool that are taken, and of entries.
#[derive(Debug, Default)]
pub(super) struct Taken {
    lines: usize,
    pub(super) entries: usize,
}

impl Table {
    /// An empty table for this many entries.
    pub(super) fn with_capacity(capacity: usize) -> Result<Self, NoMemory> {
        let chains = capacity.next_power_of_two();
        let len = chains + capacity.div_ceil(ENTRIES);
        let mut lines = Vec::new();
        lines.try_reserve_exact(len).map_err(|_| NoMemory)?;
        lines.resize_with(len, Bucket::default);
        Ok(Self { lines: lines.into_boxed_slice(), mask: chains - 1 })
    }

    /// The value of a key. By any thread.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<Words> {
        let hash = hash(key);
        let tag = tag_of(hash);
        let mut line = &self.lines[hash as usize & self.mask];
        loop {
            match line.find(key, tag) {
                Found::Value(words) => return Some(words),
                Found::Elsewhere(0) => return None,
                Found::Elsewhere(next) => line = &self.lines[next as usize],
            }
        }
    }

    /// By the writer: gives a key a value, and returns the one it had. There must be room for a key that is new.
    pub(super) fn set(&self, key: u64, words: Words, taken: &mut Taken) -> Option<Words> {
        let hash = hash(key);
        let tag = tag_of(hash);
        let mut line = &self.lines[hash as usize & self.mask];
        let at = loop {
            if let Some(at) = line.place_of(key, tag) {
                break at;
            }
            if line.next() == 0 {
                line.set_next((self.mask + 1 + taken.lines) as u64);
                taken.lines += 1;
            }
            line = &self.lines[line.next() as usize];
        };
        let old = line.write(at, (key, tag), words);
        taken.entries += usize::from(old.is_none());
        old
    }

    /// By the writer: all entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, Words)> {
        self.lines.iter().flat_map(Bucket::entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of the first chain, found by trying.
    fn keys_of_one_chain(mask: usize, count: usize) -> Vec<u64> {
        (0..).filter(|&key| hash(key) as usize & mask == 0).take(count).collect()
    }

    #[test]
    fn the_keys_of_the_model_share_a_line() {
        assert_eq!([1, 6, 8].map(|key| hash(key) & 3), [0; 3]);
    }

    #[test]
    fn one_chain_takes_all_entries() {
        for capacity in [1, 2, 3, 7, 64] {
            let (table, mut taken) = (Table::with_capacity(capacity).expect("small"), Taken::default());
            let keys = keys_of_one_chain(table.mask, capacity);
            for &key in &keys {
                assert_eq!(table.set(key, [key, !key], &mut taken), None);
            }
            assert_eq!(taken.entries, capacity);
            assert!(keys.iter().all(|&key| table.get(key) == Some([key, !key])));
            assert!(keys.iter().all(|&key| table.set(key, [0, 1], &mut taken) == Some([key, !key])));
            assert_eq!((taken.entries, table.entries().count()), (capacity, capacity));
        }
    }
}
