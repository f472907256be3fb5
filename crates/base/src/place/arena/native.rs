//! A section of a region, given out from its beginning.

use super::{Arena, ArenaError, Memory};
use crate::place::{PlaceSlice, Shareable};
use crate::region::{Section, SectionError};

/// What slices are carved from.
#[derive(Debug, Clone)]
pub(super) struct Carved(Section);

impl Carved {
    /// `len` values from `offset` on, a multiple of their alignment.
    pub(super) fn slice<T: Shareable>(&self, offset: usize, len: usize) -> Result<PlaceSlice<T>, ArenaError> {
        self.0.slice(offset, len).map_err(|error| match error {
            SectionError::Outside { offset, bytes, len } => ArenaError::Full { bytes, used: offset, len },
            SectionError::Forked(_) => ArenaError::Forked,
            SectionError::Unaligned { .. } => unreachable!("sections and slices begin at multiples of 128 bytes"),
        })
    }
}

impl Arena {
    /// The beginning of a section, for threads or processes. Whoever lays it out must be alone with it: it is one
    /// protocol's.
    #[must_use]
    pub fn within(section: Section) -> Self {
        Self::of(Memory::Carved(Carved(section)))
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

    /// Three slices of an arena, each of another type.
    fn laid_out(arena: &mut Arena) -> (PlaceSlice<AtomicU32>, PlaceSlice<AtomicU64>, PlaceSlice<CacheLine<AtomicU64>>) {
        let words = arena.slice(3).expect("there is room");
        (words, arena.slice(17).expect("there is room"), arena.slice(1).expect("there is room"))
    }

    #[test]
    fn all_who_ask_in_the_same_order_get_the_same_values() {
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
    #[should_panic(expected = "all must lay out the same slices in the same order")]
    fn another_type_breaks_the_rule() {
        let mut arena = Arena::heap();
        let mut other = arena.from_start();
        arena.slice::<AtomicU64>(2).expect("the heap has room");
        let _ = other.slice::<AtomicU32>(2);
    }

    #[test]
    #[should_panic(expected = "slice 0 has 2 values of")]
    fn another_length_breaks_the_rule() {
        let mut arena = Arena::heap();
        let mut other = arena.from_start();
        arena.slice::<AtomicU64>(2).expect("the heap has room");
        let _ = other.slice::<AtomicU64>(3);
    }
}
