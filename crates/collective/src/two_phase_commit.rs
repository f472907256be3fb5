//! Two-phase commit: one member proposes, all vote, and the proposal is applied by all or by none.
//!
//! **When to take it:** every member may refuse, and none may apply a proposal that another one refused. **When not:** no
//! member ever refuses; then a broadcast is enough. To survive crashes of the coordinator's machine takes a log, which this
//! is not.
//!
//! The proposal goes to each participant over an edge of its own, votes come back as words on lines of their own, and the
//! outcome is one **decision word** per proposal: `sequence << 2 | state`. The coordinator writes it undecided before any
//! participant can see the proposal, and changes it to COMMIT or ABORT by one compare-and-exchange; if that fails, the
//! word's decision stands. It aborts after a NO, when the time is up, or when the group fails before all have voted. A
//! participant that waits for the decision while the group fails changes an undecided word to ABORT itself and obeys the
//! word. So a coordinator that is gone blocks no member, and one that was suspected wrongly only finds that its commit was
//! refused. A member lost after its YES changes nothing.
//!
//! Every participant sees every proposal, also those that another one has refused, unless the time is up before: a
//! participant gets the next proposal only after its vote on the one before. Nothing is ever reset. The words of the last
//! 64 proposals stand, so a participant may be that many behind.
//!
//! **Progress:** blocking. **Memory ordering:** a member that applies a proposal sees what every member wrote before it
//! voted for it.
//!
//! Source: J. Gray, Notes on Data Base Operating Systems, 1978; the decision word is ours.
//!
//! ```
//! use std::time::Duration;
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! group.run(|me| {
//!     if me.rank() == 0 {
//!         let mut coordinator = me.coordinator::<u64>()?;
//!         assert_eq!(coordinator.commit(&6, Duration::MAX), Ok(true));
//!         assert_eq!(coordinator.commit(&7, Duration::MAX), Ok(false));
//!     } else {
//!         let mut participant = me.participant::<u64>(0)?;
//!         while participant.serve(|number| number % 2 == 0, |number, is_commit| assert_eq!(is_commit, *number == 6))? {}
//!     }
//!     Ok::<_, corecast_collective::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{CacheLine, Clock, PlaceSlice};
use corecast_channel::Plain;
use corecast_channel::ump::any::{Receiver as AnyReceiver, Rings, Sender as AnySender, rings as any_rings};

use crate::call::{Call, CallKind};
use crate::core::{Core, NEVER, NOW};
use crate::error::Error;
use crate::link::{EDGE_SLOTS, check_one_message};
use crate::member::Member;

/// Proposals whose decisions stand.
const WINDOW: u64 = if cfg!(loom) { 1 } else { 64 };

const UNDECIDED: u64 = 0;
const COMMIT: u64 = 1;
const ABORT: u64 = 2;

/// The words that all members share, a line each.
#[derive(Debug)]
struct Words {
    /// The number of the proposal on the way to each participant. Written by the coordinator before it sends one.
    sent: PlaceSlice<CacheLine<AtomicU64>>,
    /// `sequence << 2 | state`, in the slot `sequence % WINDOW`. Opened by the coordinator, decided once by any member.
    decisions: PlaceSlice<CacheLine<AtomicU64>>,
    /// `sequence << 1 | yes`, or [`GONE`]. Written by each participant, read by the coordinator.
    votes: PlaceSlice<CacheLine<AtomicU64>>,
    /// The last proposal that a participant has finished. Written by each, read by the coordinator before a slot is used
    /// again.
    done: PlaceSlice<CacheLine<AtomicU64>>,
}

/// The vote of a participant that takes no further part.
const GONE: u64 = u64::MAX;

impl Words {
    /// The rings to each member, and the words.
    fn lay_out(core: &mut Core) -> Result<(Rings, Self), Error> {
        let members = core.members;
        core.lay_out(|arena| {
            let rings = any_rings(arena, members, EDGE_SLOTS)?;
            let (sent, decisions) = (arena.slice(members)?, arena.slice(WINDOW as usize)?);
            Ok((rings, Self { sent, decisions, votes: arena.slice(members)?, done: arena.slice(members)? }))
        })
    }

    fn decision(&self, sequence: u64) -> &AtomicU64 {
        &self.decisions[sequence as usize % self.decisions.len()]
    }

    fn open(&self, sequence: u64) {
        // ORDERING: Relaxed, released to each participant with the proposal
        self.decision(sequence).store(sequence << 2 | UNDECIDED, Ordering::Relaxed);
    }

    /// Decides, unless another member has; true if the standing decision is to commit.
    fn decide(&self, sequence: u64, state: u64) -> bool {
        let (open, wanted) = (sequence << 2 | UNDECIDED, sequence << 2 | state);
        // ORDERING: Release, pairs with the Acquire in decided: votes and what was written before them. Relaxed, a failure
        // says only that another one aborted [decision]
        let stands = self.decision(sequence).compare_exchange(open, wanted, Ordering::Release, Ordering::Relaxed);
        stands.map_or_else(|stands| stands, |_| wanted) == sequence << 2 | COMMIT
    }

    /// Whether a proposal is committed; `None` while it is undecided.
    fn decided(&self, sequence: u64) -> Option<bool> {
        // ORDERING: Acquire, pairs with the Release in decide [decision]
        match self.decision(sequence).load(Ordering::Acquire) & 3 {
            UNDECIDED => None,
            state => Some(state == COMMIT),
        }
    }
}

/// The member that proposes.
pub struct Coordinator<'a, T> {
    me: &'a mut Member,
    words: Words,
    /// The others.
    participants: Vec<ParticipantState>,
    sequence: u64,
    proposals: PhantomData<T>,
}

/// A participant as the coordinator knows it.
#[derive(Debug)]
struct ParticipantState {
    rank: usize,
    tx: AnySender,
    /// The last proposal sent to it.
    sent: u64,
}

impl<T: Plain> Coordinator<'_, T> {
    /// Puts `proposal` to the vote; true if all have voted for it in time, so that all apply it. If a member was lost
    /// meanwhile, the decision stands too, and the next call names that member. After a NO the call still lasts until each
    /// participant has been sent the proposal; a participant busy with the one before delays this, but no longer than
    /// `limit`.
    ///
    /// # Errors
    /// The fault with which the group has failed before.
    pub fn commit(&mut self, proposal: &T, limit: Duration) -> Result<bool, Error> {
        let Self { me, words, participants, sequence, .. } = self;
        let core = &mut me.ends_mut().core;
        core.check_fault()?;
        let clock = Clock::get();
        core.deadline = clock.ticks().saturating_add(clock.ticks_in(limit)).clamp(NOW + 1, NEVER - 1);
        // A slot is used again after all have finished with its proposal.
        let oldest = (*sequence + 1).saturating_sub(WINDOW);
        let is_free = core.wait_at_own_word(|| {
            participants.iter().all(|participant| words.is_done(participant, oldest)).then_some(())
        });
        let all_agree = match is_free {
            Ok(()) => {
                *sequence += 1;
                words.open(*sequence);
                poll_votes(core, words, participants, *sequence, proposal)
            }
            Err(error) => Err(error),
        };
        core.deadline = NEVER;
        if let Err(Error::Timeout { .. }) = all_agree {
            // If a member is lost, the next call names it.
            let _ = core.look_around();
        }
        if is_free.is_err() {
            return Ok(false);
        }
        let is_commit = words.decide(*sequence, if matches!(all_agree, Ok(true)) { COMMIT } else { ABORT });
        core.table.common.notify();
        Ok(is_commit)
    }
}

