//! The common part of both bucket layouts: a chain of nodes, all of them full but the last that is not empty.
//!
//! A removed key's place is taken by the last one of the chain, so a search ends at the first node that is not full. Nodes that
//! have become empty stay linked, for the next time.

use std::fmt;
use std::mem;

use corecast_base::CacheLine;

/// A node behind another one, which begins on a line.
pub(super) type Link<N> = Option<Box<CacheLine<N>>>;

/// Places for keys with their values, of which the first ones are used.
pub(super) trait Node: Sized {
    /// A key as it is looked for.
    type Sought: Copy;
    type Value;
    /// How many places there are.
    const ROOM: usize;

    fn empty() -> Self
    where
        Self::Value: Default;

    /// How many places are used.
    fn used(&self) -> usize;
    fn set_used(&mut self, used: usize);

    /// The used place of a key.
    fn position(&self, sought: Self::Sought) -> Option<usize>;

    /// The search for the key at a place.
    fn sought(&self, at: usize) -> Self::Sought;
    fn set_key(&mut self, at: usize, sought: Self::Sought);

    fn key(&self, at: usize) -> u64;
    fn value(&self, at: usize) -> &Self::Value;
    fn value_mut(&mut self, at: usize) -> &mut Self::Value;

    /// How many places there are so far.
    fn made(&self) -> usize;

    /// Makes the first place that is not used, where it is not there yet.
    fn make_place(&mut self)
    where
        Self::Value: Default;

    /// `None` while no place was ever used.
    fn link(&self) -> Option<&Link<Self>>;
    fn link_mut(&mut self) -> Option<&mut Link<Self>>;

    fn next(&self) -> Option<&Self> {
        self.link()?.as_deref().map(|next| &**next)
    }

    fn next_mut(&mut self) -> Option<&mut Self> {
        self.link_mut()?.as_deref_mut().map(|next| &mut **next)
    }
}

fn is_full<N: Node>(node: &N) -> bool {
    node.used() == N::ROOM
}

/// The last key and its value; there is one.
fn pop<N: Node<Value: Default>>(node: &mut N) -> (N::Sought, N::Value) {
    let at = node.used() - 1;
    node.set_used(at);
    (node.sought(at), mem::take(node.value_mut(at)))
}

/// As [`pop`], from the last node that is not empty of the chain that begins here.
fn pop_from_chain<N: Node<Value: Default>>(first: &mut N) -> (N::Sought, N::Value) {
    let mut node = first;
    while node.next().is_some_and(|next| next.used() > 0) {
        node = node.next_mut().expect("just seen");
    }
    pop(node)
}

/// The value of the key at a place of this node, which the last one of the chain takes.
fn take<N: Node<Value: Default>>(node: &mut N, at: usize) -> N::Value {
    let (sought, value) = pop_from_chain(node);
    if at == node.used() {
        return value;
    }
    node.set_key(at, sought);
    mem::replace(node.value_mut(at), value)
}

/// See the [module](self).
pub(super) struct Chain<N: Node> {
    first: N,
}

