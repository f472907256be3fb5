//! One bucket of a hash table: a chain of nodes that a single thread at a time works on.
//!
//! Take it where a thread owns its part of a table, or bring a lock of your own; [`Table`](super::Table) has one. Keys lie
//! apart from values, so that a search for one of the first 14 keys reads two lines. There are no atomics.
//!
//! A removed key's place is taken by the last one of the chain, so all nodes before the last that is not empty are full,
//! and a search ends at the first one that is not. Nodes that have become empty stay linked, for the next time.
//!
//! A place without a key holds `V::default()`, which should cost nothing to make, such as a number or an empty `Option<Box<_>>`.
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
use std::mem;

/// Keys of one node: with `used` and `next` they fill two lines.
const KEYS: usize = 14;

/// Aligned to two lines, which the adjacent-line prefetcher of current x86 cores fetches as a pair: all keys of a node.
#[repr(C, align(128))]
struct Node<V> {
    /// Places with a key, which are the first ones.
    used: u64,
    keys: [u64; KEYS],
    next: Option<Box<Node<V>>>,
    values: [V; KEYS],
}

// Bytes 0-127 are `used`, the keys and `next`; with values of 8 bytes the node has 256.
const _: () = assert!(mem::offset_of!(Node<u64>, next) == 120 && mem::offset_of!(Node<u64>, values) == 128);
const _: () = assert!(size_of::<Node<u64>>() == 256 && size_of::<Node<Option<Box<u64>>>>() == 256);

impl<V> Node<V> {
    /// Compares all keys without a branch: to stop at the first that is equal takes 15.5 ns a search in the place of 12.5 with 12
    /// keys on average and half of the searches in vain, and 28 in the place of 22 with 48.
    #[inline]
    fn position(&self, key: u64) -> Option<usize> {
        let equal = |found, (at, &other): (usize, &u64)| found | u32::from(other == key) << at;
        let found = self.keys.iter().enumerate().fold(0, equal) & ((1 << self.used) - 1);
        (found != 0).then(|| found.trailing_zeros() as usize)
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.used as usize == KEYS
    }
}

impl<V: Default> Node<V> {
    fn empty() -> Self {
        Self { used: 0, keys: [0; KEYS], next: None, values: Default::default() }
    }

    #[inline]
    fn push(&mut self, key: u64, value: V) {
        let at = self.used as usize;
        (self.keys[at], self.values[at]) = (key, value);
        self.used += 1;
    }

    /// The last key and its value; there is one.
    #[inline]
    fn pop(&mut self) -> (u64, V) {
        self.used -= 1;
        let at = self.used as usize;
        (self.keys[at], mem::take(&mut self.values[at]))
    }

    /// As [`pop`](Self::pop), from the last node that is not empty of the chain that begins here.
    fn pop_from_chain(&mut self) -> (u64, V) {
        let mut node = self;
        while node.next.as_ref().is_some_and(|next| next.used > 0) {
            node = node.next.as_deref_mut().expect("just seen");
        }
        node.pop()
    }

    /// The value of the key at a place of this node, which the last one of the chain takes.
    fn take(&mut self, at: usize) -> V {
        let (key, value) = self.pop_from_chain();
        if at == self.used as usize {
            return value;
        }
        self.keys[at] = key;
        mem::replace(&mut self.values[at], value)
    }
}

/// A set of keys with their values, one thread's at a time. See the [module](super).
pub struct Bucket<V> {
    first: Node<V>,
}

impl<V: Default> Bucket<V> {
    /// The key's value; `None` if it has none.
    #[inline]
    #[must_use]
    pub fn get(&self, key: u64) -> Option<&V> {
        let mut node = &self.first;
        loop {
            if let Some(at) = node.position(key) {
                return Some(&node.values[at]);
            }
            if !node.is_full() {
                return None;
            }
            node = node.next.as_deref()?;
        }
    }

    /// As [`get`](Self::get), to change it.
    #[inline]
    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let mut node = &mut self.first;
        loop {
            if let Some(at) = node.position(key) {
                return Some(&mut node.values[at]);
            }
            if !node.is_full() {
                return None;
            }
            node = node.next.as_deref_mut()?;
        }
    }

    /// Gives the key a value.
    ///
    /// # Errors
    /// The value, if the key has one already, which stays.
    #[inline]
    pub fn put(&mut self, key: u64, value: V) -> Result<(), V> {
        let mut node = &mut self.first;
        loop {
            if node.position(key).is_some() {
                return Err(value);
            }
            if !node.is_full() {
                node.push(key, value);
                return Ok(());
            }
            node = node.next.get_or_insert_with(|| Box::new(Node::empty()));
        }
    }

    /// Takes the key's value out; `None` if it has none.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<V> {
        let mut node = &mut self.first;
        loop {
            if let Some(at) = node.position(key) {
                return Some(node.take(at));
            }
            if !node.is_full() {
                return None;
            }
            node = node.next.as_deref_mut()?;
        }
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes().map(|node| node.used as usize).sum()
    }

    /// True if there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.used == 0
    }
}