impl Words {
    fn is_done(&self, participant: &ParticipantState, sequence: u64) -> bool {
        // ORDERING: Relaxed, written after the decision was acquired, and the slot is overwritten only because of it
        let done = self.done[participant.rank].load(Ordering::Relaxed);
        done >= sequence.min(participant.sent) || self.vote(participant) == GONE
    }

    /// The last vote of a participant.
    fn vote(&self, participant: &ParticipantState) -> u64 {
        // ORDERING: Acquire, pairs with the Release in serve: its writes before it voted [vote]
        self.votes[participant.rank].load(Ordering::Acquire)
    }
}

/// Sends the proposal to each as soon as it has voted on the one before, and returns whether all vote for this one. After
/// the first vote against it, this waits for no other vote, but still until all have been sent the proposal.
fn poll_votes<T: Plain>(
    core: &mut Core,
    words: &Words,
    participants: &mut [ParticipantState],
    sequence: u64,
    proposal: &T,
) -> Result<bool, Error> {
    let mut all_agree = true;
    let mut waiting: Vec<&mut ParticipantState> = participants.iter_mut().collect();
    while !waiting.is_empty() {
        let has_voted = |participant: &ParticipantState| words.vote(participant) >> 1 >= participant.sent;
        let find = || {
            // The coordinator sends what it can before it counts votes: those members then vote while it counts.
            let unsent = waiting.iter().position(|participant| participant.sent < sequence && has_voted(participant));
            unsent.or_else(|| waiting.iter().position(|participant| has_voted(participant)))
        };
        let found = core.wait_at_own_word(find)?;
        let vote = words.vote(waiting[found]);
        if vote != GONE && waiting[found].sent < sequence {
            let ParticipantState { rank, tx, sent } = &mut *waiting[found];
            // ORDERING: Relaxed, released with the proposal; it has voted, so it has read the last one
            words.sent[*rank].store(sequence, Ordering::Relaxed);
            // Its edge is empty, so nothing waits here.
            core.send_to(*rank, tx, proposal)?;
            *sent = sequence;
        } else {
            all_agree &= vote != GONE && vote & 1 == 1;
            waiting.swap_remove(found);
        }
        waiting.retain(|participant| all_agree || participant.sent < sequence);
    }
    Ok(all_agree)
}

