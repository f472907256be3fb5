//! The words by which a leader tells the other members of its node of the others: why the group has failed, and which node it
//! waits for. They lie in the memory of the node's group.

use corecast_base::sync::{AtomicU64, Ordering, yield_now};
use corecast_base::{Arena, ArenaError, OnceWords, PlaceSlice};

use super::FaultWord;
use super::lanes::Lanes;
use crate::error::Error as NearError;
use crate::member::Member as NearMember;

const WORD_BYTES: usize = size_of::<u64>();
/// Words of a [`FaultWord`].
const WORD_WORDS: usize = FaultWord::BYTES / WORD_BYTES;
/// The node that the leader of each lane waits for and one more, or 0, behind the fault word. Written by that leader, read by
/// members whose time is over.
const AWAITED: usize = OnceWords::<WORD_WORDS>::LEN;
const WORDS: usize = AWAITED + Lanes::MOST;
/// The yields of a member until it no longer believes that a word comes. A leader writes it before it makes the group fail, so
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

    /// The fault word. Written by the leader once, read by all.
    fn word(&self) -> OnceWords<'_, WORD_WORDS> {
        OnceWords::within(&self.0)
    }

    /// Writes the word with which the group has failed.
    pub(super) fn publish(&self, word: FaultWord) {
        let bytes = word.to_bytes();
        let part = |place: usize| bytes[place * WORD_BYTES..][..WORD_BYTES].try_into().expect("as long as a word");
        self.word().write(std::array::from_fn(|place| u64::from_le_bytes(part(place))));
    }

    /// The word with which the group has failed, for members that have heard that there is one; `None` if the memory is damaged.
    pub(super) fn published(&self) -> Option<FaultWord> {
        let read = || {
            let words = self.word().read();
            if words.is_none() {
                yield_now();
            }
            words
        };
        let words = (0..MOST_YIELDS).find_map(|_| read())?;
        let mut bytes = [0; FaultWord::BYTES];
        for (place, word) in bytes.chunks_exact_mut(WORD_BYTES).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        FaultWord::from_bytes(bytes)
    }

    /// Notes the node that the leader of a lane waits for.
    pub(super) fn await_node(&self, lane: usize, node: Option<usize>) {
        let word = node.map_or(0, |node| node as u64 + 1);
        // ORDERING: Relaxed, a note for people
        self.0[AWAITED + lane].store(word, Ordering::Relaxed);
    }

    /// The node that a member of this local rank waits for, if it leads a lane.
    pub(super) fn awaited_by(&self, rank: usize) -> Option<usize> {
        let word = self.0.get(AWAITED + rank)?;
        // ORDERING: Relaxed, a note for people
        (word.load(Ordering::Relaxed) as usize).checked_sub(1)
    }

    /// The nodes that leaders wait for, each once.
    pub(super) fn awaited(&self) -> Vec<usize> {
        let mut nodes: Vec<usize> = (0..Lanes::MOST).filter_map(|lane| self.awaited_by(lane)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}
