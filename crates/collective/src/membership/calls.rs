//! The last calls of each member, read by members that have waited so long that they look for the reason.
//!
//! Every member notes each operation that it begins with one plain store, in lines of its own that no other member reads as
//! long as all goes well. A word holds the number of the operation, the call and the digest of all calls so far. The number
//! tells which operation the word belongs to, so nothing has to be ordered: a reader that finds the word of another
//! operation learns nothing yet and looks again later.
//!
//! Two members are compared in the last operation that both have begun. If their digests differ, the reader looks for the
//! first difference in the remaining log entries. These reach back far enough: a member cannot get far ahead of one that
//! waits for it, as the edges between them fill up first.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, CacheLine, PlaceSlice};

use crate::call::Call;
use crate::stamp::Stamp;

/// The operations that each member's log holds: more than two edges hold messages. The root of broadcasts, if it is a leaf
/// of reductions, can get that far ahead of a member that takes part in neither.
const KEPT: usize = LINES * WORDS;
const LINES: usize = if cfg!(loom) { 1 } else { 8 };
/// The words of a line: two members never write to the same.
const WORDS: usize = if cfg!(loom) { 2 } else { 16 };

/// The logs of all members.
#[derive(Debug)]
pub(crate) struct CallLog {
    /// [`KEPT`] words for each member: that of its n-th operation is n modulo that. Written by the member, read by others that
    /// have waited long. {digest, call, number: 32 low bits}; 0 at first.
    lines: PlaceSlice<CacheLine<[AtomicU64; WORDS]>>,
}

/// How the calls of two members differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// A member made one call where another member, which more members agree with, made a different one.
    Calls {
        /// The member that differs from more of the others; in a tie, the one of the higher rank.
        rank: usize,
        called: Call,
        other: usize,
        expected: Call,
    },
    /// The calls of a member differ, but the first difference is older than the logs.
    Earlier {
        /// Its rank.
        rank: usize,
    },
}

/// A word of a log.
#[derive(Clone, Copy, Debug)]
struct Entry(u64);

const NUMBER_BITS: u32 = 32;
const _: () = assert!(NUMBER_BITS + Call::BITS + Stamp::DIGEST_BITS == u64::BITS);

impl Entry {
    #[inline(always)]
    fn of(number: u64, call: Call, stamp: Stamp) -> Self {
        let digest = u64::from(stamp.digest()) << (NUMBER_BITS + Call::BITS);
        Self(digest | call.word() << NUMBER_BITS | u64::from(number as u32))
    }

    fn number(self) -> u32 {
        self.0 as u32
    }

    fn digest(self) -> u64 {
        self.0 >> (NUMBER_BITS + Call::BITS)
    }

    fn call(self, members: usize) -> Option<Call> {
        Call::of_word(self.0 >> NUMBER_BITS & ((1 << Call::BITS) - 1), members)
    }
}

impl CallLog {
    pub(crate) fn lay_out(arena: &mut Arena, members: usize) -> Result<Self, ArenaError> {
        Ok(Self { lines: arena.slice(members * LINES)? })
    }

    /// Notes that a member begins its `number`-th operation.
    #[inline(always)]
    pub(crate) fn note(&self, rank: usize, number: u64, call: Call, stamp: Stamp) {
        // ORDERING: Relaxed, the word is all there is to say, and tells of which operation it is
        self.word(rank, number).store(Entry::of(number, call, stamp).0, Ordering::Relaxed);
    }

    /// Whether a member has begun its `number`-th operation, as far as its log has been seen.
    pub(crate) fn has_begun(&self, rank: usize, number: u64) -> bool {
        // ORDERING: Relaxed, the word is all there is to read
        let entry = Entry(self.word(rank, number).load(Ordering::Relaxed));
        entry.0 != 0 && entry.number().wrapping_sub(number as u32) as i32 >= 0
    }

    /// How a member's calls differ from those of the member `own`, which has begun `number` operations.
    #[cold]
    pub(crate) fn difference(&self, own: usize, number: u64) -> Option<Difference> {
        (0..self.members()).filter(|&other| other != own).find_map(|other| self.between(own, other, number))
    }

    fn between(&self, own: usize, other: usize, number: u64) -> Option<Difference> {
        let oldest = (number + 1).saturating_sub(KEPT as u64).max(1);
        let both = |number: u64| Some((number, self.entry(own, number)?, self.entry(other, number)?));
        let (newest, mine, theirs) = (oldest..=number).rev().find_map(both)?;
        if mine.digest() == theirs.digest() {
            return None;
        }
        let before = (oldest..newest).rev().map_while(both);
        let differing = before.take_while(|(_, mine, theirs)| mine.digest() != theirs.digest());
        let (first, mine, theirs) = differing.last().unwrap_or((newest, mine, theirs));
        let calls = mine.call(self.members()).zip(theirs.call(self.members()));
        let Some((mine_called, they_called)) = calls.filter(|(mine, theirs)| mine != theirs) else {
            return Some(Difference::Earlier { rank: other });
        };
        let agree = |with: Entry| {
            let entries = (0..self.members()).filter_map(|rank| self.entry(rank, first));
            entries.filter(|entry| entry.digest() == with.digest()).count()
        };
        let (of_mine, of_theirs) = (agree(mine), agree(theirs));
        let is_own = of_mine < of_theirs || of_mine == of_theirs && own > other;
        Some(if is_own {
            Difference::Calls { rank: own, called: mine_called, other, expected: they_called }
        } else {
            Difference::Calls { rank: other, called: they_called, other: own, expected: mine_called }
        })
    }

