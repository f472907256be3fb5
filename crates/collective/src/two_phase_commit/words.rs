//! The words that all members of a commit share.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{CacheLine, Place, PlaceSlice};
use corecast_channel::ump::any::{Rings, rings as any_rings};

use super::areas::{AREAS, Areas};
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::link::EDGE_SLOTS;

/// Proposals whose decisions stand.
pub(super) const WINDOW: u64 = if cfg!(loom) { 1 } else { 64 };

const UNDECIDED: u64 = 0;
pub(super) const COMMIT: u64 = 1;
pub(super) const ABORT: u64 = 2;

/// The vote of a participant that takes no further part.
pub(super) const GONE: u64 = u64::MAX;

/// The words, on a line for each member or proposal, and the areas of long proposals.
#[derive(Debug)]
pub(super) struct Words {
    /// The proposal on the way to each participant: its number, its number of values, and its area. Written by the coordinator
    /// before it sends one, read by the participant.
    sent: PlaceSlice<CacheLine<[AtomicU64; 3]>>,
    /// `sequence << 2 | state`, in the slot `sequence % WINDOW`. Opened by the coordinator, decided once by any member.
    decisions: PlaceSlice<CacheLine<AtomicU64>>,
    /// `sequence << 1 | yes`, or [`GONE`]. Written by each participant, read by the coordinator.
    votes: PlaceSlice<CacheLine<AtomicU64>>,
    /// The last proposal that a participant has finished. Written by each, read by the coordinator before a slot is used
    /// again.
    done: PlaceSlice<CacheLine<AtomicU64>>,
    /// The longest proposal in bytes. Written by the coordinator when it opens, read by participants.
    longest: Place<CacheLine<AtomicU64>>,
    pub(super) areas: Areas,
}

/// A proposal as its participants find it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heading {
    pub(super) sequence: u64,
    /// The number of its values.
    pub(super) values: usize,
    /// Its area, if it is too long for a message.
    pub(super) area: usize,
}

impl Words {
    /// The rings to each member, and the words for proposals of up to `longest_bytes`.
    pub(super) fn lay_out(core: &mut Core, longest_bytes: usize) -> Result<(Rings, Self), Error> {
        let members = core.members;
        core.lay_out(|arena| {
            let rings = any_rings(arena, members, EDGE_SLOTS)?;
            let (sent, decisions) = (arena.slice(members)?, arena.slice(WINDOW as usize)?);
            let (votes, done, longest) = (arena.slice(members)?, arena.slice(members)?, arena.place()?);
            // They come last: members that mean other lengths find that out by the words before them.
            let areas = Areas::lay_out(arena, longest_bytes)?;
            Ok((rings, Self { sent, decisions, votes, done, longest, areas }))
        })
    }

    /// Notes the longest proposal of the coordinator.
    pub(super) fn set_longest(&self, bytes: usize) {
        // ORDERING: Relaxed, released with the first proposal, or with the end of the edges
        self.longest.store(bytes as u64, Ordering::Relaxed);
    }

    /// Makes the group fail if the coordinator's longest proposal is not this long.
    #[inline(always)]
    pub(super) fn check_longest(&self, core: &mut Core, coordinator: usize, bytes: usize) -> Result<(), Error> {
        // ORDERING: Relaxed, acquired with a proposal, or with the end of the edge
        let is_same = self.longest.load(Ordering::Relaxed) == bytes as u64;
        if is_same { Ok(()) } else { Err(core.fail(coordinator, Loss::OtherLength)) }
    }

    /// Notes the proposal that a participant is about to be sent.
    pub(super) fn announce(&self, rank: usize, heading: Heading) {
        let Heading { sequence, values, area } = heading;
        for (word, value) in self.sent[rank].iter().zip([sequence, values as u64, area as u64]) {
            // ORDERING: Relaxed, released with the proposal; the participant has voted, so it has read the last ones
            word.store(value, Ordering::Relaxed);
        }
    }

