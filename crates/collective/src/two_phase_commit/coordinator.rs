//! The member that proposes.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use corecast_base::Clock;
use corecast_channel::Plain;
use corecast_channel::ump::any::Sender as AnySender;

use super::areas::{AREAS, SHORT_BYTES};
use super::proposal::Proposal;
use super::words::{ABORT, COMMIT, GONE, Heading, WINDOW, Words};
use crate::call::{Call, CallKind};
use crate::core::{Core, NEVER, NOW};
use crate::error::Error;
use crate::member::Member;

/// The member that proposes.
pub struct Coordinator<'a, P: ?Sized> {
    me: &'a mut Member,
    words: Words,
    /// The others.
    participants: Vec<ParticipantState>,
    sequence: u64,
    /// The most values of a proposal.
    longest: usize,
    proposals: PhantomData<P>,
}

/// A participant as the coordinator knows it.
#[derive(Debug)]
struct ParticipantState {
    rank: usize,
    tx: AnySender,
    /// The last proposal sent to it.
    sent: u64,
    /// The area of that proposal, if it lies in one.
    area: Option<usize>,
}

/// The proposal that is put to the vote.
struct Proposed<'a, T> {
    sequence: u64,
    values: &'a [T],
    /// Its area, if it is too long for a message.
    area: Option<usize>,
}

impl<P: Proposal + ?Sized> Coordinator<'_, P> {
    /// Puts `proposal` to the vote; true if all have voted for it in time, so that all apply it. If a member was lost
    /// meanwhile, the decision stands too, and the next call names that member. After a NO the call still lasts until each
    /// participant has been sent the proposal; a participant busy with the one before delays this, but no longer than
    /// `limit`.
    ///
    /// # Errors
    /// [`Error::TooLong`] for a slice of more values than were agreed on, of which no participant hears; the fault with which the
    /// group has failed before.
    pub fn commit(&mut self, proposal: &P, limit: Duration) -> Result<bool, Error> {
        let Self { me, words, participants, sequence, longest, .. } = self;
        let (values, most) = (proposal.values(), *longest);
        if values.len() > most {
            return Err(Error::TooLong { values: values.len(), most });
        }
        let core = &mut me.ends_mut().core;
        core.check_fault()?;
        let clock = Clock::get();
        core.deadline = clock.ticks().saturating_add(clock.ticks_in(limit)).clamp(NOW + 1, NEVER - 1);
        let room = wait_for_room(core, words, participants, *sequence + 1, size_of_val(values) > SHORT_BYTES);
        let (is_free, all_agree) = match room {
            Ok(area) => {
                *sequence += 1;
                words.open(*sequence);
                let proposed = Proposed { sequence: *sequence, values, area };
                (true, poll_votes(core, words, participants, &proposed))
            }
            Err(error) => (false, Err(error)),
        };
        core.deadline = NEVER;
        if let Err(Error::Timeout { .. }) = all_agree {
            // If a member is lost, the next call names it.
            let _ = core.look_around();
        }
        if !is_free {
            return Ok(false);
        }
        let is_commit = words.decide(*sequence, if matches!(all_agree, Ok(true)) { COMMIT } else { ABORT });
        core.table.common.notify();
        Ok(is_commit)
    }
}

/// Waits until the slot of a proposal can be used again, as all have finished with the one that had it before, and until there is
/// an area for it if it is long. Returns the area.
fn wait_for_room(
    core: &mut Core,
    words: &Words,
    participants: &[ParticipantState],
    sequence: u64,
    is_long: bool,
) -> Result<Option<usize>, Error> {
    let oldest = sequence.saturating_sub(WINDOW);
    core.wait_at_own_word(|| {
        if !participants.iter().all(|participant| participant.is_done(words, oldest)) {
            return None;
        }
        if is_long { free_area(words, participants).map(Some) } else { Some(None) }
    })
}

/// An area that no participant may still read.
fn free_area(words: &Words, participants: &[ParticipantState]) -> Option<usize> {
    (0..AREAS).find(|&area| {
        participants.iter().all(|participant| participant.area != Some(area) || participant.has_voted(words))
    })
}

impl ParticipantState {
    fn is_done(&self, words: &Words, sequence: u64) -> bool {
        words.done(self.rank) >= sequence.min(self.sent) || words.vote(self.rank) == GONE
    }

    /// True once it has voted on what it was sent, or takes no further part.
    fn has_voted(&self, words: &Words) -> bool {
        words.vote(self.rank) >> 1 >= self.sent
    }

    /// True if it can be sent the next proposal.
    fn is_ready(&self, words: &Words) -> bool {
        let vote = words.vote(self.rank);
        vote != GONE && vote >> 1 >= self.sent
    }

    /// Sends it the proposal. Its edge is empty, as it has voted, so nothing waits here.
    fn send<T: Plain>(&mut self, core: &mut Core, words: &Words, proposed: &Proposed<'_, T>) -> Result<(), Error> {
        let Proposed { sequence, values, area } = *proposed;
        let message = if area.is_some() { &[] } else { values };
        words.announce(self.rank, Heading { sequence, values: values.len(), area: area.unwrap_or(0) });
        core.send_part(self.rank, &mut self.tx, message)?;
        (self.sent, self.area) = (sequence, area);
        Ok(())
    }
}

