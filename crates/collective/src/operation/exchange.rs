//! Memory in which every member shows some values to all others at once: allreduces of slices use it instead of trees.
//!
//! Every member has two slots for chunks, which it uses in turn. It writes a chunk into one of them, together with the
//! number and type of the slice's values, and announces it with one store; all others read it in place. A member may change
//! a part of the chunk it has shown, and announces that with a second store.
//!
//! There are no acknowledgements. A member shows a chunk after it has finished with the one before. So a member that has
//! seen the next chunk of all others knows that none of them still reads the one before, and that is the one it overwrites
//! next. Chunks are numbered through, whatever operations they belong to; the numbers only grow, so nothing is ever reset.
//!
//! The slots are laid out by the first allreduce of a slice, as not all groups have one.
//!
//! **When to take it:** all members need the values of all others, and there are few of them. **When not:** only one gives
//! or one gets; or there are many, as each member looks at every other's slot.
//!
//! Every access is atomic, so that a misbehaving process can cause wrong values and nothing worse.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, CacheLine, PlaceSlice};
use corecast_channel::{Bytes, BytesMut, Plain};

use crate::core::Core;
use crate::error::{Error, Loss};
use crate::link::LastType;

/// The bytes of a chunk. With half as many, two members with 64 KiB to 1 MiB took 1.4 times as long, and with an eighth 2.0
/// times; twice as many gained nothing.
pub(crate) const CHUNK_BYTES: usize = if cfg!(loom) { 16 } else { 64 << 10 };
const CHUNK_WORDS: usize = CHUNK_BYTES / size_of::<u64>();
/// The chunks of a member: see above why these are enough.
const SLOTS: usize = 2;
/// Words before those of a chunk: a line, of which five are in use.
const HEAD_WORDS: usize = 8;
/// Slots begin where slices do.
const SLOT_WORDS: usize = (HEAD_WORDS + CHUNK_WORDS).next_multiple_of(size_of::<CacheLine<u8>>() / size_of::<u64>());

/// Announcements about the chunk in a slot, each by a word of its head: one more than the number of the chunk for which it
/// holds. Written by the owner of the slot, read by all.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// The chunk is there.
    Shown = 0,
    /// The part that the member was to change is changed.
    Changed = 1,
}
/// The words of the head that describe the whole slice: the number of its values, the signature of their type, and the
/// stamp of the operation.
const LENGTH: usize = 2;
const TYPE: usize = 3;
const STAMP: usize = 4;

/// One member's view of the slots of all.
#[derive(Debug)]
pub(crate) struct Exchange {
    words: PlaceSlice<AtomicU64>,
    rank: usize,
    members: usize,
    /// The number of the current chunk, which is the same at all members.
    number: u64,
    last: LastType,
}

impl Exchange {
    /// Lays out the slots of all members; returns the view of the member of this rank. `None` if they would take more than
    /// half of the remaining room, as members need the rest for things they cannot do without.
    pub(crate) fn lay_out(rank: usize, members: usize, arena: &mut Arena) -> Result<Option<Self>, ArenaError> {
        let words = members * SLOTS * SLOT_WORDS;
        if arena.left().is_some_and(|left| words * size_of::<u64>() > left / 2) {
            return Ok(None);
        }
        Ok(Some(Self { words: arena.slice(words)?, rank, members, number: 0, last: LastType::default() }))
    }

    /// Writes the current chunk, of a slice of `len` values, and announces it.
    pub(crate) fn show<T: Plain>(&mut self, core: &Core, len: usize, chunk: &[T]) {
        let signature = self.last.signature::<T>();
        let (head, words) = self.slot(self.rank).split_at(HEAD_WORDS);
        // ORDERING: Relaxed, made visible by the word that says that the chunk is there
        head[LENGTH].store(len as u64, Ordering::Relaxed);
        // ORDERING: Relaxed, made visible by the same word
        head[TYPE].store(signature, Ordering::Relaxed);
        // ORDERING: Relaxed, made visible by the same word
        head[STAMP].store(core.stamp.word(), Ordering::Relaxed);
        BytesMut::shared(words, size_of_val(chunk)).write_values(chunk);
        self.say(core, Word::Shown);
    }

    /// Writes `values` over those that this member has shown from the `first`-th on, and announces the change.
    pub(crate) fn change<T: Plain>(&self, core: &Core, first: usize, values: &[T]) {
        let offset = first * size_of::<T>();
        let (_, words) = self.slot(self.rank).split_at(HEAD_WORDS);
        BytesMut::shared(words, CHUNK_BYTES).write_values_at(offset, values);
        self.say(core, Word::Changed);
    }

    /// Makes this announcement about the own current chunk.
    fn say(&self, core: &Core, word: Word) {
        // ORDERING: Release, pairs with the Acquire in wait at the others: the values are there, and those of the chunk before
        // the one at hand have been read [exchange]
        self.slot(self.rank)[word as usize].store(self.number + 1, Ordering::Release);
        core.table.common.notify();
    }

    /// Waits until all members have announced this for their current chunks; `heard` counts those that have, and is 0 at
    /// first. If the wait ends at a limit, another call goes on where it ended.
    pub(crate) fn wait(&self, core: &mut Core, word: Word, heard: &mut usize) -> Result<(), Error> {
        core.wait_at_common_word(|| {
            // ORDERING: Acquire, pairs with the Release in say at that member [exchange]
            while *heard < self.members && self.slot(*heard)[word as usize].load(Ordering::Acquire) > self.number {
                *heard += 1;
            }
            (*heard == self.members).then_some(())
        })
    }

    /// Makes the group fail if another member has shown a slice of another length or type than this one, or in another
    /// operation.
    pub(crate) fn compare(&self, core: &mut Core) -> Result<(), Error> {
        // ORDERING: Relaxed, ordered by the word that said that the chunk is there
        let said = |rank: usize, word: usize| self.slot(rank)[word].load(Ordering::Relaxed);
        if let Some(rank) = (0..self.members).find(|&rank| said(rank, STAMP) != core.stamp.word()) {
            return Err(core.mismatched(rank));
        }
        for (word, loss) in [(LENGTH, Loss::OtherLength), (TYPE, Loss::Mismatched)] {
            if let Some(rank) = (0..self.members).find(|&rank| said(rank, word) != said(self.rank, word)) {
                return Err(core.fail(rank, loss));
            }
        }
        Ok(())
    }

    /// Copies a member's values from the `first`-th of its chunk on.
    pub(crate) fn read<T: Plain>(&self, rank: usize, first: usize, into: &mut [T]) {
        let (_, words) = self.slot(rank).split_at(HEAD_WORDS);
        Bytes::shared(words, CHUNK_BYTES).read_values_at(first * size_of::<T>(), into);
    }

    pub(crate) fn members(&self) -> usize {
        self.members
    }

    /// Goes on to the next chunk.
    pub(crate) fn advance(&mut self) {
        self.number += 1;
    }

    /// A member's slot for the current chunk.
    fn slot(&self, rank: usize) -> &[AtomicU64] {
        let first = (rank * SLOTS + (self.number % SLOTS as u64) as usize) * SLOT_WORDS;
        &self.words[first..first + SLOT_WORDS]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn slots_are_as_large_as_they_are_told_and_no_more_than_half_of_what_is_left() {
        let mut arena = Arena::heap();
        Exchange::lay_out(0, 3, &mut arena).expect("the heap has room").expect("all of it");
        assert_eq!(arena.bytes(), 3 * 2 * (CHUNK_BYTES + 128), "as docs/design/operations.md says");
    }
}
