//! The words by which a leader tells the other members of its node of the others: why the group has failed, and which node it
//! waits for. They lie in the memory of the node's group.

use corecast_base::sync::{AtomicU64, Ordering, yield_now};
use corecast_base::{Arena, ArenaError, PlaceSlice};

use super::FaultWord;
use crate::error::Error as NearError;
use crate::member::Member as NearMember;

/// Words of a [`FaultWord`].
const WORD_WORDS: usize = FaultWord::BYTES / size_of::<u64>();
/// 1 once the fault word is there. Written by the leader once, read by all.
const IS_THERE: usize = WORD_WORDS;
/// The node that the leader waits for and one more, or 0. Written by the leader, read by members whose time is over.
const AWAITED: usize = WORD_WORDS + 1;
const WORDS: usize = WORD_WORDS + 2;
/// The yields of a member until it no longer believes that a word comes. The leader writes it before it makes the group fail, so
/// that the first look finds it, except on machines that reorder stores, where it comes at once.
const MOST_YIELDS: u32 = 1_000_000;

#[derive(Debug, Clone)]
pub(super) struct News(PlaceSlice<AtomicU64>);

impl News {
    /// For a group of threads.
    pub(super) fn of_threads() -> Result<Self, ArenaError> {
        Arena::heap().slice(WORDS).map(Self)
    }

    /// For any group: all its members call it, as an operation.
    pub(super) fn lay_out(near: &mut NearMember) -> Result<Self, NearError> {
        near.ends_mut().core.lay_out(|arena| arena.slice(WORDS)).map(Self)
    }

    /// Writes the word with which the group has failed.
    pub(super) fn publish(&self, word: FaultWord) {
        let bytes = word.to_bytes();
        for (place, part) in bytes.chunks_exact(size_of::<u64>()).enumerate() {
            let part = u64::from_le_bytes(part.try_into().expect("as long as a word"));
            // ORDERING: Relaxed, made visible by the store that says that the word is there
            self.0[place].store(part, Ordering::Relaxed);
        }
        // ORDERING: Release, pairs with the Acquire in published [far-fault]
        self.0[IS_THERE].store(1, Ordering::Release);
    }

    /// The word with which the group has failed, for members that have heard that there is one; `None` if the memory is damaged.
    pub(super) fn published(&self) -> Option<FaultWord> {
        // ORDERING: Acquire, pairs with the Release in publish [far-fault]
        let is_there = || self.0[IS_THERE].load(Ordering::Acquire) == 1;
        (0..MOST_YIELDS).find(|_| {
            let is_there = is_there();
            if !is_there {
                yield_now();
            }
            is_there
        })?;
        let mut bytes = [0; FaultWord::BYTES];
        for (place, part) in bytes.chunks_exact_mut(size_of::<u64>()).enumerate() {
            // ORDERING: Relaxed, ordered by the word that said that they are there
            part.copy_from_slice(&self.0[place].load(Ordering::Relaxed).to_le_bytes());
        }
        FaultWord::from_bytes(bytes)
    }

    /// Notes the node that the leader waits for.
    pub(super) fn await_node(&self, node: Option<usize>) {
        let word = node.map_or(0, |node| node as u64 + 1);
        // ORDERING: Relaxed, a note for people
        self.0[AWAITED].store(word, Ordering::Relaxed);
    }

    /// The node that the leader waits for.
    pub(super) fn awaited(&self) -> Option<usize> {
        // ORDERING: Relaxed, a note for people
        (self.0[AWAITED].load(Ordering::Relaxed) as usize).checked_sub(1)
    }
}
