//! Slots in one heap allocation.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use corecast_base::LINE_BYTES;
use corecast_base::sync::AtomicU64;

use super::{HEADER_BYTES, slots_for};

/// A power of two of slots, all zero at first.
#[derive(Debug)]
pub(crate) struct SlotRing {
    base: NonNull<u8>,
    mask: usize,
}

// SAFETY: the memory is owned by the ring and reached through atomics, or through `write` and `read`, whose callers
// answer for the order of their accesses.
unsafe impl Send for SlotRing {}
// SAFETY: as above.
unsafe impl Sync for SlotRing {}

impl SlotRing {
    pub(crate) fn new(slots: usize) -> Self {
        assert!(slots.is_power_of_two(), "a ring has a power of two of slots, not {slots}");
        let layout = layout(slots);
        // SAFETY: the layout's size is not zero, as there is at least one slot.
        let base = unsafe { alloc_zeroed(layout) };
        let base = NonNull::new(base).unwrap_or_else(|| handle_alloc_error(layout));
        Self { base, mask: slots - 1 }
    }

    #[inline(always)]
    pub(crate) fn slots(&self) -> usize {
        self.mask + 1
    }

    /// Where the slot of the `n`-th slot ever used begins.
    #[inline(always)]
    fn slot(&self, n: u64) -> NonNull<u8> {
        let index = n as usize & self.mask;
        // SAFETY: index is at most mask, so the slot lies inside the allocation of (mask + 1) slots.
        unsafe { self.base.add(index * LINE_BYTES) }
    }

    /// The header word of slot `n`.
    #[inline(always)]
    pub(crate) fn header(&self, n: u64) -> &AtomicU64 {
        let word = self.slot(n).cast::<AtomicU64>();
        // SAFETY: the word is inside the allocation, aligned to a line, initialised (zeroed), and lives as long as self.
        // The bytes of a message cover it only while no other end looks at it (the callers of `write` promise that).
        unsafe { word.as_ref() }
    }

    /// Copies `len` bytes in behind the header of slot `n`.
    ///
    /// # Safety
    /// - `from` is readable for `len` bytes.
    /// - The message fits before the end of the ring: `n mod slots + slots_for(len) <= slots`.
    /// - Nobody else touches those bytes, the headers of the slots after `n` among them, until the caller publishes them.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, n: u64, from: *const u8, len: usize) {
        debug_assert!((n as usize & self.mask) + slots_for(len) <= self.slots());
        // SAFETY: a slot is longer than its header.
        let body = unsafe { self.slot(n).add(HEADER_BYTES) };
        // SAFETY: readable and disjoint by the caller's first promise and the ring's ownership, inside by the second,
        // unshared by the third.
        unsafe { body.as_ptr().copy_from_nonoverlapping(from, len) };
    }

    /// Copies `len` bytes out from behind the header of slot `n`.
    ///
    /// # Safety
    /// - `into` is writable for `len` bytes.
    /// - A message of at least `len` bytes was written there and its publication has been acquired.
    /// - Nobody writes those bytes until the caller releases the slots.
    #[inline(always)]
    pub(crate) unsafe fn read(&self, n: u64, into: *mut u8, len: usize) {
        // SAFETY: a slot is longer than its header.
        let body = unsafe { self.slot(n).add(HEADER_BYTES) };
        // SAFETY: by the caller's promises the bytes are there, stable, and `into` has room.
        unsafe { body.as_ptr().copy_to_nonoverlapping(into, len) };
    }
}

impl Drop for SlotRing {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed only here.
        unsafe { dealloc(self.base.as_ptr(), layout(self.slots())) };
    }
}

/// Aligned to two lines, as the prefetcher fetches lines in pairs.
fn layout(slots: usize) -> Layout {
    Layout::array::<[u8; LINE_BYTES]>(slots)
        .and_then(|layout| layout.align_to(2 * LINE_BYTES))
        .expect("2^20 slots of a line are far below the largest allocation")
}
