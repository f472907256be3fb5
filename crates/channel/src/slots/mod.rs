//! The memory of a ring: slots of one cache line, each with a header word that is written last, and the bytes behind it.
//!
//! A message of several slots is contiguous: its bytes run from behind the first header over the headers of the slots that
//! follow. Values are copied in and out; bytes are reached in place, as atomic words. The channel's protocol decides which
//! end may touch a slot; this is only the memory. In a normal build it is one allocation or a part of a region or an arena;
//! under loom it is cells and words of which the model watches every access.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(crate) use model::{SlotRing, SlotRings};
#[cfg(not(loom))]
pub(crate) use native::{SlotRing, SlotRings};

use corecast_base::LINE_BYTES;

/// Bytes of the header word.
pub(crate) const HEADER_BYTES: usize = 8;
/// Words of a slot, its header among them.
const WORDS_PER_SLOT: usize = LINE_BYTES / size_of::<u64>();
/// Bytes of a message that fit into one slot beside the header.
pub(crate) const INLINE_BYTES: usize = LINE_BYTES - HEADER_BYTES;

/// Slots that a message of `len` bytes takes.
#[inline(always)]
pub(crate) const fn slots_for(len: usize) -> usize {
    (HEADER_BYTES + len).div_ceil(LINE_BYTES)
}

const _: () = assert!(slots_for(0) == 1 && slots_for(INLINE_BYTES) == 1 && slots_for(INLINE_BYTES + 1) == 2);