    /// The note of a member's `number`-th operation, if its log still holds it.
    fn entry(&self, rank: usize, number: u64) -> Option<Entry> {
        // ORDERING: Relaxed, the word is all there is to read
        let entry = Entry(self.word(rank, number).load(Ordering::Relaxed));
        (entry.0 != 0 && entry.number() == number as u32).then_some(entry)
    }

    fn members(&self) -> usize {
        self.lines.len() / LINES
    }

    #[inline(always)]
    fn word(&self, rank: usize, number: u64) -> &AtomicU64 {
        let at = number as usize % KEPT;
        &self.lines[rank * LINES + at / WORDS][at % WORDS]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::call::CallKind;

    /// Notes calls, as the member of this rank makes them.
    fn note(log: &CallLog, rank: usize, calls: &[Call]) {
        let mut stamp = Stamp::default();
        for (&call, number) in calls.iter().zip(1..) {
            stamp = stamp.next(call);
            log.note(rank, number, call, stamp);
        }
    }

    fn log(members: usize) -> CallLog {
        CallLog::lay_out(&mut Arena::heap(), members).expect("the heap has room")
    }

    const BARRIER: Call = Call::of(CallKind::Barrier);
    const ALLREDUCE: Call = Call::of(CallKind::Allreduce);

    #[test]
    fn those_who_call_the_same_do_not_differ_however_far_they_are() {
        let log = log(4);
        let calls: Vec<Call> = (0..1000).map(|n| Call::rooted(CallKind::Broadcast, n % 4)).collect();
        for (rank, done) in [(0, 1000), (1, 950), (2, 300)] {
            note(&log, rank, &calls[..done]);
        }
        for (rank, done) in [(0, 1000), (1, 950), (2, 300), (3, 0)] {
            assert_eq!(log.difference(rank, done), None);
        }
        assert!(log.has_begun(1, 950) && !log.has_begun(1, 951) && !log.has_begun(3, 1));
    }

    #[test]
    fn the_first_difference_is_told_alike_to_both() {
        for before in [0, 1, 127, 128, 500] {
            let log = log(2);
            let mut calls = [vec![BARRIER; before], vec![BARRIER; before]];
            calls[0].extend([ALLREDUCE, BARRIER, BARRIER]);
            calls[1].extend([BARRIER, BARRIER]);
            note(&log, 0, &calls[0]);
            note(&log, 1, &calls[1]);
            let told = Difference::Calls { rank: 1, called: BARRIER, other: 0, expected: ALLREDUCE };
            assert_eq!(log.difference(0, before as u64 + 3), Some(told), "after {before}");
            assert_eq!(log.difference(1, before as u64 + 2), Some(told), "after {before}");
        }
    }

    #[test]
    fn the_one_that_fewer_agree_with_is_named() {
        let log = log(4);
        for rank in [0, 1, 3] {
            note(&log, rank, &[BARRIER, ALLREDUCE]);
        }
        note(&log, 2, &[BARRIER, BARRIER]);
        for own in [0, 1, 3] {
            let told = Difference::Calls { rank: 2, called: BARRIER, other: own, expected: ALLREDUCE };
            assert_eq!(log.difference(own, 2), Some(told));
        }
        let told = Difference::Calls { rank: 2, called: BARRIER, other: 0, expected: ALLREDUCE };
        assert_eq!(log.difference(2, 2), Some(told));
    }

    #[test]
    fn a_difference_of_long_ago_is_told_as_one() {
        let log = log(2);
        let mut calls = [vec![BARRIER; 300], vec![BARRIER; 300]];
        calls[1][7] = ALLREDUCE;
        note(&log, 0, &calls[0]);
        note(&log, 1, &calls[1]);
        assert_eq!(log.difference(0, 300), Some(Difference::Earlier { rank: 1 }));
    }

    #[test]
    fn a_word_that_no_member_writes_is_no_call() {
        let log = log(2);
        note(&log, 0, &[BARRIER]);
        log.word(1, 1).store(31 << NUMBER_BITS | 1, Ordering::Relaxed);
        assert_eq!(log.difference(0, 1), Some(Difference::Earlier { rank: 1 }));
    }
}