    /// The proposal that a participant has just been sent. Among processes, another program may have written anything.
    pub(super) fn announced(&self, rank: usize) -> Heading {
        // ORDERING: Relaxed, acquired with the proposal; written again only after this participant's vote
        let [sequence, values, area] = self.sent[rank].each_ref().map(|word| word.load(Ordering::Relaxed));
        Heading {
            sequence,
            values: usize::try_from(values).unwrap_or(usize::MAX),
            area: if area == 0 { 0 } else { AREAS - 1 },
        }
    }

    fn decision(&self, sequence: u64) -> &AtomicU64 {
        &self.decisions[sequence as usize % self.decisions.len()]
    }

    pub(super) fn open(&self, sequence: u64) {
        // ORDERING: Relaxed, released to each participant with the proposal
        self.decision(sequence).store(sequence << 2 | UNDECIDED, Ordering::Relaxed);
    }

    /// Decides, unless another member has; true if the standing decision is to commit.
    pub(super) fn decide(&self, sequence: u64, state: u64) -> bool {
        let (open, wanted) = (sequence << 2 | UNDECIDED, sequence << 2 | state);
        // ORDERING: Release, pairs with the Acquire in decided: votes and what was written before them. Relaxed, a failure
        // says only that another one aborted [decision]
        let stands = self.decision(sequence).compare_exchange(open, wanted, Ordering::Release, Ordering::Relaxed);
        stands.map_or_else(|stands| stands, |_| wanted) == sequence << 2 | COMMIT
    }

    /// Whether a proposal is committed; `None` while it is undecided.
    pub(super) fn decided(&self, sequence: u64) -> Option<bool> {
        // ORDERING: Acquire, pairs with the Release in decide [decision]
        match self.decision(sequence).load(Ordering::Acquire) & 3 {
            UNDECIDED => None,
            state => Some(state == COMMIT),
        }
    }

    /// Aborts a proposal that is undecided; true if it was committed before.
    #[cold]
    pub(super) fn abort(&self, sequence: u64) -> bool {
        let _ = self.decide(sequence, ABORT);
        self.decided(sequence) == Some(true)
    }

    /// The last vote of a participant.
    pub(super) fn vote(&self, rank: usize) -> u64 {
        // ORDERING: Acquire, pairs with the Release in set_vote: its writes before it voted [vote]
        self.votes[rank].load(Ordering::Acquire)
    }

    /// Votes, or takes no further part. The participant does not read the proposal any more.
    pub(super) fn set_vote(&self, rank: usize, vote: u64) {
        // ORDERING: Release, pairs with the Acquire in vote at the coordinator [vote]
        self.votes[rank].store(vote, Ordering::Release);
    }

    /// The last proposal that a participant has finished.
    pub(super) fn done(&self, rank: usize) -> u64 {
        // ORDERING: Relaxed, written after the decision was acquired, and the slot is overwritten only because of it
        self.done[rank].load(Ordering::Relaxed)
    }

    pub(super) fn set_done(&self, rank: usize, sequence: u64) {
        // ORDERING: Relaxed, says only that the slot is not read any more, by a load that acquired it
        self.done[rank].store(sequence, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::membership::tests::sites;
    use corecast_base::wait::{CpuSharing, Wait, Waiter};

    #[test]
    fn the_first_decision_stands() {
        let site = sites(2).next().expect("the first of two");
        let waiter = Waiter::new(Wait::Adaptive, CpuSharing::unpinned(2), None);
        let mut core = Core::new(site.rank, 2, waiter, site.table, site.arena);
        let (_, words) = Words::lay_out(&mut core, 8).expect("the heap has room");
        for sequence in [1, 1 + WINDOW] {
            words.open(sequence);
            assert_eq!(words.decided(sequence), None);
            assert!(!words.abort(sequence), "a survivor aborts what is open");
            assert!(!words.decide(sequence, COMMIT), "and the coordinator finds itself refused");
            words.open(sequence + 1);
            assert!(words.decide(sequence + 1, COMMIT));
            assert!(words.abort(sequence + 1), "a survivor that is late obeys");
            assert_eq!((words.decided(sequence), words.decided(sequence + 1)), (Some(false), Some(true)));
        }
    }
}