impl<N: Node> Chain<N> {
    #[inline]
    pub(super) fn get(&self, sought: N::Sought) -> Option<&N::Value> {
        let mut node = &self.first;
        loop {
            if let Some(at) = node.position(sought) {
                return Some(node.value(at));
            }
            if !is_full(node) {
                return None;
            }
            node = node.next()?;
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, sought: N::Sought) -> Option<&mut N::Value> {
        let mut node = &mut self.first;
        loop {
            if let Some(at) = node.position(sought) {
                return Some(node.value_mut(at));
            }
            if !is_full(node) {
                return None;
            }
            node = node.next_mut()?;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes().map(Node::used).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.used() == 0
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &N> {
        std::iter::successors(Some(&self.first), |node| node.next())
    }
}

impl<N: Node<Value: Default>> Chain<N> {
    #[inline]
    pub(super) fn put(&mut self, sought: N::Sought, value: N::Value) -> Result<(), N::Value> {
        let mut node = &mut self.first;
        loop {
            if node.position(sought).is_some() {
                return Err(value);
            }
            if !is_full(node) {
                let at = node.used();
                node.make_place();
                node.set_key(at, sought);
                *node.value_mut(at) = value;
                node.set_used(at + 1);
                return Ok(());
            }
            let link = node.link_mut().expect("all places are used");
            node = link.get_or_insert_with(|| Box::new(CacheLine::new(N::empty())));
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, sought: N::Sought) -> Option<N::Value> {
        let mut node = &mut self.first;
        loop {
            if let Some(at) = node.position(sought) {
                return Some(take(node, at));
            }
            if !is_full(node) {
                return None;
            }
            node = node.next_mut()?;
        }
    }
}

impl<N: Node<Value: Default>> Default for Chain<N> {
    fn default() -> Self {
        Self { first: N::empty() }
    }
}

/// One node after the other: a chain that dropped itself would need a frame for each.
impl<N: Node> Drop for Chain<N> {
    fn drop(&mut self) {
        let mut next = self.first.link_mut().and_then(Option::take);
        while let Some(mut node) = next {
            next = node.link_mut().and_then(Option::take);
        }
    }
}

impl<N: Node<Value: fmt::Debug>> fmt::Debug for Chain<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self.nodes().flat_map(|node| (0..node.used()).map(|at| (node.key(at), node.value(at))));
        f.debug_map().entries(pairs).finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::rc::Rc;

    use proptest::prelude::*;

    use super::*;
    use crate::table::bucket::KeysFirst;
    use crate::table::tagged::{Sought, Tagged};

    #[derive(Debug, Clone)]
    enum Step {
        Get(u64),
        Put(u64, u64),
        Remove(u64),
    }

    /// Few enough keys that half of the steps hit, and enough for chains of some nodes.
    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let key = || 0..128u64;
        let step = prop_oneof![
            1 => key().prop_map(Step::Get),
            3 => (key(), any::<u64>()).prop_map(|(key, value)| Step::Put(key, value)),
            2 => key().prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..600)
    }

    type Value = Option<Rc<u64>>;

    fn assert_invariants<N: Node<Value = Value>>(chain: &Chain<N>) {
        let used: Vec<usize> = chain.nodes().map(Node::used).collect();
        let partly = used.iter().position(|&used| used < N::ROOM).unwrap_or(used.len());
        assert!(used.iter().skip(partly + 1).all(|&used| used == 0), "nodes with room before the last: {used:?}");
        let keys: Vec<u64> = chain.nodes().flat_map(|node| (0..node.used()).map(|at| node.key(at))).collect();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "keys twice: {keys:?}");
        for node in chain.nodes() {
            assert!((node.used()..node.made()).all(|at| node.value(at).is_none()), "an empty place holds a value");
        }
        for node in chain.nodes().skip(1) {
            assert_eq!(std::ptr::from_ref(node).addr() % 128, 0, "a node begins on a line");
        }
    }

    fn assert_is_a_map<N: Node<Value = Value>>(steps: Vec<Step>, sought: impl Fn(u64) -> N::Sought) {
        let mut chain: Chain<N> = Chain::default();
        let mut model: HashMap<u64, Rc<u64>> = HashMap::new();
        for step in steps {
            match step {
                Step::Get(key) => assert_eq!(chain.get(sought(key)).cloned().flatten(), model.get(&key).cloned()),
                Step::Put(key, value) => {
                    let value = Rc::new(value);
                    let is_new = !model.contains_key(&key);
                    assert_eq!(chain.put(sought(key), Some(Rc::clone(&value))).is_ok(), is_new);
                    model.entry(key).or_insert(value);
                }
                Step::Remove(key) => assert_eq!(chain.remove(sought(key)), model.remove(&key).map(Some)),
            }
            assert_invariants(&chain);
            assert_eq!((chain.len(), chain.is_empty()), (model.len(), model.is_empty()));
        }
        for (key, value) in &model {
            assert_eq!(chain.get_mut(sought(*key)), Some(&mut Some(Rc::clone(value))));
        }
        drop(chain);
        assert!(model.values().all(|value| Rc::strong_count(value) == 1), "a value was leaked");
    }

    proptest! {
        #[test]
        fn keys_first_are_a_map(steps in steps()) {
            assert_is_a_map::<KeysFirst<Value>>(steps, |key| key);
        }

        /// With tags that tell keys apart, some of them, and none.
        #[test]
        fn tagged_keys_are_a_map(steps in steps(), tags in prop_oneof![Just(255u8), Just(3), Just(1)]) {
            assert_is_a_map::<Tagged<Value>>(steps, |key| Sought { key, tag: key as u8 % tags });
        }
    }

    #[test]
    fn a_chain_of_very_many_nodes_can_be_dropped() {
        let mut chain: Chain<KeysFirst<u64>> = Chain::default();
        let mut node = &mut chain.first;
        for _ in 0..300_000 {
            node.set_used(KeysFirst::<u64>::ROOM);
            let link = node.link_mut().expect("it always has one");
            node = link.insert(Box::new(CacheLine::new(KeysFirst::empty())));
        }
        assert_eq!(chain.len(), 300_000 * KeysFirst::<u64>::ROOM);
        drop(chain);
    }
}
