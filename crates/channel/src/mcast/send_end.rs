//! The sender's half: take a turn, publish.
//!
//! ```text
//! one sender:  t = own tail; room(t); (overwriting: word(t) = C(t); fence (Release) [seqlock]); write
//!              word(t) = P(t) (Release) [slot-full]; tail = t + 1; wake the readers
//! several:     t = tail; room(t); w = word(t) (Acquire) [slot-full]
//!                w is done for t - S: CAS(w -> C(t, me)); won: help the tail beyond t; write; publish
//!                w speaks of t: help the tail beyond t; again
//!                w is claimed for t - S: no room; w is anything else: again
//! ```
//! The claim lies in the slot and not in the tail alone: without a gating reader, nothing else proves that the slot's last
//! owner has published, and two senders would write at once. (`fetch_add` on the tail cannot say that the ring is full, and
//! leaves a hole without an owner when its sender dies.) The tail is only a number, and moves before any sender writes;
//! helping keeps it moving if the claiming sender does not. Between claim and publication lie a dozen stores; a sender that
//! is stopped there holds up the readers.
//!
//! Another process may write anything into the tail and the words. After a turn in vain the tail of honest senders is
//! beyond its ticket: the sender that claimed the ticket, or one that helped, moved it. So a claim counts the turns that
//! find the tail where it was, or further back, and after a few of them reports that the memory is corrupt. After many
//! turns in vain of any kind it reports that there is no room, so that the caller looks at its time limit.

use corecast_base::sync::{Arc, AtomicU64, Ordering, fence, spin_hint};

use super::presence::PresenceState;
use super::ring::{Ring, Slots};
use super::room::{Corrupt, NoRoom, NoTurn, Room};

/// The turns of one claim that may find the tail no further than the turn before. One is enough where another processor's
/// loads come in order.
const MOST_STANDING: u32 = 64;
/// The turns of one claim that may be in vain. Among honest senders, another sender won each of them.
const MOST_IN_VAIN: u32 = 1024;

/// The slot that a sender which is alone asks the CPU for lies this far ahead, if its readers are known to be done with it:
/// the lines come while messages before it are written, not one by one when stores wait for them.
const PREPARED_AHEAD: u64 = 8;

/// The state of one sender, on lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct SendEnd<S: Slots> {
    pub(super) ring: Arc<Ring<S>>,
    /// Its line.
    pub(super) line: usize,
    /// The next ticket, if it is the only sender.
    tail: u64,
    room: Room,
}

impl<S: Slots> SendEnd<S> {
    /// A new sender; `None` if all lines are taken.
    pub(super) fn open(ring: &Arc<Ring<S>>) -> Option<Self> {
        let line = ring.take_sender_line(ring.owners.owner())?;
        let tail = ring.tail();
        Some(Self { ring: Arc::clone(ring), line, tail, room: Room::unknown(ring, tail) })
    }

    /// A ticket, and its slot to write into until it is published. `before_claim` is called with each ticket before it is
    /// tried.
    ///
    /// # Errors
    /// [`NoRoom`] if a reader, or a sender a lap behind, still needs the slot, or there is no reader to wait for;
    /// [`Corrupt`] if another process spoilt the tail or the slot.
    #[inline(always)]
    pub(super) fn try_turn(&mut self, before_claim: impl Fn(&Ring<S>, u64)) -> Result<u64, NoTurn> {
        self.check_readers()?;
        let ticket = if self.ring.is_multi() { self.claim(before_claim)? } else { self.next(before_claim)? };
        if self.ring.overwrites() {
            fence_before_overwrite();
        }
        Ok(ticket)
    }

    /// Whether there is a reader, where messages wait for one.
    ///
    /// # Errors
    /// [`NoRoom`] if there is none.
    #[inline(always)]
    pub(super) fn check_readers(&self) -> Result<(), NoTurn> {
        if self.ring.waits_for_readers() && self.ring.occupancy.readers.look() != PresenceState::Present {
            return Err(NoRoom::NO_READER.into());
        }
        Ok(())
    }

    /// The turn of a sender that is alone.
    #[inline(always)]
    fn next(&mut self, before_claim: impl Fn(&Ring<S>, u64)) -> Result<u64, NoTurn> {
        let Self { ring, tail, room, line } = self;
        room.for_ticket(ring, *tail)?;
        before_claim(ring, *tail);
        if ring.overwrites() {
            // ORDERING: Relaxed, the fence of fence_before_overwrite orders it before the message
            ring.word(*tail).store(ring.laps.claimed(*tail, *line as u8).0, Ordering::Relaxed);
        }
        Ok(*tail)
    }

