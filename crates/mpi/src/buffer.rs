//! Buffers that the library reads and writes: owned by the engine, at an address that stays, and left to the library for good
//! where a step was abandoned.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::array;
use std::fmt;
use std::ptr::NonNull;

use corecast_collective::nodes::Slot;

/// The alignment of buffers, in bytes: a cache line's, and enough for values of every kind.
const ALIGN: usize = 64;
/// Slots of a lane.
const OF_A_LANE: usize = 4;

/// Zeroed memory at an address that does not change while the buffer moves.
struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the buffer owns its memory.
unsafe impl Send for Buffer {}

impl Buffer {
    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, ALIGN).expect("less than half of the address space")
    }

    fn of(bytes: usize) -> Self {
        let bytes = bytes.max(ALIGN).next_multiple_of(ALIGN);
        let layout = Self::layout(bytes);
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, bytes }
    }

    /// Gets more bytes, and keeps what it holds.
    #[cold]
    fn grow(&mut self, bytes: usize) {
        let mut grown = Self::of(bytes);
        let kept = self.bytes;
        grown.slice(kept).copy_from_slice(self.slice(kept));
        *self = grown;
    }

    fn slice(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= self.bytes, "{bytes} bytes of a buffer of {}", self.bytes);
        // SAFETY: that many initialised bytes belong to this buffer, which is borrowed, and the slots' rules keep the library
        // away.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), bytes) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and no step uses it: the slots forget buffers of steps that were abandoned.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.bytes)) };
    }
}

/// A slot's buffer, and the steps under way that use it.
struct Entry {
    buffer: Buffer,
    uses: u32,
}

/// The buffers of all slots.
pub(crate) struct Slots {
    entries: [Entry; OF_A_LANE * Slot::LANES],
    /// Buffers that were left to abandoned steps.
    abandoned: usize,
}

impl Default for Slots {
    /// Each slot with the usual length.
    fn default() -> Self {
        let entries = array::from_fn(|_| Entry { buffer: Buffer::of(Slot::BYTES), uses: 0 });
        Self { entries, abandoned: 0 }
    }
}

impl Slots {
    fn index(&self, slot: Slot) -> usize {
        assert!(slot.place < 2, "a slot's place is 0 or 1, not {}", slot.place);
        let index = OF_A_LANE * slot.lane + 2 * usize::from(slot.is_incoming) + slot.place;
        assert!(slot.lane < Slot::LANES, "lane {} of {}", slot.lane, Slot::LANES);
        index
    }

    /// The first bytes of a free slot; it grows, and keeps its contents.
    pub(crate) fn room(&mut self, slot: Slot, bytes: usize) -> &mut [u8] {
        let index = self.index(slot);
        let entry = &mut self.entries[index];
        assert!(entry.uses == 0, "{slot:?} is used by a step under way");
        if entry.buffer.bytes < bytes {
            entry.buffer.grow(bytes);
        }
        entry.buffer.slice(bytes)
    }

    /// Lends a slot of at least this length to a step, and returns its memory. Only those who read it may share one.
    ///
    /// The memory is used by the library alone until [`give_back`](Self::give_back): [`room`](Self::room) refuses it before.
    pub(crate) fn lend(&mut self, slot: Slot, bytes: usize) -> *mut u8 {
        let index = self.index(slot);
        if self.entries[index].buffer.bytes < bytes {
            self.room(slot, bytes);
        }
        let entry = &mut self.entries[index];
        entry.uses += 1;
        entry.buffer.start.as_ptr()
    }

    /// True if no step uses it.
    pub(crate) fn is_free(&self, slot: Slot) -> bool {
        self.entries[self.index(slot)].uses == 0
    }

    /// Takes a slot back from a step that is done.
    pub(crate) fn give_back(&mut self, slot: Slot) {
        let index = self.index(slot);
        self.entries[index].uses -= 1;
    }

    /// Leaves the memory of all steps under way to the library, for good: their requests cannot be taken back.
    pub(crate) fn abandon(&mut self) {
        for entry in self.entries.iter_mut().filter(|entry| entry.uses > 0) {
            let fresh = Entry { buffer: Buffer::of(Slot::BYTES), uses: 0 };
            std::mem::forget(std::mem::replace(entry, fresh));
            self.abandoned += 1;
        }
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.entries.iter().filter(|entry| entry.uses > 0).count();
        f.debug_struct("Slots")
            .field("slots", &self.entries.len())
            .field("used", &used)
            .field("abandoned", &self.abandoned)
            .finish()
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_grows_and_keeps_what_it_holds() {
        let mut slots = Slots::default();
        let slot = Slot::incoming(1);
        slots.room(slot, 3).copy_from_slice(&[1, 2, 3]);
        let grown = slots.room(slot, Slot::BYTES + 100_000);
        assert_eq!((grown.len(), &grown[..4]), (Slot::BYTES + 100_000, &[1, 2, 3, 0][..]));
        assert_eq!(slots.room(Slot::outgoing(1), 1), [0]);
    }

    #[test]
    fn an_abandoned_slot_has_other_memory() {
        let mut slots = Slots::default();
        let lent = slots.lend(Slot::outgoing(0), 8);
        assert!(!slots.is_free(Slot::outgoing(0)));
        slots.abandon();
        assert!(slots.is_free(Slot::outgoing(0)));
        assert_ne!(lent, slots.lend(Slot::outgoing(0), 8));
        slots.give_back(Slot::outgoing(0));
    }

    #[test]
    #[should_panic(expected = "is used by a step under way")]
    fn memory_of_a_step_under_way_is_not_handed_out() {
        let mut slots = Slots::default();
        slots.lend(Slot::outgoing(0), 8);
        slots.room(Slot::outgoing(0), 8);
    }

    #[test]
    #[should_panic(expected = "lane 2 of 2")]
    fn a_lane_that_does_not_exist_is_refused() {
        Slots::default().room(Slot { lane: 2, is_incoming: false, place: 0 }, 8);
    }
}
