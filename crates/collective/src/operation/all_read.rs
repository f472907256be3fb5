//! Memory in which a few members show one value each to all others: allreduces and allgathers of values use it instead of trees.
//!
//! Every member has two slots, which it uses in turn. It writes its value into one of them, with the type's signature, and
//! announces it; once all have, every member reads all values and combines them. That is one transfer, where trees need one
//! to the root and one back.
//!
//! The announcement depends on whether members share CPUs. If each has its own, the stamp of the operation in the slot says
//! that the value is there, and every member looks at all slots. If they take turns on a CPU, each look at a member that
//! has not come yet could cost a switch of threads. Then every member takes a [ticket](crate::barrier::Ticket), and the
//! last one wakes all.
//!
//! There are no acknowledgements. A member shows its next value after it has read the current ones. So a member that has
//! read the next value of all others knows that none of them still reads the values before, and overwrites those next.
//! Values that are too long for a slot are not written, but their types are: so members that differ find out before any of
//! them takes another way.
//!
//! **When to take it:** all members need the values of all others, and there are few of them. **When not:** only one gives
//! or one gets; or there are many, as each member reads what all others wrote.
//!
//! **Progress:** blocking. **Memory ordering:** each member sees what every other one wrote before it showed its value.
//! **Source:** the gathering of all values at all members that MPI calls allgather, here in shared memory; the tickets are
//! those of the [barrier](crate::barrier::Ticket).
//!
//! Every access is atomic, so that a misbehaving process can cause wrong values and nothing worse.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, PlaceSlice};
use corecast_channel::{Bytes, BytesMut, Plain};

use super::reduce::{bracketed, pairwise};
use crate::barrier::Ticket;
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::link::LastType;
use crate::membership::Site;

/// The largest number of members for which there is memory.
pub(crate) const MOST_MEMBERS: usize = 16;
/// The largest number of members that read each other's values before a race, if each has a CPU. No available machine could
/// try more than two.
const MOST_UNRACED: usize = if cfg!(loom) { 2 } else { 8 };
/// The longest value that is shown: that of one message of an edge.
const VALUE_BYTES: usize = if cfg!(loom) { 8 } else { 504 };

/// The words of a slot before its value: the stamp of the operation, and the signature of the value's type.
const STAMP: usize = 0;
const TYPE: usize = 1;
const HEAD_WORDS: usize = 2;
/// Slots begin with lines.
const SLOT_WORDS: usize =
    (HEAD_WORDS + VALUE_BYTES / size_of::<u64>()).next_multiple_of(if cfg!(loom) { 1 } else { 16 });
const SLOTS: usize = 2;

/// True if members are few enough to do so before they have raced; those that share CPUs never race.
pub(crate) fn suits(members: usize, is_crowded: bool) -> bool {
    (2..=if is_crowded { MOST_MEMBERS } else { MOST_UNRACED }).contains(&members)
}

/// One member's view of the slots of all.
#[derive(Debug)]
pub(crate) struct AllRead {
    words: PlaceSlice<AtomicU64>,
    /// The tickets, where members share CPUs.
    tickets: Option<Ticket>,
    rank: usize,
    members: usize,
    /// Values shown so far. Between two of them the number is the same at all members.
    shown: u64,
    last: LastType,
}

/// The progress of one operation at one member.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    is_shown: bool,
    /// The number of members, in rank order, whose values are known to be there.
    heard: usize,
}

impl AllRead {
    /// Lays out the slots of all members and returns the view of the member at `site`; `None` if there are too many
    /// members.
    pub(crate) fn lay_out(members: usize, is_crowded: bool, site: &mut Site) -> Result<Option<Self>, ArenaError> {
        if !(2..=MOST_MEMBERS).contains(&members) {
            return Ok(None);
        }
        let words = site.arena.slice(members * SLOTS * SLOT_WORDS)?;
        let tickets = is_crowded.then(|| Ticket::among(members, site)).transpose()?;
        Ok(Some(Self { words, tickets, rank: site.rank, members, shown: 0, last: LastType::default() }))
    }

    /// The combination of all members' values, the same bits at all of them; `None` if the values are too long, or are not to
    /// be shown, on which all members of one type agree. If a wait ends at a limit, another call goes on where it ended.
    #[inline]
    pub(crate) fn go_on<T: Plain>(
        &mut self,
        core: &mut Core,
        value: &T,
        is_to_be_shown: bool,
        reading: &mut Reading,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        let mut values = [*value; MOST_MEMBERS];
        let values = &mut values[..self.members];
        if !self.gather(core, value, is_to_be_shown, reading, values)? {
            return Ok(None);
        }
        bracketed(values, 1, &mut pairwise(combine));
        Ok(Some(values[0]))
    }

    /// Brings all members' values to `all`, by rank; false if the values are too long, or are not to be shown, on which all
    /// members of one type agree. If a wait ends at a limit, another call goes on where it ended.
    #[inline]
    pub(crate) fn gather<T: Plain>(
        &mut self,
        core: &mut Core,
        value: &T,
        is_to_be_shown: bool,
        Reading { is_shown, heard }: &mut Reading,
        all: &mut [T],
    ) -> Result<bool, Error> {
        if !*is_shown {
            *is_shown = true;
            self.show(core, value);
        }
        self.wait(core, heard)?;
        self.compare::<T>(core)?;
        if size_of::<T>() > VALUE_BYTES || !is_to_be_shown {
            return Ok(false);
        }
        for (rank, theirs) in all.iter_mut().enumerate() {
            if rank == self.rank {
                *theirs = *value;
            } else {
                let words = &self.slot(rank)[HEAD_WORDS..];
                Bytes::shared(words, size_of::<T>()).read_values_at(0, std::slice::from_mut(theirs));
            }
        }
        Ok(true)
    }