impl<V> Bucket<V> {
    fn nodes(&self) -> impl Iterator<Item = &Node<V>> {
        std::iter::successors(Some(&self.first), |node| node.next.as_deref())
    }
}

impl<V: Default> Default for Bucket<V> {
    fn default() -> Self {
        Self { first: Node::empty() }
    }
}

/// One node after the other: a chain that dropped itself would need a frame for each.
impl<V> Drop for Bucket<V> {
    fn drop(&mut self) {
        let mut next = self.first.next.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

impl<V: fmt::Debug> fmt::Debug for Bucket<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.nodes().flat_map(|node| node.keys.iter().zip(&node.values).take(node.used as usize));
        f.debug_map().entries(pairs).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Get(u64),
        Put(u64, u64),
        Remove(u64),
    }

    /// Few enough keys that half of the steps hit, and enough for chains of five nodes.
    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let key = || 0..64u64;
        let step = prop_oneof![
            1 => key().prop_map(Step::Get),
            3 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Put(key, value)),
            2 => key().prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..400)
    }

    fn assert_invariants(bucket: &Bucket<Option<Rc<u64>>>) {
        let used: Vec<usize> = bucket.nodes().map(|node| node.used as usize).collect();
        let partly = used.iter().position(|&used| used < KEYS).unwrap_or(used.len());
        assert!(used.iter().skip(partly + 1).all(|&used| used == 0), "nodes with room before the last: {used:?}");
        let keys: Vec<u64> = bucket.nodes().flat_map(|node| node.keys[..node.used as usize].to_vec()).collect();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "keys twice: {keys:?}");
        for node in bucket.nodes() {
            assert_eq!(std::ptr::from_ref(node).addr() % 128, 0, "a node begins on a line");
            assert!(node.values[node.used as usize..].iter().all(Option::is_none), "an empty place holds a value");
        }
    }

    proptest! {
        #[test]
        fn it_does_what_a_map_of_the_standard_library_does(steps in steps()) {
            let mut bucket: Bucket<Option<Rc<u64>>> = Bucket::default();
            let mut model: HashMap<u64, Rc<u64>> = HashMap::new();
            for step in steps {
                match step {
                    Step::Get(key) => prop_assert_eq!(bucket.get(key).cloned().flatten(), model.get(&key).cloned()),
                    Step::Put(key, value) => {
                        let value = Rc::new(value);
                        let is_new = !model.contains_key(&key);
                        prop_assert_eq!(bucket.put(key, Some(Rc::clone(&value))).is_ok(), is_new);
                        model.entry(key).or_insert(value);
                    }
                    Step::Remove(key) => prop_assert_eq!(bucket.remove(key), model.remove(&key).map(Some)),
                }
                assert_invariants(&bucket);
                prop_assert_eq!((bucket.len(), bucket.is_empty()), (model.len(), model.is_empty()));
            }
            for (key, value) in &model {
                prop_assert_eq!(bucket.get_mut(*key), Some(&mut Some(Rc::clone(value))));
            }
            drop(bucket);
            prop_assert!(model.values().all(|value| Rc::strong_count(value) == 1), "a value was leaked");
        }
    }

    #[test]
    fn a_chain_of_very_many_nodes_can_be_dropped() {
        let mut bucket: Bucket<u64> = Bucket::default();
        let mut node = &mut bucket.first;
        for _ in 0..300_000 {
            node.used = KEYS as u64;
            node = node.next.insert(Box::new(Node::empty()));
        }
        assert_eq!(bucket.len(), 300_000 * KEYS);
        drop(bucket);
    }

    #[test]
    fn it_shows_what_it_holds() {
        let mut bucket: Bucket<u8> = Bucket::default();
        assert_eq!(format!("{bucket:?}"), "{}");
        assert_eq!((bucket.put(5, 7), bucket.put(3, 9)), (Ok(()), Ok(())));
        assert_eq!(format!("{bucket:?}"), "{5: 7, 3: 9}");
    }
}
