//! A map whose keys are in order: a skip list, with searches in logarithmic time up to some thousand keys.
//!
//! A node is {key, value, five links}, as many words as fit under one lock. Its height follows from a hash of its key: three of
//! four nodes have one link, so that a search passes some ten nodes of a thousand.
//!
//! Source: Pugh, Skip Lists: a Probabilistic Alternative to Balanced Trees, CACM 1990.

use crate::error::RunError;
use crate::tm::Tm;
use crate::tvar::{MAX_BLOCK_WORDS, TBlock};
use crate::tx::{Abort, Tx};
use crate::value::Value;

type Link = TBlock<u64, MAX_BLOCK_WORDS>;
type Words = [u64; MAX_BLOCK_WORDS];
const KEY: usize = 0;
const VALUE: usize = 1;
/// The link to the next node of all.
const NEXT: usize = 2;
const LEVELS: usize = MAX_BLOCK_WORDS - NEXT;

/// A map from numbers to numbers, in order. A copy is the same map.
#[derive(Debug, Clone, Copy)]
pub struct SkipListMap {
    head: Link,
}

/// The place of a key.
struct Place {
    /// On each level the last node with a smaller key.
    before: [Link; LEVELS],
    /// The node with the key.
    at: Option<(Link, Words)>,
}

impl SkipListMap {
    /// An empty map.
    ///
    /// # Errors
    /// [`RunError::Full`].
    pub fn new(tm: &Tm) -> Result<Self, RunError> {
        Ok(Self { head: tm.new_block([0; MAX_BLOCK_WORDS])? })
    }

    /// The map with this root, in another process than that which made it.
    ///
    /// # Errors
    /// [`RunError::Beyond`].
    pub fn open(tm: &Tm, root: u32) -> Result<Self, RunError> {
        Ok(Self { head: tm.block(root)? })
    }

    /// By which another process [opens](Self::open) it.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.head.index()
    }

    /// The value of a key.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn get(&self, tx: &mut Tx<'_>, key: u64) -> Result<Option<u64>, Abort> {
        Ok(self.find(tx, key)?.at.map(|(_, words)| words[VALUE]))
    }

    /// Gives a key a value; the one that it had before.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn insert(&self, tx: &mut Tx<'_>, key: u64, value: u64) -> Result<Option<u64>, Abort> {
        let Place { before, at } = self.find(tx, key)?;
        if let Some((link, mut words)) = at {
            let old = std::mem::replace(&mut words[VALUE], value);
            tx.write_block(link, words)?;
            return Ok(Some(old));
        }
        let mut words = [0; MAX_BLOCK_WORDS];
        (words[KEY], words[VALUE]) = (key, value);
        let node = tx.new_block(words)?;
        for (level, before) in before.into_iter().enumerate().take(height(key)) {
            // One node may be the last of several levels: it is read again, with what was written meanwhile.
            let mut other = tx.read_block(before)?;
            words[NEXT + level] = std::mem::replace(&mut other[NEXT + level], Some(node).to_word());
            tx.write_block(before, other)?;
        }
        tx.write_block(node, words)?;
        Ok(None)
    }

    /// Takes a key out; the value that it had.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn remove(&self, tx: &mut Tx<'_>, key: u64) -> Result<Option<u64>, Abort> {
        let Place { before, at } = self.find(tx, key)?;
        let Some((node, words)) = at else { return Ok(None) };
        for (level, before) in before.into_iter().enumerate().take(height(key)) {
            let mut other = tx.read_block(before)?;
            other[NEXT + level] = words[NEXT + level];
            tx.write_block(before, other)?;
        }
        tx.free_block(node)?;
        Ok(Some(words[VALUE]))
    }

    /// The keys from `first` on with their values, in order, at most `most` of them.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn range(&self, tx: &mut Tx<'_>, first: u64, most: usize) -> Result<Vec<(u64, u64)>, Abort> {
        let mut entries = Vec::new();
        let before = self.find(tx, first)?.before[0];
        let mut next = link(&tx.read_block(before)?, 0);
        while let Some(node) = next.filter(|_| entries.len() < most) {
            let words = tx.read_block(node)?;
            entries.push((words[KEY], words[VALUE]));
            next = link(&words, 0);
        }
        Ok(entries)
    }

    fn find(&self, tx: &mut Tx<'_>, key: u64) -> Result<Place, Abort> {
        let (mut node, mut words) = (self.head, tx.read_block(self.head)?);
        let mut place = Place { before: [self.head; LEVELS], at: None };
        for level in (0..LEVELS).rev() {
            while let Some(next) = link(&words, level) {
                let next_words = tx.read_block(next)?;
                if next_words[KEY] >= key {
                    place.at = Some((next, next_words)).filter(|(_, words)| words[KEY] == key);
                    break;
                }
                (node, words) = (next, next_words);
            }
            place.before[level] = node;
        }
        Ok(place)
    }
}

fn link(words: &Words, level: usize) -> Option<Link> {
    Value::from_word(words[NEXT + level])
}

/// The links of the node with this key: one more with a chance of one in four each.
fn height(key: u64) -> usize {
    // The finaliser of SplitMix64 (S. Vigna, public domain).
    let mut word = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (1 + (word ^ word >> 31).trailing_zeros() as usize / 2).min(LEVELS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_four_nodes_is_higher() {
        let count = |least| (0..64_000).filter(|key| height(*key) >= least).count();
        for (least, expected) in [(1, 64_000), (2, 16_000), (3, 4_000), (4, 1_000), (5, 250)] {
            let found = count(least);
            assert!(found * 10 >= expected * 8 && found * 10 <= expected * 12, "{found} of height {least} or more");
        }
    }
}
