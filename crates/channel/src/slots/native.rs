//! Slots in one stretch of memory: a heap allocation, or a part of a region.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::fmt;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use corecast_base::place::KeepAlive;
use corecast_base::sync::{AtomicU64, before_free, before_read, before_write};
use corecast_base::{Arena, ArenaError, LINE_BYTES, PlaceSlice, Shareable};

use super::{HEADER_BYTES, WORDS_PER_SLOT, slots_for};

/// A power of two of slots; a clone is the same slots.
#[derive(Clone)]
pub(crate) struct SlotRing {
    base: NonNull<u8>,
    mask: usize,
    /// Keeps the memory alive, and is never read.
    _keep: KeepAlive,
}

// SAFETY: the memory lives as long as the ring and is reached through atomics, or through `write` and `read`, whose
// callers answer for the order of their accesses.
unsafe impl Send for SlotRing {}
// SAFETY: as above.
unsafe impl Sync for SlotRing {}

impl SlotRing {
    /// Slots on the heap, all zero.
    pub(crate) fn new(slots: usize) -> Self {
        let allocation = Allocation::new(slots);
        Self { base: allocation.base, mask: slots - 1, _keep: Arc::new(allocation) }
    }

    /// Slots in existing memory, with its contents; `None` if it is not a power of two of lines.
    pub(crate) fn within(words: &PlaceSlice<AtomicU64>) -> Option<Self> {
        let slots = words.len() / WORDS_PER_SLOT;
        let base = NonNull::from(&**words).cast::<u8>();
        let is_ring = slots.is_power_of_two() && words.len() % WORDS_PER_SLOT == 0;
        let is_aligned = base.addr().get() % LINE_BYTES == 0;
        (is_ring && is_aligned).then(|| Self { base, mask: slots - 1, _keep: Arc::clone(words.keep()) })
    }

    #[inline(always)]
    pub(crate) fn slots(&self) -> usize {
        self.mask + 1
    }

    /// The address of the `n`-th slot ever used.
    #[inline(always)]
    fn slot(&self, n: u64) -> NonNull<u8> {
        let index = n as usize & self.mask;
        // SAFETY: index is at most mask, so the slot lies inside the memory of (mask + 1) slots.
        unsafe { self.base.add(index * LINE_BYTES) }
    }

    /// The header word of slot `n`.
    #[inline(always)]
    pub(crate) fn header(&self, n: u64) -> &AtomicU64 {
        let word = self.slot(n).cast::<AtomicU64>();
        // SAFETY: the word is inside the memory, aligned to a line, initialised (zeroed), and lives as long as self.
        // The bytes of a message cover it only while no other end looks at it (the callers of `write` promise that).
        unsafe { word.as_ref() }
    }

    /// The words behind the header of slot `n` that hold a message of `len` bytes.
    ///
    /// # Panics
    /// If the message does not fit before the end of the ring.
    #[inline(always)]
    pub(crate) fn payload(&self, n: u64, len: usize) -> &[AtomicU64] {
        let first = n as usize & self.mask;
        assert!(slots_for(len) <= self.slots() - first, "a message ends before its ring does");
        // SAFETY: a slot is longer than its header.
        let body = unsafe { self.slot(n).add(HEADER_BYTES) };
        // SAFETY: inside the memory by the assertion, aligned to words, and lives as long as self; code that reaches these
        // bytes in another way promises to be alone with them.
        unsafe { slice::from_raw_parts(body.cast::<AtomicU64>().as_ptr(), len.div_ceil(size_of::<u64>())) }
    }

