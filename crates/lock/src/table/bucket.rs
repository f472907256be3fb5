//! One bucket of a hash table: a chain of nodes that a single thread at a time works on.
//!
//! Take it where a thread owns its part of a table, or bring a lock of your own; [`Table`](super::Table) has one, and keeps its
//! keys in another way. Keys lie apart from values, so that a search for one of the first 14 keys reads two lines. There are no
//! atomics. The layout is that of `ssht` (SSYNC, SOSP 2013), whose experiment it is for.
//!
//! A place without a key holds `V::default()`, which should cost nothing to make, such as a number or an empty `Option<Box<_>>`.
//!
//! Nodes begin on a line. To find out what that is worth, a bucket may have something of type `F` before the words of each node:
//! with `[u64; 2]` they begin 16 bytes behind a line, as those of an allocator that knows no lines.
//!
//! ```
//! use corecast_lock::table::Bucket;
//!
//! let mut bucket: Bucket<u64> = Bucket::default();
//! assert_eq!(bucket.put(17, 1), Ok(()));
//! assert_eq!(bucket.put(17, 2), Err(2));
//! assert_eq!((bucket.remove(17), bucket.get(17)), (Some(1), None));
//! ```

use std::fmt;

use super::chain::{Chain, Link, Node};

/// Keys of one node: with `used` and `next` they fill two lines.
const KEYS: usize = 14;

/// Aligned to two lines, which the adjacent-line prefetcher of current x86 cores fetches as a pair: all keys of a node.
#[repr(C, align(128))]
pub(super) struct KeysFirst<V, F = ()> {
    /// Nothing, or words by which the rest is shifted.
    front: F,
    /// Places with a key, which are the first ones.
    used: u64,
    keys: [u64; KEYS],
    next: Link<Self>,
    values: [V; KEYS],
}

// Bytes 0-127 are `used`, the keys and `next`; with values of 8 bytes the node has 256.
const _: () =
    assert!(std::mem::offset_of!(KeysFirst<u64>, next) == 120 && std::mem::offset_of!(KeysFirst<u64>, values) == 128);
const _: () =
    assert!(size_of::<KeysFirst<u64, [u64; 2]>>() == 256 && std::mem::offset_of!(KeysFirst<u64, [u64; 2]>, used) == 16);
const _: () = assert!(size_of::<KeysFirst<u64>>() == 256 && size_of::<Bucket<Option<Box<u64>>>>() == 256);

impl<V, F: Default> Node for KeysFirst<V, F> {
    type Sought = u64;
    type Value = V;
    const ROOM: usize = KEYS;

    fn empty() -> Self
    where
        V: Default,
    {
        Self { front: F::default(), used: 0, keys: [0; KEYS], next: None, values: Default::default() }
    }

    #[inline]
    fn used(&self) -> usize {
        self.used as usize
    }

    #[inline]
    fn set_used(&mut self, used: usize) {
        self.used = used as u64;
    }

    /// Compares all keys without a branch: to stop at the first that is equal takes 15.5 ns a search in the place of 12.5 with 12
    /// keys on average and half of the searches in vain, and 28 in the place of 22 with 48.
    #[inline]
    fn position(&self, key: u64) -> Option<usize> {
        let equal = |found, (at, &other): (usize, &u64)| found | u32::from(other == key) << at;
        let found = self.keys.iter().enumerate().fold(0, equal) & ((1 << self.used) - 1);
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    #[inline]
    fn sought(&self, at: usize) -> u64 {
        self.keys[at]
    }

    #[inline]
    fn set_key(&mut self, at: usize, key: u64) {
        self.keys[at] = key;
    }

    #[inline]
    fn key(&self, at: usize) -> u64 {
        self.keys[at]
    }

    #[inline]
    fn value(&self, at: usize) -> &V {
        &self.values[at]
    }

    #[inline]
    fn value_mut(&mut self, at: usize) -> &mut V {
        &mut self.values[at]
    }

    fn made(&self) -> usize {
        KEYS
    }

    #[inline]
    fn make_place(&mut self) {}

    #[inline]
    fn link(&self) -> Option<&Link<Self>> {
        Some(&self.next)
    }

    #[inline]
    fn link_mut(&mut self) -> Option<&mut Link<Self>> {
        Some(&mut self.next)
    }
}

/// A set of keys with their values, one thread's at a time. See the [module](super).
pub struct Bucket<V, F: Default = ()> {
    chain: Chain<KeysFirst<V, F>>,
}

impl<V: Default, F: Default> Bucket<V, F> {
    /// The key's value; `None` if it has none.
    #[inline]
    #[must_use]
    pub fn get(&self, key: u64) -> Option<&V> {
        self.chain.get(key)
    }

    /// As [`get`](Self::get), to change it.
    #[inline]
    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        self.chain.get_mut(key)
    }

    /// Gives the key a value.
    ///
    /// # Errors
    /// The value, if the key has one already, which stays.
    #[inline]
    pub fn put(&mut self, key: u64, value: V) -> Result<(), V> {
        self.chain.put(key, value)
    }

    /// Takes the key's value out; `None` if it has none.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<V> {
        self.chain.remove(key)
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chain.len()
    }

    /// True if there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }
}

impl<V: Default, F: Default> Default for Bucket<V, F> {
    fn default() -> Self {
        Self { chain: Chain::default() }
    }
}

impl<V: fmt::Debug, F: Default> fmt::Debug for Bucket<V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chain.fmt(f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn shifted_nodes_hold_the_same() {
        let mut bucket: Bucket<u64, [u64; 2]> = Bucket::default();
        (0..40).for_each(|key| assert_eq!(bucket.put(key, 2 * key), Ok(())));
        assert!((0..40).all(|key| bucket.get(key) == Some(&(2 * key))));
        assert_eq!((bucket.remove(3), bucket.get(3), bucket.len()), (Some(6), None, 39));
    }

    #[test]
    fn it_shows_what_it_holds() {
        let mut bucket: Bucket<u8> = Bucket::default();
        assert_eq!(format!("{bucket:?}"), "{}");
        assert_eq!((bucket.put(5, 7), bucket.put(3, 9)), (Ok(()), Ok(())));
        assert_eq!((bucket.len(), bucket.is_empty(), bucket.get_mut(3)), (2, false, Some(&mut 9)));
        assert_eq!(format!("{bucket:?}"), "{5: 7, 3: 9}");
    }
}