/// A member that votes.
pub struct Participant<'a, T> {
    me: &'a mut Member,
    words: Words,
    coordinator: usize,
    /// Taken out when dropped; `Some` until then.
    rx: Option<AnyReceiver>,
    proposals: PhantomData<T>,
}

impl<T: Plain> Participant<'_, T> {
    /// Waits for the next proposal, votes on it as `vote` says, and calls `apply` with it and with whether it is committed.
    /// False if the coordinator has ended. A proposal that this member votes against is not committed, so the call does not
    /// wait for the decision.
    ///
    /// # Errors
    /// The fault with which the group has failed before there was a proposal.
    pub fn serve(&mut self, vote: impl FnOnce(&T) -> bool, apply: impl FnOnce(&T, bool)) -> Result<bool, Error> {
        let Self { me, words, rx, coordinator, .. } = self;
        let core = &mut me.ends_mut().core;
        let rx = rx.as_mut().expect("the edge is taken out only when the participant is dropped");
        core.check_fault()?;
        core.wait_at_own_word(|| (rx.is_ready() || rx.is_closed()).then_some(()))?;
        if rx.is_closed() {
            // A coordinator that failed has noted why before it closed the edge.
            core.check_fault()?;
            return Ok(false);
        }
        let proposal: T = core.recv_from(*coordinator, rx)?;
        // ORDERING: Relaxed, acquired with the proposal; written again only after this member's vote
        let sequence = words.sent[core.rank].load(Ordering::Relaxed);
        let is_yes = vote(&proposal);
        // ORDERING: Release, pairs with the Acquire in vote at the coordinator [vote]
        words.votes[core.rank].store(sequence << 1 | u64::from(is_yes), Ordering::Release);
        core.table.wake_word(*coordinator).notify();
        // After a NO the outcome is known, and after a fault no other member may decide.
        let decided = is_yes.then(|| core.wait_at_common_word(|| words.decided(sequence)));
        let is_commit = match decided {
            None => false,
            Some(Ok(is_commit)) => is_commit,
            Some(Err(_)) => words.abort(sequence),
        };
        apply(&proposal, is_commit);
        // ORDERING: Relaxed, says only that the slot is not read any more, by a load that acquired it
        words.done[core.rank].store(sequence, Ordering::Relaxed);
        core.table.wake_word(*coordinator).notify();
        Ok(true)
    }
}

