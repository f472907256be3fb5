//! The division of values among the members, each of which combines its part for all.

use std::ops::Range;

/// Parts begin with lines, where values lie evenly in them: no two members write or read half of one.
const LINE_BYTES: usize = 64;

/// The places of those of `len` values that the member of this rank combines.
pub(super) fn part<T>(len: usize, rank: usize, members: usize) -> Range<usize> {
    let line = (LINE_BYTES / size_of::<T>().max(1)).max(1);
    let each = len.div_ceil(members).next_multiple_of(line);
    let place = |rank: usize| len.min(rank * each);
    place(rank)..place(rank + 1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_lines_and_make_up_the_values() {
        for (members, len) in [(1, 0), (2, 1), (3, 24), (3, 25), (8, 1000), (9, 8192), (9, 3)] {
            let parts: Vec<Range<usize>> = (0..members).map(|rank| part::<u64>(len, rank, members)).collect();
            assert!(parts.iter().all(|part| part.is_empty() || part.start % 8 == 0), "{parts:?}");
            let all: Vec<usize> = parts.into_iter().flatten().collect();
            assert_eq!(all, (0..len).collect::<Vec<_>>(), "{len} of {members}");
        }
    }
}
