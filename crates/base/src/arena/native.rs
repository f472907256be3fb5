//! A section of a region, given out from its beginning.

use super::{Arena, ArenaError, Memory};
use crate::place::{PlaceSlice, Shareable};
use crate::region::{Section, SectionError};

/// The part of a section that slices are cut from.
#[derive(Debug, Clone)]
pub(super) struct SectionMemory {
    section: Section,
    /// The offset of the first byte, a multiple of the alignment.
    at: usize,
    len: usize,
}

impl SectionMemory {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// `len` values from `offset` on, a multiple of their alignment.
    pub(super) fn slice<T: Shareable>(&self, offset: usize, len: usize) -> Result<PlaceSlice<T>, ArenaError> {
        self.check_room(offset, size_of::<T>().saturating_mul(len))?;
        self.section.slice(self.at + offset, len).map_err(|error| match error {
            SectionError::Forked(_) => ArenaError::Forked,
            SectionError::Outside { .. } => unreachable!("an arena stays inside its section"),
            SectionError::Unaligned { .. } => unreachable!("sections and slices begin at multiples of 128 bytes"),
        })
    }

    /// The `bytes` bytes from `offset` on, a multiple of the alignment.
    pub(super) fn part(&self, offset: usize, bytes: usize) -> Result<Self, ArenaError> {
        self.check_room(offset, bytes)?;
        self.section.start().map_err(|_| ArenaError::Forked)?;
        Ok(Self { section: self.section.clone(), at: self.at + offset, len: bytes })
    }

    fn check_room(&self, offset: usize, bytes: usize) -> Result<(), ArenaError> {
        let has_room = self.len.checked_sub(offset).is_some_and(|left| bytes <= left);
        has_room.then_some(()).ok_or(ArenaError::Full { bytes, used: offset, len: self.len })
    }
}

impl Arena {
    /// The beginning of a section, for threads or processes. The section must belong to this protocol alone.
    #[must_use]
    pub fn within(section: Section) -> Self {
        let len = section.len();
        Self::of(Memory::SectionMemory(SectionMemory { section, at: 0, len }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::{RegionPlan, SharedRegion};
    use crate::sync::{AtomicU32, AtomicU64, Ordering};
    use crate::{CacheLine, LINE_BYTES};

    fn section(bytes: u64) -> Section {
        let plan = RegionPlan::new().add("lines", 1, [0; 6], bytes).expect("a plan");
        let region = SharedRegion::memfd(&plan).expect("there is memory");
        region.section(&region.entry("lines").expect("declared"))
    }

    /// Three slices of an arena, of three types.
    fn laid_out(arena: &mut Arena) -> (PlaceSlice<AtomicU32>, PlaceSlice<AtomicU64>, PlaceSlice<CacheLine<AtomicU64>>) {
        let words = arena.slice(3).expect("there is room");
        (words, arena.slice(17).expect("there is room"), arena.slice(1).expect("there is room"))
    }

    #[test]
    fn the_same_order_gives_the_same_values() {
        for mut first in [Arena::heap(), Arena::within(section(512))] {
            let mut second = first.from_start();
            let (mine, theirs) = (laid_out(&mut first), laid_out(&mut second));
            mine.0[2].store(1, Ordering::Relaxed);
            mine.1[16].store(2, Ordering::Relaxed);
            theirs.2[0].store(3, Ordering::Relaxed);
            assert_eq!(theirs.0[2].load(Ordering::Relaxed), 1);
            assert_eq!(theirs.1[16].load(Ordering::Relaxed), 2);
            assert_eq!(mine.2[0].load(Ordering::Relaxed), 3);
            assert_eq!((first.bytes(), second.bytes()), (512, 512), "as large on the heap as in a section");
        }
    }

    #[test]
    fn a_clone_goes_on_where_it_was_made() {
        let mut arena = Arena::heap();
        let first = arena.slice::<AtomicU64>(1).expect("the heap has room");
        let mut clone = arena.clone();
        let (second, same) = (arena.slice::<AtomicU64>(1), clone.slice::<AtomicU64>(1));
        let (second, same) = (second.expect("the heap has room"), same.expect("the heap has room"));
        assert!(std::ptr::eq(&*second, &*same) && !std::ptr::eq(&*first, &*second));
    }

    #[test]
    fn a_section_that_is_used_up_says_so_and_stays_as_it_was() {
        let mut arena = Arena::within(section(4 * LINE_BYTES as u64));
        arena.slice::<AtomicU64>(1).expect("the first half");
        let full = |bytes| Err(ArenaError::Full { bytes, used: 128, len: 256 });
        assert_eq!(arena.slice::<AtomicU64>(17).map(drop), full(17 * 8));
        assert_eq!(arena.slice::<AtomicU64>(usize::MAX).map(drop), full(usize::MAX));
        arena.slice::<AtomicU64>(16).expect("the second half is free still");
    }

    #[test]
    fn a_part_is_a_memory_of_its_own_and_ends_at_its_length() {
        let mut arena = Arena::within(section(512));
        arena.slice::<AtomicU64>(1).expect("the first lines");
        let mut other = arena.clone();
        let (mut mine, mut theirs) = (arena.part(100).expect("room"), other.part(100).expect("room"));
        assert_eq!((mine.bytes(), mine.left(), arena.left()), (0, Some(100), Some(256)));
        let (first, same) = (mine.slice::<AtomicU64>(12), theirs.slice::<AtomicU64>(12));
        assert!(std::ptr::eq(&*first.expect("room"), &*same.expect("room")));
        let full = |bytes| Err(ArenaError::Full { bytes, used: 128, len: 100 });
        assert_eq!(mine.slice::<AtomicU64>(1).map(drop), full(8), "what follows is not of the part");
        arena.slice::<AtomicU64>(32).expect("the rest");
        assert_eq!(arena.part(1).map(drop), Err(ArenaError::Full { bytes: 1, used: 512, len: 512 }));
    }

    #[test]
    fn shared_pieces_are_made_once_on_the_heap_and_by_each_thread_in_a_section() {
        for (mut first, made) in [(Arena::heap(), 1), (Arena::within(section(256)), 2)] {
            let mut second = first.from_start();
            let mut count = 0;
            let mut make = || {
                count += 1;
                count
            };
            let (mine, theirs) = (first.share(&mut make), second.share(&mut make));
            assert_eq!((mine, theirs), (Ok(1), Ok(made)));
            let (mine, theirs) = (first.slice::<AtomicU64>(1), second.slice::<AtomicU64>(1));
            assert!(std::ptr::eq(&*mine.expect("room"), &*theirs.expect("room")), "it takes no bytes");
        }
        assert_eq!(Arena::heap().left(), None);
    }

    #[test]
    fn another_type_or_length_is_refused_and_leaves_the_position() {
        let mut arena = Arena::heap();
        let mut other = arena.from_start();
        arena.slice::<AtomicU64>(2).expect("the heap has room");
        assert_eq!(other.slice::<AtomicU32>(2).map(drop), Err(ArenaError::Different { slice: 0 }));
        assert_eq!(other.slice::<AtomicU64>(3).map(drop), Err(ArenaError::Different { slice: 0 }));
        assert_eq!(other.share(|| 0_u8), Err(ArenaError::Different { slice: 0 }));
        other.slice::<AtomicU64>(2).expect("it is the same one");
    }
}