    fn show<T: Plain>(&mut self, core: &Core, value: &T) {
        self.shown += 1;
        let signature = self.last.signature::<T>();
        let (head, words) = self.slot(self.rank).split_at(HEAD_WORDS);
        // ORDERING: Relaxed, made visible by the stamp, or by the ticket
        head[TYPE].store(signature, Ordering::Relaxed);
        if size_of::<T>() <= VALUE_BYTES {
            BytesMut::shared(words, size_of::<T>()).write_values(std::slice::from_ref(value));
        }
        // ORDERING: Release, pairs with the Acquire in wait at the others: the value is there, and those before the ones at
        // hand have been read [all-read]
        head[STAMP].store(core.stamp.word(), Ordering::Release);
        if self.tickets.is_none() {
            core.table.common.notify();
        }
    }

    /// Waits until the values of all members are there.
    fn wait(&mut self, core: &mut Core, heard: &mut usize) -> Result<(), Error> {
        if let Some(tickets) = &mut self.tickets {
            return tickets.meet(core);
        }
        let stamp = core.stamp.word();
        core.wait_at_common_word(|| {
            // ORDERING: Acquire, pairs with the Release in show at that member [all-read]
            while *heard < self.members && self.slot(*heard)[STAMP].load(Ordering::Acquire) == stamp {
                *heard += 1;
            }
            (*heard == self.members).then_some(())
        })
    }

    /// Makes the group fail if another member has shown a value of another type than this one, or in another operation.
    fn compare<T: Plain>(&mut self, core: &mut Core) -> Result<(), Error> {
        let (stamp, signature) = (core.stamp.word(), self.last.signature::<T>());
        for rank in 0..self.members {
            let head = self.slot(rank);
            // ORDERING: Relaxed, the word that announced the value has been acquired
            if head[STAMP].load(Ordering::Relaxed) != stamp {
                return Err(core.mismatched(rank));
            }
            // ORDERING: Relaxed, as the line before
            if head[TYPE].load(Ordering::Relaxed) != signature {
                return Err(core.fail(rank, Loss::Mismatched));
            }
        }
        Ok(())
    }

    /// A member's slot for the value shown last.
    fn slot(&self, rank: usize) -> &[AtomicU64] {
        let first = (rank * SLOTS + (self.shown % SLOTS as u64) as usize) * SLOT_WORDS;
        &self.words[first..first + SLOT_WORDS]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::call::{Call, CallKind};
    use crate::membership::tests::sites;
    use crate::operation::tests;

    /// Runs `body` as every member, on a thread each; returns the results by rank.
    fn run<R: Send>(
        members: usize,
        is_crowded: bool,
        body: impl Fn(usize, &mut Core, &mut AllRead) -> R + Sync,
    ) -> Vec<R> {
        let slots = |site: &mut Site| {
            let slots = AllRead::lay_out(members, is_crowded, site).expect("the heap has room");
            slots.expect("they are few")
        };
        tests::run(members, slots, body)
    }

    fn allreduce<T: Plain>(
        core: &mut Core,
        slots: &mut AllRead,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        core.begin(Call::of(CallKind::Allreduce))?;
        slots.go_on(core, &value, true, &mut Reading::default(), combine)
    }

    const KINDS: [(usize, bool); 9] =
        [(2, false), (3, false), (5, false), (8, false), (2, true), (3, true), (5, true), (8, true), (16, true)];

    #[test]
    fn each_value_counts_once_in_rank_order_and_none_is_of_another_round() {
        for (members, is_crowded) in KINDS {
            let results = run(members, is_crowded, |rank, core, slots| {
                for round in 0..500u64 {
                    // Associative only: the first of the first operand, and the last of the second.
                    let ends = allreduce(core, slots, [[round, rank as u64]; 2], |a, b| [a[0], b[1]])?;
                    assert_eq!(ends, Some([[round, 0], [round, members as u64 - 1]]));
                    let bits = allreduce(core, slots, 1u128 << (8 * rank), |a, b| a + b)?;
                    assert_eq!(bits, Some((0..members).map(|rank| 1u128 << (8 * rank)).sum()));
                    let longest = allreduce(core, slots, [round; 63], |a, b| std::array::from_fn(|i| a[i] + b[i]))?;
                    assert_eq!(longest, Some([round * members as u64; 63]));
                    assert_eq!(allreduce(core, slots, [round; 64], |a, _| a)?, None, "too long");
                }
                Ok::<_, Error>(())
            });
            assert_eq!(results, vec![Ok(()); members], "{members}, crowded: {is_crowded}");
        }
    }

    #[test]
    fn another_type_is_found_by_all() {
        for (members, is_crowded) in KINDS {
            let results = run(members, is_crowded, |rank, core, slots| {
                if rank == 1 {
                    allreduce(core, slots, [0u8; 1000], |a, _| a).map(drop)
                } else {
                    allreduce(core, slots, 0u8, |a, _| a).map(drop)
                }
            });
            let mut losses = results.into_iter().map(|result| result.expect_err("they gave different types"));
            assert!(losses.all(|error| matches!(error, Error::MemberLost { loss: Loss::Mismatched, .. })));
        }
    }

    #[test]
    fn more_are_too_many() {
        for (members, is_crowded, suits) in
            [(1, false, false), (16, false, true), (17, false, false), (17, true, false)]
        {
            let mut site = sites(members).next().expect("the first");
            let slots = AllRead::lay_out(members, is_crowded, &mut site).expect("the heap has room");
            assert_eq!(slots.is_some(), suits, "{members}");
        }
    }
}