impl Words {
    /// Aborts a proposal that is undecided; true if it was committed before.
    #[cold]
    fn abort(&self, sequence: u64) -> bool {
        let _ = self.decide(sequence, ABORT);
        self.decided(sequence) == Some(true)
    }
}

impl<T> Drop for Coordinator<'_, T> {
    fn drop(&mut self) {
        if self.me.ends().core.table.is_copy() {
            // The memory of the edges is not in a forked child.
            std::mem::forget(std::mem::take(&mut self.participants));
        }
    }
}

impl<T> Drop for Participant<'_, T> {
    fn drop(&mut self) {
        let table = &self.me.ends().core.table;
        if table.is_copy() {
            // The memory of the words and of the edge is not in a forked child.
            std::mem::forget(self.rx.take());
            return;
        }
        // ORDERING: Relaxed, it votes for nothing any more
        self.words.votes[self.me.rank()].store(GONE, Ordering::Relaxed);
        table.wake_word(self.coordinator).notify();
    }
}

impl Member {
    /// Makes this member the coordinator of commits of T; all others call [`participant`](Self::participant) meanwhile.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a T is more than 504 bytes, [`Error::Memory`], [`Error::MemberLost`], [`Error::Pending`].
    ///
    /// # Panics
    /// If another member of a group of threads is the coordinator.
    #[track_caller]
    pub fn coordinator<T: Plain>(&mut self) -> Result<Coordinator<'_, T>, Error> {
        check_one_message::<T>()?;
        let own = self.rank();
        let core = &mut self.begin(Call::rooted(CallKind::Commit, own))?.core;
        let (rings, words) = Words::lay_out(core)?;
        core.open();
        let (own, table) = (core.rank, &core.table);
        let participant = |rank: usize| {
            let tx = rings.sender(rank, table.wake_word(rank).clone(), table.wake_word(own).clone());
            ParticipantState { rank, tx, sent: 0 }
        };
        let participants = (0..core.members).filter(|&rank| rank != own).map(participant).collect();
        Ok(Coordinator { me: self, words, participants, sequence: 0, proposals: PhantomData })
    }

    /// Makes this member a participant in the commits of T that member `coordinator` proposes.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such member or it is this one, and those of [`coordinator`](Self::coordinator).
    pub fn participant<T: Plain>(&mut self, coordinator: usize) -> Result<Participant<'_, T>, Error> {
        let (rank, members) = (coordinator, self.size());
        if rank >= members || rank == self.rank() {
            return Err(Error::BadRank { rank, members });
        }
        check_one_message::<T>()?;
        let core = &mut self.begin(Call::rooted(CallKind::Commit, coordinator))?.core;
        let (rings, words) = Words::lay_out(core)?;
        core.open();
        let (own, table) = (core.rank, &core.table);
        let rx = rings.receiver(own, table.wake_word(own).clone(), table.wake_word(coordinator).clone());
        Ok(Participant { me: self, words, coordinator, rx: Some(rx), proposals: PhantomData })
    }
}

impl<T> fmt::Debug for Coordinator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, members) = (self.me.rank(), self.me.size());
        write!(f, "Coordinator(member {rank} of {members}, {} proposals)", self.sequence)
    }
}

impl<T> fmt::Debug for Participant<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, members) = (self.me.rank(), self.me.size());
        write!(f, "Participant(member {rank} of {members}, coordinator {})", self.coordinator)
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
        let (_, words) = Words::lay_out(&mut core).expect("the heap has room");
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
