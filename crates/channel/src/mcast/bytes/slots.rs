//! Slots for messages of bytes: short messages lie in the slot, long ones in a block that the slot owns for now.
//!
//! ```text
//! slot   word u64 (`word`); head u64 {block 24 | 7 unused | is in block 1 | len 32}; 48, 112 or 240 bytes
//! ```
//! A block is stored as its difference (XOR) from its owner's first block, so that zeroed memory has every block in its
//! place: slot `s` owns block `s`, and sender `i` block `slots + i`.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{LINE_BYTES, PlaceSlice, prefetch_for_write};

use crate::mcast::config::Config;

const WORD_BYTES: usize = size_of::<u64>();
const LINE_WORDS: usize = LINE_BYTES / WORD_BYTES;
/// Words of a slot before its payload.
const HEAD_WORDS: usize = 2;
const IN_BLOCK: u64 = 1 << 32;
const BLOCK: u32 = 40;

/// The slots and blocks of a channel.
#[derive(Debug)]
pub(super) struct ByteSlots {
    slots: Words,
    slot_words: usize,
    blocks: Words,
    block_words: usize,
    sizes: Sizes,
    /// True if no other program writes here.
    pub(super) is_trusted: bool,
}

/// The numbers and sizes of slots and blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) slots: usize,
    pub(super) inline: usize,
    pub(super) max_len: usize,
    pub(super) blocks: usize,
}

/// Words, the first of which begins a line.
#[derive(Debug)]
pub(super) struct Words {
    words: PlaceSlice<AtomicU64>,
    skip: usize,
}

/// The contents of a slot's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) len: usize,
    /// The block that the slot owns, and whether the message lies there.
    pub(super) block: usize,
    pub(super) is_in_block: bool,
}

impl Sizes {
    /// The sizes of a channel with a rounded configuration.
    pub(super) fn of(config: &Config) -> Self {
        let blocks = if config.block_bytes == 0 { 0 } else { config.slots + config.senders };
        Self { slots: config.slots, inline: config.inline, max_len: config.max_len(), blocks }
    }

    pub(super) fn slot_words(&self) -> usize {
        HEAD_WORDS + self.inline / WORD_BYTES
    }

    pub(super) fn block_words(&self) -> usize {
        if self.blocks == 0 { 0 } else { self.max_len / WORD_BYTES }
    }

    /// The block that a sender owns at first.
    pub(super) fn first_block(&self, sender: usize) -> usize {
        self.slots + sender
    }
}

impl Words {
    /// Zeroes on the heap.
    fn on_heap(count: usize) -> Self {
        let words = PlaceSlice::new((0..count + 2 * LINE_WORDS).map(|_| AtomicU64::new(0)).collect());
        let skip = words.as_ptr().align_offset(2 * LINE_BYTES);
        // The words of a model have no address.
        Self { words, skip: if skip < 2 * LINE_WORDS { skip } else { 0 } }
    }

    /// Words of a region.
    #[cfg(not(loom))]
    pub(super) fn within(words: PlaceSlice<AtomicU64>) -> Self {
        Self { words, skip: 0 }
    }

    #[inline(always)]
    fn at(&self, first: usize, count: usize) -> &[AtomicU64] {
        &self.words[self.skip + first..][..count]
    }
}

impl Head {
    /// The head of slot `index` as a word.
    #[inline(always)]
    fn encoded(self, index: usize) -> u64 {
        let kind = if self.is_in_block { IN_BLOCK } else { 0 };
        self.len as u64 | kind | ((self.block ^ index) as u64) << BLOCK
    }
}

impl ByteSlots {
    pub(super) fn on_heap(config: &Config) -> Self {
        let sizes = Sizes::of(config);
        let slots = Words::on_heap(sizes.slots * sizes.slot_words());
        let blocks = Words::on_heap(sizes.blocks * sizes.block_words());
        Self::new(sizes, slots, blocks, true)
    }

