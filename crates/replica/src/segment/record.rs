//! A few words that one thread writes, and that others read whole or not at all.
//!
//! ```text
//! stamp u64: BUSY 1 | ERASED 1 | version 8 | number 54      then the body
//! write      stamp = BUSY | n; release fence; body; stamp = n (Release)
//! read       stamp; acquire fence; BUSY: not now; copy the body; acquire fence; the stamp again: the same, or not now
//! ```
//! A number is never 0, so that zeroed memory holds no record. The version tells two bodies with one number apart: a writer
//! that put another body under the same number would else not be noticed by a reader that fell asleep between two words.
//!
//! A reader never waits, and may be told to come again for as long as the writer writes. A writer never waits. A writer that
//! is killed inside leaves BUSY.

use corecast_base::sync::{AtomicU64, Ordering, fence};

use super::words::ReadWords;

const BUSY: u64 = 1 << 63;
const ERASED: u64 = 1 << 62;
const VERSION: u32 = 54;
const VERSIONS: u64 = 0xff;
const NUMBERS: u64 = (1 << VERSION) - 1;

/// A word that differs where the bits of a stamp mean something else.
pub(super) const BITS: u64 = BUSY | ERASED | VERSION as u64;

/// A record as a reader found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found<const N: usize> {
    /// Nothing was ever written.
    Empty,
    /// The record with this number is being written, or was erased.
    Unreadable {
        /// The number.
        number: u64,
        /// False while it is being written.
        is_erased: bool,
    },
    /// The record with this number.
    Whole {
        /// The number.
        number: u64,
        /// The body.
        body: [u64; N],
    },
}

/// Writes record `number`, 1 to 2^54 - 1. Only one thread writes these words.
#[inline]
pub(super) fn write<const N: usize>(words: &[AtomicU64], number: u64, body: &[u64; N]) {
    debug_assert!(number != 0 && number <= NUMBERS, "a record is numbered from 1 to 2^54 - 1");
    // ORDERING: Relaxed, only this thread writes it
    let before = words[0].load(Ordering::Relaxed);
    let version = (before >> VERSION).wrapping_add(1) & VERSIONS;
    let after = version << VERSION | number;
    // ORDERING: Relaxed, the fence orders it before the body
    words[0].store(after | BUSY, Ordering::Relaxed);
    // ORDERING: Release, pairs with the fence behind the copy in read: a word of this body brings the stamp [record-begin]
    fence(Ordering::Release);
    for (word, &value) in words[1..=N].iter().zip(body) {
        // ORDERING: Relaxed, ordered by the stamp before and behind it
        word.store(value, Ordering::Relaxed);
    }
    // ORDERING: Release, pairs with the fence behind the first stamp in read [record]
    words[0].store(after, Ordering::Release);
}

/// Takes record `number` back, if it is there.
pub(super) fn erase(words: &[AtomicU64], number: u64) {
    // ORDERING: Relaxed, only this thread writes it
    let before = words[0].load(Ordering::Relaxed);
    if before & NUMBERS == number {
        // ORDERING: Relaxed, the body stays: a reader that misses this reads what was there before
        words[0].store(before | ERASED, Ordering::Relaxed);
    }
}

/// The body that the owner itself wrote as record `number`; `None` if it did not, or erased it.
#[inline]
pub(super) fn own<const N: usize>(words: &[AtomicU64], number: u64) -> Option<[u64; N]> {
    // ORDERING: Relaxed, only this thread writes these words
    let load = |at: usize| words[at].load(Ordering::Relaxed);
    (load(0) & !(VERSIONS << VERSION) == number).then(|| std::array::from_fn(|at| load(at + 1)))
}

/// Reads the record at `at`. The words may be anything: the caller checks number and body.
#[inline]
pub(super) fn read<const N: usize>(words: &ReadWords, at: usize) -> Found<N> {
    let stamp = words.load(at);
    // ORDERING: Acquire, pairs with the last store in write: this stamp brings its body [record]
    fence(Ordering::Acquire);
    if stamp & (BUSY | ERASED) != 0 || stamp == 0 {
        return unreadable(stamp);
    }
    let body = words.read::<N>(at + 1);
    // ORDERING: Acquire, pairs with the fence in write: a word of a later body brings its stamp [record-begin]
    fence(Ordering::Acquire);
    let again = words.load(at);
    if again == stamp { Found::Whole { number: stamp & NUMBERS, body } } else { unreadable(again) }
}

#[cold]
fn unreadable<const N: usize>(stamp: u64) -> Found<N> {
    let is_erased = stamp & (BUSY | ERASED) == ERASED;
    if stamp == 0 { Found::Empty } else { Found::Unreadable { number: stamp & NUMBERS, is_erased } }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use corecast_base::PlaceSlice;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let words = PlaceSlice::<AtomicU64>::zeroed(4);
        let reader = ReadWords::from(&words);
        assert_eq!(read::<3>(&reader, 0), Found::Empty);
        for (number, body) in [(1, [1, 2, 3]), (7, [4, 5, 6]), (7, [0, 0, 0]), (NUMBERS, [u64::MAX; 3])] {
            write(&words, number, &body);
            assert_eq!(read(&reader, 0), Found::Whole { number, body });
            assert_eq!((own(&words, number), own::<3>(&words, number - 1)), (Some(body), None));
        }
        erase(&words, 5);
        assert!(matches!(read::<3>(&reader, 0), Found::Whole { .. }), "it is another record");
        erase(&words, NUMBERS);
        assert_eq!(read::<3>(&reader, 0), Found::Unreadable { number: NUMBERS, is_erased: true });
        assert_eq!(own::<3>(&words, NUMBERS), None);
        words[0].store(3 | BUSY, Ordering::Relaxed);
        assert_eq!(read::<3>(&reader, 0), Found::Unreadable { number: 3, is_erased: false });
    }

    #[test]
    fn a_record_under_the_same_number_has_another_stamp() {
        let words = PlaceSlice::<AtomicU64>::zeroed(2);
        let stamps: std::collections::BTreeSet<u64> = (0..256)
            .map(|value| {
                write(&words, 1, &[value]);
                words[0].load(Ordering::Relaxed)
            })
            .collect();
        assert_eq!(stamps.len(), 256);
    }
}