/// Sends the proposal to each as soon as it has voted on the one before, and returns whether all vote for this one. After
/// the first vote against it, this waits for no other vote, but still until all have been sent the proposal.
fn poll_votes<T: Plain>(
    core: &mut Core,
    words: &Words,
    participants: &mut [ParticipantState],
    proposed: &Proposed<'_, T>,
) -> Result<bool, Error> {
    let sequence = proposed.sequence;
    if let Some(area) = proposed.area {
        write(core, words, participants, proposed, area)?;
    }
    let mut all_agree = true;
    let mut waiting: Vec<&mut ParticipantState> = participants.iter_mut().collect();
    while !waiting.is_empty() {
        let find = || {
            // The coordinator sends what it can before it counts votes: those members then vote while it counts.
            let can_send =
                |participant: &&mut ParticipantState| participant.sent < sequence && participant.has_voted(words);
            let unsent = waiting.iter().position(can_send);
            unsent.or_else(|| waiting.iter().position(|participant| participant.has_voted(words)))
        };
        let found = core.wait_at_own_word(find)?;
        let vote = words.vote(waiting[found].rank);
        if vote != GONE && waiting[found].sent < sequence {
            waiting[found].send(core, words, proposed)?;
        } else {
            all_agree &= vote != GONE && vote & 1 == 1;
            waiting.swap_remove(found);
        }
        waiting.retain(|participant| all_agree || participant.sent < sequence);
    }
    Ok(all_agree)
}

/// Writes a long proposal to its area. Participants that are ready are sent it after the first piece, and read the others as they
/// come.
fn write<T: Plain>(
    core: &mut Core,
    words: &Words,
    participants: &mut [ParticipantState],
    proposed: &Proposed<'_, T>,
    area: usize,
) -> Result<(), Error> {
    let mut written = words.areas.write_piece(area, proposed.values, 0);
    if written == proposed.values.len() {
        return Ok(());
    }
    for participant in participants.iter_mut().filter(|participant| participant.is_ready(words)) {
        participant.send(core, words, proposed)?;
    }
    while written < proposed.values.len() {
        written = words.areas.write_piece(area, proposed.values, written);
        for participant in participants.iter().filter(|participant| participant.sent == proposed.sequence) {
            core.table.wake_word(participant.rank).notify();
        }
    }
    Ok(())
}

impl<P: ?Sized> Drop for Coordinator<'_, P> {
    fn drop(&mut self) {
        if self.me.ends().core.table.is_copy() {
            // The memory of the edges is not in a forked child.
            std::mem::forget(std::mem::take(&mut self.participants));
        }
    }
}

impl Member {
    /// Makes this member the coordinator of commits of T; all others call [`participant`](Self::participant) meanwhile. A
    /// value of more than 504 bytes takes room as in [`slice_coordinator`](Self::slice_coordinator), which suits values of
    /// megabytes better: they never lie on the stack.
    ///
    /// # Errors
    /// [`Error::Memory`], [`Error::MemberLost`], [`Error::Pending`].
    ///
    /// # Panics
    /// If another member of a group of threads is the coordinator.
    #[track_caller]
    pub fn coordinator<T: Plain>(&mut self) -> Result<Coordinator<'_, T>, Error> {
        self.coordinate(1)
    }

    /// Makes this member the coordinator of commits of slices of up to `longest` values; all others call
    /// [`slice_participant`](Self::slice_participant) with the same length meanwhile. If the longest proposals are more than 504
    /// bytes, two of them take room in the group's memory for as long as the group lives: a group of processes has
    /// [`room_bytes`](crate::Builder::room_bytes) of it.
    ///
    /// # Errors
    /// [`Error::Memory`] at all members alike if there is no room for two of the longest proposals, [`Error::MemberLost`],
    /// [`Error::Pending`].
    ///
    /// # Panics
    /// If another member of a group of threads is the coordinator.
    #[track_caller]
    pub fn slice_coordinator<T: Plain>(&mut self, longest: usize) -> Result<Coordinator<'_, [T]>, Error> {
        self.coordinate(longest)
    }

    #[track_caller]
    fn coordinate<P: Proposal + ?Sized>(&mut self, longest: usize) -> Result<Coordinator<'_, P>, Error> {
        let (own, longest_bytes) = (self.rank(), longest.saturating_mul(size_of::<P::Value>()));
        let core = &mut self.begin(Call::rooted(CallKind::Commit, own))?.core;
        let (rings, words) = Words::lay_out(core, longest_bytes)?;
        words.set_longest(longest_bytes);
        core.open();
        let (own, table) = (core.rank, &core.table);
        let participant = |rank: usize| {
            let tx = rings.sender(rank, table.wake_word(rank).clone(), table.wake_word(own).clone());
            ParticipantState { rank, tx, sent: 0, area: None }
        };
        let participants = (0..core.members).filter(|&rank| rank != own).map(participant).collect();
        Ok(Coordinator { me: self, words, participants, sequence: 0, longest, proposals: PhantomData })
    }
}

impl<P: ?Sized> fmt::Debug for Coordinator<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, members) = (self.me.rank(), self.me.size());
        write!(f, "Coordinator(member {rank} of {members}, {} proposals)", self.sequence)
    }
}