    pub(super) fn new(sizes: Sizes, slots: Words, blocks: Words, is_trusted: bool) -> Self {
        let (slot_words, block_words) = (sizes.slot_words(), sizes.block_words());
        Self { slots, slot_words, blocks, block_words, sizes, is_trusted }
    }

    pub(super) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The payload of a slot.
    #[inline(always)]
    pub(super) fn inline(&self, index: usize) -> &[AtomicU64] {
        self.slots.at(index * self.slot_words + HEAD_WORDS, self.slot_words - HEAD_WORDS)
    }

    /// A block; `None` if there is no such block.
    #[inline]
    pub(super) fn block(&self, block: usize) -> Option<&[AtomicU64]> {
        (block < self.sizes.blocks).then(|| self.blocks.at(block * self.block_words, self.block_words))
    }

    /// The words of a message; `None` if its head is nonsense.
    #[inline(always)]
    pub(super) fn message(&self, index: usize, head: Head) -> Option<&[AtomicU64]> {
        let words = if head.is_in_block { self.block(head.block)? } else { self.inline(index) };
        (head.len <= words.len() * WORD_BYTES).then_some(words)
    }

    /// The word of the slot with this index.
    #[inline(always)]
    pub(super) fn word(&self, index: usize) -> &AtomicU64 {
        &self.slots.at(index * self.slot_words, 1)[0]
    }

    /// The words of a slot: its word, its head, its payload.
    #[inline(always)]
    fn slot(&self, index: usize) -> &[AtomicU64] {
        self.slots.at(index * self.slot_words, self.slot_words)
    }

    /// Writes the head of a slot without a block, which belongs to the caller, and returns its word.
    #[inline(always)]
    pub(super) fn fill_blockless(&self, index: usize, len: usize) -> &AtomicU64 {
        // Found once: after each store to an atomic the compiler would look anew where the slots lie.
        let slot = self.slot(index);
        // ORDERING: Relaxed, released by the publication
        slot[1].store(Head { len, block: index, is_in_block: false }.encoded(index), Ordering::Relaxed);
        &slot[0]
    }

    /// Asks the CPU for the first two lines of a slot that will be written soon.
    #[inline(always)]
    pub(super) fn prepare(&self, index: usize) {
        let slot = self.slot(index);
        prefetch_for_write(&slot[0]);
        if let Some(second) = slot.get(LINE_WORDS) {
            prefetch_for_write(second);
        }
    }

    #[inline(always)]
    fn head_word(&self, index: usize) -> &AtomicU64 {
        &self.slots.at(index * self.slot_words + 1, 1)[0]
    }

    /// The head of a slot, which is any word if a stranger wrote it.
    #[inline(always)]
    pub(super) fn head(&self, index: usize) -> Head {
        // ORDERING: Relaxed, ordered by the word of the slot
        let word = self.head_word(index).load(Ordering::Relaxed);
        Head { len: word as u32 as usize, block: (word >> BLOCK) as usize ^ index, is_in_block: word & IN_BLOCK != 0 }
    }

    /// Writes the head of a slot that belongs to the caller.
    #[inline(always)]
    pub(super) fn set_head(&self, index: usize, head: Head) {
        // ORDERING: Relaxed, released by the publication
        self.head_word(index).store(head.encoded(index), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_one_owner_at_first() {
        let config = Config { slots: 4, senders: 2, block_bytes: 300, ..Config::default() }.rounded();
        let slots = ByteSlots::on_heap(&config);
        let owners = (0..4).map(|index| slots.head(index).block).chain((0..2).map(|i| slots.sizes().first_block(i)));
        assert_eq!(owners.collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert!(slots.block(5).is_some_and(|block| block.len() == 48) && slots.block(6).is_none());
        let head = Head { len: 384, block: 5, is_in_block: true };
        slots.set_head(2, head);
        assert_eq!(slots.head(2), head);
        assert!(slots.message(2, head).is_some() && slots.message(2, Head { len: 385, ..head }).is_none());
        assert!(slots.message(2, Head { len: 49, is_in_block: false, ..head }).is_none());
    }
}
