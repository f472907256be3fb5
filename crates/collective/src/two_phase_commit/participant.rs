//! A member that votes.

use std::fmt;

use corecast_channel::ump::any::Receiver as AnyReceiver;
use corecast_channel::{Plain, zeroed};

use super::areas::SHORT_BYTES;
use super::proposal::Proposal;
use super::words::{GONE, Words};
use crate::call::{Call, CallKind};
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::member::Member;

/// A member that votes.
pub struct Participant<'a, P: Proposal + ?Sized> {
    me: &'a mut Member,
    words: Words,
    coordinator: usize,
    /// Taken out when dropped; `Some` until then.
    rx: Option<AnyReceiver>,
    inbox: Inbox<P::Value>,
}

/// The memory of a proposal.
struct Inbox<T> {
    /// The values of the last proposal, and room: for all that go in a message, and for the longest one so far.
    values: Vec<T>,
    /// The most values of a proposal.
    longest: usize,
}

impl<P: Proposal + ?Sized> Participant<'_, P> {
    /// Waits for the next proposal, votes on it as `vote` says, and calls `apply` with it and with whether it is committed.
    /// False if the coordinator has ended. A proposal that this member votes against is not committed, so the call does not
    /// wait for the decision.
    ///
    /// # Errors
    /// The fault with which the group has failed before there was a proposal.
    pub fn serve(&mut self, vote: impl FnOnce(&P) -> bool, apply: impl FnOnce(&P, bool)) -> Result<bool, Error> {
        let Self { me, words, rx, coordinator, inbox } = self;
        let core = &mut me.ends_mut().core;
        let rx = rx.as_mut().expect("the edge is taken out only when the participant is dropped");
        core.check_fault()?;
        core.wait_at_own_word(|| (rx.is_ready() || rx.is_closed()).then_some(()))?;
        words.check_longest(core, *coordinator, inbox.longest.saturating_mul(size_of::<P::Value>()))?;
        if rx.is_closed() {
            // A coordinator that failed has noted why before it closed the edge.
            core.check_fault()?;
            return Ok(false);
        }
        let (sequence, values) = inbox.recv(core, words, *coordinator, rx)?;
        let proposal = P::of(values).ok_or_else(|| core.fail(*coordinator, Loss::Mismatched))?;
        let is_yes = vote(proposal);
        words.set_vote(core.rank, sequence << 1 | u64::from(is_yes));
        core.table.wake_word(*coordinator).notify();
        // After a NO the outcome is known, and after a fault no other member may decide.
        let decided = is_yes.then(|| core.wait_at_common_word(|| words.decided(sequence)));
        let is_commit = match decided {
            None => false,
            Some(Ok(is_commit)) => is_commit,
            Some(Err(_)) => words.abort(sequence),
        };
        apply(proposal, is_commit);
        words.set_done(core.rank, sequence);
        core.table.wake_word(*coordinator).notify();
        Ok(true)
    }
}

impl<T: Plain> Inbox<T> {
    fn new(longest: usize) -> Self {
        let in_message = SHORT_BYTES.checked_div(size_of::<T>()).unwrap_or(0);
        Self { values: vec![zeroed(); longest.min(in_message)], longest }
    }

    /// The number of the next proposal, and its values.
    #[inline(always)]
    fn recv(
        &mut self,
        core: &mut Core,
        words: &Words,
        coordinator: usize,
        rx: &mut AnyReceiver,
    ) -> Result<(u64, &[T]), Error> {
        let came = core.recv_part(coordinator, rx, &mut self.values)?;
        let heading = words.announced(core.rank);
        let len = heading.values;
        if len > self.longest {
            return Err(core.fail(coordinator, Loss::Mismatched));
        }
        if self.values.len() < len {
            self.values.resize(len, zeroed());
        }
        let values = &mut self.values[..len];
        if size_of_val(values) > SHORT_BYTES {
            words.areas.read(core, heading.area, values)?;
        } else if came != len && size_of::<T>() > 0 {
            return Err(core.fail(coordinator, Loss::Mismatched));
        }
        Ok((heading.sequence, values))
    }
}

impl<P: Proposal + ?Sized> Drop for Participant<'_, P> {
    fn drop(&mut self) {
        let table = &self.me.ends().core.table;
        if table.is_copy() {
            // The memory of the words and of the edge is not in a forked child.
            std::mem::forget(self.rx.take());
            return;
        }
        self.words.set_vote(self.me.rank(), GONE);
        table.wake_word(self.coordinator).notify();
    }
}

impl Member {
    /// Makes this member a participant in the commits of T that member `coordinator` proposes.
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such member or it is this one, and those of [`coordinator`](Self::coordinator).
    pub fn participant<T: Plain>(&mut self, coordinator: usize) -> Result<Participant<'_, T>, Error> {
        self.participate(coordinator, 1)
    }

    /// Makes this member a participant in the commits of slices of up to `longest` values that member `coordinator` proposes. If
    /// that has opened them for another length, this member's first [`serve`](Participant::serve) makes the group fail:
    /// [`Loss::OtherLength`].
    ///
    /// # Errors
    /// [`Error::BadRank`] if there is no such member or it is this one, and those of
    /// [`slice_coordinator`](Self::slice_coordinator).
    pub fn slice_participant<T: Plain>(
        &mut self,
        coordinator: usize,
        longest: usize,
    ) -> Result<Participant<'_, [T]>, Error> {
        self.participate(coordinator, longest)
    }

    fn participate<P: Proposal + ?Sized>(
        &mut self,
        coordinator: usize,
        longest: usize,
    ) -> Result<Participant<'_, P>, Error> {
        let (rank, members) = (coordinator, self.size());
        if rank >= members || rank == self.rank() {
            return Err(Error::BadRank { rank, members });
        }
        let core = &mut self.begin(Call::rooted(CallKind::Commit, coordinator))?.core;
        let (rings, words) = Words::lay_out(core, longest.saturating_mul(size_of::<P::Value>()))?;
        core.open();
        let (own, table) = (core.rank, &core.table);
        let rx = rings.receiver(own, table.wake_word(own).clone(), table.wake_word(coordinator).clone());
        Ok(Participant { me: self, words, coordinator, rx: Some(rx), inbox: Inbox::new(longest) })
    }
}

impl<P: Proposal + ?Sized> fmt::Debug for Participant<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, members) = (self.me.rank(), self.me.size());
        write!(f, "Participant(member {rank} of {members}, coordinator {})", self.coordinator)
    }
}