    /// Copies `len` bytes in behind the header of slot `n`.
    ///
    /// # Safety
    /// - `from` is readable for `len` bytes.
    /// - The message fits before the end of the ring: `n mod slots + slots_for(len) <= slots`.
    /// - No other thread touches those bytes, the headers of the slots after `n` among them, until the caller publishes
    ///   them.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, n: u64, from: *const u8, len: usize) {
        debug_assert!((n as usize & self.mask) + slots_for(len) <= self.slots());
        // SAFETY: a slot is longer than its header.
        let body = unsafe { self.slot(n).add(HEADER_BYTES) };
        before_write(body.as_ptr(), len);
        // SAFETY: readable and disjoint by the caller's first promise and the ring's ownership, inside by the second,
        // unshared by the third.
        unsafe { body.as_ptr().copy_from_nonoverlapping(from, len) };
    }

    /// Copies `len` bytes out from behind the header of slot `n`.
    ///
    /// # Safety
    /// - `into` is writable for `len` bytes.
    /// - A message of at least `len` bytes was written there and its publication has been acquired.
    /// - No thread writes those bytes until the caller releases the slots.
    #[inline(always)]
    pub(crate) unsafe fn read(&self, n: u64, into: *mut u8, len: usize) {
        // SAFETY: a slot is longer than its header.
        let body = unsafe { self.slot(n).add(HEADER_BYTES) };
        before_read(body.as_ptr(), len);
        // SAFETY: by the caller's promises the bytes are there, stable, and `into` has room.
        unsafe { body.as_ptr().copy_to_nonoverlapping(into, len) };
    }
}

/// Two slots. No other module can name this type, so an arena on the heap gives these bytes to rings only.
#[derive(Debug, Default)]
#[repr(C, align(128))]
struct SlotPair([AtomicU64; 2 * WORDS_PER_SLOT]);

// SAFETY: atomic integers, laid out as C does, without padding, aligned to 128.
unsafe impl Shareable for SlotPair {}

/// The slots of many rings of one size, side by side.
#[derive(Debug)]
pub(crate) struct SlotRings {
    pairs: PlaceSlice<SlotPair>,
    /// Slots of each ring.
    slots: usize,
}

impl SlotRings {
    /// Lays out `count` rings of `slots` slots each, at least two.
    #[track_caller]
    pub(crate) fn lay_out(arena: &mut Arena, count: usize, slots: usize) -> Result<Self, ArenaError> {
        assert!(slots.is_power_of_two() && slots >= 2, "a ring has a power of two of slots, not {slots}");
        Ok(Self { pairs: arena.slice(count.saturating_mul(slots / 2))?, slots })
    }

    /// The `index`-th ring.
    ///
    /// # Panics
    /// If the index is beyond the last ring.
    #[track_caller]
    pub(crate) fn ring(&self, index: usize) -> SlotRing {
        let pairs = self.slots / 2;
        let ring = &self.pairs[index * pairs..][..pairs];
        SlotRing { base: NonNull::from(ring).cast(), mask: self.slots - 1, _keep: Arc::clone(self.pairs.keep()) }
    }
}

impl fmt::Debug for SlotRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SlotRing({:p}; {})", self.base, self.slots())
    }
}

/// Zeroed slots that are freed with their owner.
struct Allocation {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns memory, and nothing in it is bound to a thread.
unsafe impl Send for Allocation {}
// SAFETY: as above; a shared reference to it gives access to nothing.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(slots: usize) -> Self {
        assert!(slots.is_power_of_two(), "a ring has a power of two of slots, not {slots}");
        // Aligned to two lines, as the prefetcher fetches lines in pairs.
        let layout = Layout::array::<[u8; LINE_BYTES]>(slots)
            .and_then(|layout| layout.align_to(2 * LINE_BYTES))
            .expect("2^20 slots of a line are far below the largest allocation");
        // SAFETY: the layout's size is not zero, as there is at least one slot.
        let base = unsafe { alloc_zeroed(layout) };
        Self { base: NonNull::new(base).unwrap_or_else(|| handle_alloc_error(layout)), layout }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        before_free(self.base.as_ptr(), self.layout.size());
        // SAFETY: allocated in `new` with this layout, and freed only here.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}
