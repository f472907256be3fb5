//! The stamp of an operation: its number, and a digest of all calls of the member so far.
//!
//! Members that call the same operations with the same roots in the same order have the same stamps. Everything that a
//! member tells another in an operation carries the stamp: the words of barriers all of it, the headers of messages the
//! digest. A member accepts nothing with a stamp other than its own. So an operation that another member did not call is
//! neither completed nor given a value, nor is any later one, as the digest keeps the difference.
//!
//! The digest takes another value for each operation and root (roots 256 apart share one), whatever was called before; and
//! digests that differ stay different as long as both members call the same. An operation that is called again and again
//! has another digest each time, for 16384 times.

use crate::call::Call;

/// {digest: 14 high bits, number: 50}. A number repeats after 208 days of one operation every 16 ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

const NUMBER_BITS: u32 = 50;
const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;
/// The low bits of a share, in which members are counted.
const COUNT_BITS: u32 = 13;
const _: () = assert!(crate::MAX_MEMBERS < 1 << COUNT_BITS);
/// Of the form 4 k + 1, which makes the sequence reach all values.
const FACTOR: u64 = 5;

impl Stamp {
    /// The bits of a digest.
    pub(crate) const DIGEST_BITS: u32 = u64::BITS - NUMBER_BITS;

    /// The digest of the next operation.
    #[inline(always)]
    pub(crate) fn next(self, call: Call) -> Self {
        let digest = (self.0 & !NUMBERS).wrapping_mul(FACTOR).wrapping_add((2 * call.word() + 1) << NUMBER_BITS);
        Self(digest | (self.0.wrapping_add(1) & NUMBERS))
    }

    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) fn digest(self) -> u16 {
        (self.0 >> NUMBER_BITS) as u16
    }

    /// The share that a member adds to a sum; the member that finds the sum of all shares knows that all have come. A share
    /// is one in its low bits, so that only the last member can find that sum; its other bits are a hash of the stamp, so
    /// that members with different stamps make another sum.
    #[inline(always)]
    pub(crate) fn share(self) -> u64 {
        mixed(self.0) << COUNT_BITS | 1
    }
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
#[inline(always)]
fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::call::CallKind;

    #[test]
    fn another_call_has_another_digest_and_so_have_all_that_follow() {
        let calls: Vec<Call> = [CallKind::Barrier, CallKind::Allreduce, CallKind::Race].map(Call::of).into();
        let rooted = (0..254).flat_map(|root| {
            [CallKind::Broadcast, CallKind::Reduce, CallKind::ScatterSlice].map(|kind| Call::rooted(kind, root))
        });
        let calls: Vec<Call> = calls.into_iter().chain(rooted).collect();
        let mut random = fastrand::Rng::with_seed(0x5eed_0007);
        let mut before = Stamp::default();
        for _ in 0..100 {
            before = before.next(calls[random.usize(0..calls.len())]);
            let digests: HashSet<u16> = calls.iter().map(|&call| before.next(call).digest()).collect();
            assert_eq!(digests.len(), calls.len());
            let (mut mine, mut theirs) = (before.next(calls[0]), before.next(calls[5]));
            for _ in 0..100 {
                assert!(mine.digest() != theirs.digest() && mine.word() & NUMBERS == theirs.word() & NUMBERS);
                let call = calls[random.usize(0..calls.len())];
                (mine, theirs) = (mine.next(call), theirs.next(call));
            }
        }
    }

    #[test]
    fn one_call_over_and_over_has_many_digests() {
        for call in [Call::of(CallKind::Barrier), Call::rooted(CallKind::Broadcast, 7)] {
            let stamps = std::iter::successors(Some(Stamp::default()), |stamp| Some(stamp.next(call)));
            let digests: HashSet<u16> = stamps.take(1 << Stamp::DIGEST_BITS).map(Stamp::digest).collect();
            assert_eq!(digests.len(), 1 << Stamp::DIGEST_BITS);
        }
    }

    /// The digests of the two differ by 2048, eight times which is 0 in 14 bits.
    #[test]
    fn shares_of_members_that_differ_make_no_sum_of_all() {
        let rooted = |root| Call::rooted(CallKind::Broadcast, root);
        let after = |roots: [usize; 2]| roots.iter().fold(Stamp::default(), |stamp, &root| stamp.next(rooted(root)));
        let barrier = Call::of(CallKind::Barrier);
        let (mine, theirs) = (after([0, 0]).next(barrier), after([5, 7]).next(barrier));
        assert_ne!(mine.digest(), theirs.digest());
        for members in [2, 3, 5, 9, 17, 100, crate::MAX_MEMBERS as u64] {
            let sum = |others: u64| {
                let mine = (members - others).wrapping_mul(mine.share());
                mine.wrapping_add(others.wrapping_mul(theirs.share()))
            };
            assert!((1..members).all(|others| sum(others) != sum(0) && sum(others) != sum(members)), "{members}");
        }
    }

    #[test]
    fn numbers_begin_again_and_leave_the_digest_alone() {
        let last = Stamp(NUMBERS);
        assert_eq!(last.next(Call::of(CallKind::Barrier)), Stamp(3 << NUMBER_BITS));
    }
}
