//! The memory of an acknowledged broadcast: a line for each end of edges, and rings of slots for events.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, CacheLine, LINE_BYTES, PlaceSlice};
use corecast_channel::{Bytes, BytesMut, Plain};

const WORD_BYTES: usize = size_of::<u64>();
const WORDS_OF_LINE: usize = LINE_BYTES / WORD_BYTES;

/// Counts that only grow, each on a line of its own.
#[derive(Debug, Clone)]
pub(super) struct Lines(PlaceSlice<CacheLine<AtomicU64>>);

impl Lines {
    /// Two lines for each member, and one that says how the broadcast ends.
    pub(super) fn lay_out(arena: &mut Arena, members: usize) -> Result<Self, ArenaError> {
        arena.slice(2 * members + 1).map(Self)
    }

    /// The line on which a member counts the events that it has passed on, early or late.
    pub(super) fn of(rank: usize, is_late: bool) -> usize {
        2 * rank + usize::from(is_late)
    }

    /// The count on a line.
    #[inline(always)]
    pub(super) fn at(&self, line: usize) -> u64 {
        // ORDERING: Acquire, pairs with the Release in raise: the events so far are there, and what the member did with
        // them is seen [passed-on]
        self.0[line].load(Ordering::Acquire)
    }

    /// Raises the count on a line that only the caller writes.
    #[inline(always)]
    pub(super) fn raise(&self, line: usize, count: u64) {
        // ORDERING: Release, pairs with the Acquire in at [passed-on]
        self.0[line].store(count, Ordering::Release);
    }

    /// The number of the event that stands for the end; 0 before the end.
    #[inline(always)]
    pub(super) fn end(&self) -> u64 {
        // ORDERING: Relaxed, written before the end is passed on as events are
        self.0[self.0.len() - 1].load(Ordering::Relaxed)
    }

    /// Marks the event of this number, which will be published next, as the end.
    pub(super) fn set_end(&self, number: u64) {
        // ORDERING: Relaxed, the next publication carries it
        self.0[self.0.len() - 1].store(number, Ordering::Relaxed);
    }
}

/// Rings of slots for events. A slot may begin with a word that names its event.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    words: PlaceSlice<AtomicU64>,
    /// Words from one slot to the next: whole lines, or as many as line up in one.
    stride: usize,
    /// Slots of a ring, a power of two.
    slots: usize,
    /// The word of a slot at which its event begins.
    event: usize,
    event_bytes: usize,
}

impl Slots {
    /// One ring of at least this many slots for events alone.
    pub(super) fn without_heads<T>(arena: &mut Arena, slots: usize) -> Result<Self, ArenaError> {
        Self::lay_out::<T>(arena, 1, slots, 0)
    }

    /// Some rings of at least this many slots for a word and an event.
    pub(super) fn with_heads<T>(arena: &mut Arena, rings: usize, slots: usize) -> Result<Self, ArenaError> {
        Self::lay_out::<T>(arena, rings, slots, 1)
    }

    fn lay_out<T>(arena: &mut Arena, rings: usize, slots: usize, event: usize) -> Result<Self, ArenaError> {
        let event_bytes = size_of::<T>();
        let words = event + event_bytes.div_ceil(WORD_BYTES);
        // Events alone lie side by side, as those published together are read together. A head is polled while others are
        // written.
        let stride = match event {
            0 if words < WORDS_OF_LINE => words.next_power_of_two(),
            _ => words.next_multiple_of(WORDS_OF_LINE),
        };
        let slots = slots.next_power_of_two();
        Ok(Self { words: arena.slice(rings * slots * stride)?, stride, slots, event, event_bytes })
    }

    /// Slots of a ring.
    pub(super) fn per_ring(&self) -> usize {
        self.slots
    }

    /// The slot of a ring that the event of this number uses.
    #[inline(always)]
    pub(super) fn index(&self, number: u64) -> usize {
        (number & (self.slots as u64 - 1)) as usize
    }

    /// The number in the head of a slot.
    #[inline(always)]
    pub(super) fn head(&self, ring: usize, index: usize) -> u64 {
        // ORDERING: Acquire, pairs with the Release in set_head: the event is there [head]
        self.slot(ring, index)[0].load(Ordering::Acquire)
    }

    /// Names the event in a slot, after it was written.
    #[inline(always)]
    pub(super) fn set_head(&self, ring: usize, index: usize, number: u64) {
        // ORDERING: Release, pairs with the Acquire in head [head]
        self.slot(ring, index)[0].store(number, Ordering::Release);
    }

    #[inline(always)]
    pub(super) fn read<T: Plain>(&self, ring: usize, index: usize) -> T {
        let words = &self.slot(ring, index)[self.event..];
        Bytes::shared(words, self.event_bytes).read().expect("slots are for events of this size")
    }

    #[inline(always)]
    pub(super) fn write<T: Plain>(&self, ring: usize, index: usize, event: &T) {
        BytesMut::shared(&self.slot(ring, index)[self.event..], self.event_bytes).write(event);
    }

    #[inline(always)]
    fn slot(&self, ring: usize, index: usize) -> &[AtomicU64] {
        let first = (ring * self.slots + index) * self.stride;
        &self.words[first..first + self.stride]
    }
}