    /// The turn of one of several.
    fn claim(&mut self, before_claim: impl Fn(&Ring<S>, u64)) -> Result<u64, NoTurn> {
        let Self { ring, room, line, .. } = self;
        let mut in_vain = TurnsInVain::default();
        loop {
            let ticket = ring.tail();
            room.for_ticket(ring, ticket)?;
            let word = ring.look_at(ticket);
            if word.is_free_for(ring.laps, ticket) {
                before_claim(ring, ticket);
                let claimed = ring.laps.claimed(ticket, *line as u8);
                // ORDERING: Relaxed, the work of the slot's last owner was acquired with `word`, and a word never comes
                // back
                let won = ring.word(ticket).compare_exchange(word.0, claimed.0, Ordering::Relaxed, Ordering::Relaxed);
                help(ring, ticket);
                if won.is_ok() {
                    return Ok(ticket);
                }
            } else if word.is_of(ring.laps, ticket) {
                help(ring, ticket);
            } else if word.is_claimed_for(ring.laps, ticket.wrapping_sub(ring.laps.slots())) {
                return Err(NoRoom::SLOW_SENDER.into());
            }
            in_vain.count(ticket)?;
            spin_hint();
        }
    }

    /// Publishes the message of the last turn's ticket.
    #[inline(always)]
    pub(super) fn publish(&mut self, ticket: u64) {
        Self::publish_in(&self.ring, self.ring.word(ticket), ticket);
        self.go_on(ticket);
    }

    /// As [`publish`](Self::publish), in the word of the ticket's slot, and without what comes after: [`go_on`](Self::go_on).
    #[inline(always)]
    pub(super) fn publish_in(ring: &Ring<S>, word: &AtomicU64, ticket: u64) {
        // ORDERING: Release, pairs with the Acquire in Ring::look_at: the message is there [slot-full]
        word.store(ring.laps.published(ticket).0, Ordering::Release);
    }

    /// Goes on behind the ticket that was published, and wakes readers.
    #[inline(always)]
    pub(super) fn go_on(&mut self, ticket: u64) {
        let Self { ring, tail, room, .. } = self;
        if !ring.is_multi() {
            *tail = ticket.wrapping_add(1);
            // ORDERING: Relaxed, only a number, see Ring::tail
            ring.tail.store(*tail, Ordering::Relaxed);
            let ahead = ticket.wrapping_add(PREPARED_AHEAD);
            if room.is_known_for(ring, ahead) {
                ring.slots.prepare(ring.laps.index(ahead));
            }
        }
        ring.wake_readers();
    }

    /// The ticket of the next message, if it is the only sender.
    #[inline(always)]
    pub(super) fn next_ticket(&self) -> u64 {
        self.tail
    }

    /// True if only this sender touches the slot of the next ticket until that is published: there is no other sender, no
    /// reader looks at an unpublished message, and there is room.
    #[inline(always)]
    pub(super) fn owns_next_slot(&mut self) -> bool {
        !self.ring.is_multi() && !self.ring.overwrites() && self.room.for_ticket(&self.ring, self.tail).is_ok()
    }

    /// Whether the next message would find room, as far as can be said before.
    ///
    /// # Errors
    /// As [`try_turn`](Self::try_turn).
    #[inline]
    pub(super) fn check_room(&mut self) -> Result<(), NoTurn> {
        let ticket = if self.ring.is_multi() { self.ring.tail() } else { self.tail };
        self.room.for_ticket(&self.ring, ticket)
    }
}

impl<S: Slots> Drop for SendEnd<S> {
    fn drop(&mut self) {
        if !self.ring.owners.is_forked() {
            self.ring.release_sender(&self.ring.senders[self.line].ctl, PresenceState::Left);
        }
    }
}

/// The turns of one claim that came to nothing.
#[derive(Debug, Default)]
struct TurnsInVain {
    all: u32,
    /// Those in a row that found the tail no further than the turn before.
    standing: u32,
    /// The ticket of the last one.
    ticket: u64,
}

impl TurnsInVain {
    /// One more, at the tail that was seen.
    ///
    /// # Errors
    /// [`Corrupt`] if the tail stands still; [`NoRoom`] if it is time for the caller to look around.
    #[cold]
    fn count(&mut self, ticket: u64) -> Result<(), NoTurn> {
        let has_moved = self.all == 0 || ticket.wrapping_sub(self.ticket) as i64 > 0;
        self.standing = if has_moved { 0 } else { self.standing + 1 };
        self.ticket = ticket;
        self.all += 1;
        if self.standing == MOST_STANDING {
            return Err(NoTurn::Corrupt(Corrupt));
        }
        if self.all == MOST_IN_VAIN { Err(NoRoom::SLOW_SENDER.into()) } else { Ok(()) }
    }
}

/// Moves the tail beyond a ticket that a sender has claimed.
pub(super) fn help<S: Slots>(ring: &Ring<S>, ticket: u64) {
    let next = ticket.wrapping_add(1);
    // ORDERING: Relaxed, only a number, see Ring::tail
    let _ = ring.tail.compare_exchange(ticket, next, Ordering::Relaxed, Ordering::Relaxed);
}

/// The fence of a sender of an overwriting ring, between the store that takes a slot or block from its readers and its
/// first store into it.
#[inline(always)]
pub(super) fn fence_before_overwrite() {
    // ORDERING: Release, pairs with the Acquire fence in RecvEnd::is_intact: a reader that sees some of what is written
    // after it also sees the slot's new word [seqlock]
    fence(Ordering::Release);
}
