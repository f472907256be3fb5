//! Memory in which proposals lie that are too long for a message: written once, and read there by all participants.
//!
//! The coordinator writes a proposal to an area that no participant reads any more, piece by piece, while those that know of
//! it read the pieces that are there. It waits for nobody meanwhile, so a time limit cannot end in the middle of a proposal.
//! There are two areas: a participant that has not voted on a long proposal keeps one from being written, and the others go
//! on with the other one.
//!
//! Every access to an area is atomic, so that a misbehaving process can cause wrong values and nothing worse.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, CacheLine, PlaceSlice};
use corecast_channel::{Bytes, BytesMut, Plain};

use crate::core::Core;
use crate::error::Error;
use crate::link::LONGEST_MESSAGE;

/// The longest proposal that goes in a message.
pub(super) const SHORT_BYTES: usize = if cfg!(loom) { 8 } else { LONGEST_MESSAGE };
/// The areas.
pub(super) const AREAS: usize = if cfg!(loom) { 1 } else { 2 };
/// The bytes that are written before participants are told that they are there.
const PIECE_BYTES: usize = if cfg!(loom) { 16 } else { 32 << 10 };

/// The areas, as all members lay them out; none if all proposals go in messages.
#[derive(Debug)]
pub(super) struct Areas {
    /// One area behind the other. Written by the coordinator, read by participants.
    words: PlaceSlice<AtomicU64>,
    /// The words of an area.
    area_words: usize,
    /// The number of values in each area, of the proposal that is written there. Written by the coordinator, read by
    /// participants.
    written: PlaceSlice<CacheLine<AtomicU64>>,
}

impl Areas {
    /// Areas for proposals of up to `longest_bytes`.
    pub(super) fn lay_out(arena: &mut Arena, longest_bytes: usize) -> Result<Self, ArenaError> {
        let (areas, area_words) = match longest_bytes {
            0..=SHORT_BYTES => (0, 0),
            // The pieces of a slice begin on lines of their own, and so does each area.
            _ => (AREAS, longest_bytes.div_ceil(size_of::<u64>()).next_multiple_of(LINE_WORDS)),
        };
        let words = area_words.saturating_mul(areas);
        check_memory(arena, words.saturating_mul(size_of::<u64>()))?;
        Ok(Self { words: arena.slice(words)?, area_words, written: arena.slice(areas)? })
    }

    /// Writes some values from the `first` on, at least one, and shows them; returns the number of those written so far.
    pub(super) fn write_piece<T: Plain>(&self, area: usize, values: &[T], first: usize) -> usize {
        let end = values.len().min(first + (PIECE_BYTES / size_of::<T>()).max(1));
        let mut bytes = BytesMut::shared(self.area(area), size_of_val(values));
        bytes.write_values_at(first * size_of::<T>(), &values[first..end]);
        // ORDERING: Release, pairs with the Acquire in read: the values [piece]
        self.written[area].store(end as u64, Ordering::Release);
        end
    }

    /// Reads as many values as `into` has, as they come.
    pub(super) fn read<T: Plain>(&self, core: &mut Core, area: usize, into: &mut [T]) -> Result<(), Error> {
        let bytes = Bytes::shared(self.area(area), size_of_val(into));
        let mut first = 0;
        while first < into.len() {
            // ORDERING: Acquire, pairs with the Release in write_piece [piece]
            let look = || Some(self.written[area].load(Ordering::Acquire) as usize).filter(|&written| written > first);
            let end = core.wait_at_own_word(look)?.min(into.len());
            bytes.read_values_at(first * size_of::<T>(), &mut into[first..end]);
            first = end;
        }
        Ok(())
    }

    fn area(&self, area: usize) -> &[AtomicU64] {
        &self.words[area * self.area_words..][..self.area_words]
    }
}

/// The words of a line.
const LINE_WORDS: usize = size_of::<CacheLine<u64>>() / size_of::<u64>();

/// Refuses what the heap does not have. A slice that it has no room for would end the program.
fn check_memory(arena: &Arena, bytes: usize) -> Result<(), ArenaError> {
    let is_there = arena.left().is_some()
        || Vec::<u8>::new().try_reserve_exact(bytes.saturating_add(LINE_WORDS * size_of::<u64>())).is_ok();
    let (used, len) = (arena.bytes(), arena.bytes());
    is_there.then_some(()).ok_or(ArenaError::Full { bytes, used, len })
}
