//! Slots whose every access the model checker watches.
//!
//! Values and bytes have memory of their own: values move through cells, in which the model finds accesses that race, and
//! bytes through atomic words, of which a load may return an old value. Bytes of a value that cover the header of a
//! continued slot are put into its header word too, as they would be in real memory: a receiver that looked there would see
//! them.

use std::mem::MaybeUninit;
use std::sync::Arc;

use corecast_base::sync::{AtomicU64, Ordering, UnsafeCell};
use corecast_base::{Arena, ArenaError, LINE_BYTES};

use super::{HEADER_BYTES, INLINE_BYTES, WORDS_PER_SLOT, slots_for};

type Body = [MaybeUninit<u8>; LINE_BYTES];

/// A power of two of slots; a clone is the same slots.
#[derive(Debug, Clone)]
pub(crate) struct SlotRing(Arc<Memory>);

#[derive(Debug)]
struct Memory {
    /// Headers and bytes, one slot after the other.
    words: Vec<AtomicU64>,
    /// Values.
    bodies: Vec<UnsafeCell<Body>>,
}

// SAFETY: as for the native ring; loom itself reports accesses that race.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl SlotRing {
    pub(crate) fn new(slots: usize) -> Self {
        assert!(slots.is_power_of_two(), "a ring has a power of two of slots, not {slots}");
        let words = (0..slots * WORDS_PER_SLOT).map(|_| AtomicU64::new(0)).collect();
        let bodies = (0..slots).map(|_| UnsafeCell::new([MaybeUninit::uninit(); LINE_BYTES])).collect();
        Self(Arc::new(Memory { words, bodies }))
    }

    pub(crate) fn slots(&self) -> usize {
        self.0.bodies.len()
    }

    fn index(&self, n: u64) -> usize {
        n as usize & (self.slots() - 1)
    }

    pub(crate) fn header(&self, n: u64) -> &AtomicU64 {
        &self.0.words[self.index(n) * WORDS_PER_SLOT]
    }

    pub(crate) fn payload(&self, n: u64, len: usize) -> &[AtomicU64] {
        assert!(slots_for(len) <= self.slots() - self.index(n), "a message ends before its ring does");
        let first = self.index(n) * WORDS_PER_SLOT + 1;
        &self.0.words[first..first + len.div_ceil(size_of::<u64>())]
    }

    /// As the native ring's.
    ///
    /// # Safety
    /// - As the native ring's; besides, bytes that cover a header are initialised.
    pub(crate) unsafe fn write(&self, n: u64, from: *const u8, len: usize) {
        for (slot, offset, part) in parts(len) {
            let at = self.index(n) + slot;
            // SAFETY: offset is below len, for which the caller promises that `from` is readable.
            let source = unsafe { from.add(offset) };
            self.0.bodies[at].with_mut(|body| {
                // SAFETY: part is at most the length of a body, and the model checks that nobody else is there.
                unsafe { body.cast::<u8>().copy_from_nonoverlapping(source, part) };
            });
            if slot > 0 && part >= HEADER_BYTES {
                // SAFETY: at least eight readable bytes, initialised by the caller's promise.
                let covering = unsafe { source.cast::<u64>().read_unaligned() };
                // ORDERING: Relaxed, it stands for a plain write of the bytes that cover the header
                self.0.words[at * WORDS_PER_SLOT].store(covering, Ordering::Relaxed);
            }
        }
    }

    /// As the native ring's.
    ///
    /// # Safety
    /// - As the native ring's.
    pub(crate) unsafe fn read(&self, n: u64, into: *mut u8, len: usize) {
        for (slot, offset, part) in parts(len) {
            // SAFETY: offset is below len, for which the caller promises that `into` is writable.
            let target = unsafe { into.add(offset) };
            self.0.bodies[self.index(n) + slot].with(|body| {
                // SAFETY: part is at most the length of a body, and the model checks that nobody writes there.
                unsafe { body.cast::<u8>().copy_to_nonoverlapping(target, part) };
            });
        }
    }
}

/// Rings of one size.
#[derive(Debug)]
pub(crate) struct SlotRings(Arc<[SlotRing]>);

impl SlotRings {
    pub(crate) fn lay_out(arena: &mut Arena, count: usize, slots: usize) -> Result<Self, ArenaError> {
        arena.share(|| (0..count).map(|_| SlotRing::new(slots)).collect::<Arc<[_]>>()).map(Self)
    }

    pub(crate) fn ring(&self, index: usize) -> SlotRing {
        self.0[index].clone()
    }
}

/// The slot (counted from the first), the offset and the length of each part of a message.
fn parts(len: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..slots_for(len)).map(move |slot| {
        let offset = if slot == 0 { 0 } else { INLINE_BYTES + (slot - 1) * LINE_BYTES };
        let room = if slot == 0 { INLINE_BYTES } else { LINE_BYTES };
        (slot, offset, room.min(len - offset))
    })
}
