//! The reader's half: poll the word of the next ticket, release, write the position.
//!
//! ```text
//! recv(c): w = word(c) (Acquire) [slot-full]: published: the message; skipped: c + 1; later ticket: overrun; else empty
//!          cursor = lowest unreleased (Release) [cursor], every K releases, and when there is nothing, and when leaving
//! copy:    word(c) is P(c) (Acquire); copy word by word; fence (Acquire) [seqlock]; word(c) is still P(c)
//! ```
//! A reader that was overrun goes on **above** tail - S: a sender may already be writing to the slot of tail - S.

use std::cell::Cell;
use std::time::Duration;

use corecast_base::sync::{Arc, Ordering, fence};

use super::end_waiter::{EndWaiter, TimedOut};
use super::join::{join, take_line, tell};
use super::line::{self, Ctl, ReaderLine, State};
use super::pins::Pins;
use super::presence::PresenceState;
use super::ring::{Ring, Slots};
use super::room::NoRoom;
use super::word::Turn;
use crate::error::{RecvError, RecvTimeoutError};
use crate::policy::Policy;
use crate::selectable::WakeHandle;

/// The state of one reader, on lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct RecvEnd<S: Slots> {
    pub(super) ring: Arc<Ring<S>>,
    pub(super) policy: Policy,
    /// Its line.
    pub(super) line: usize,
    ctl: Cell<Ctl>,
    pub(super) pins: Pins,
    /// An error that a look found without reporting it: the next look reports it.
    untold: Cell<Option<RecvError>>,
}

/// The result of a look at the next ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// This ticket's message. It is not taken yet.
    Message(u64),
    Nothing,
    /// An error, which the reader is told once.
    Failed(RecvError),
}

impl<S: Slots> RecvEnd<S> {
    /// A new reader; `None` if all lines are taken.
    pub(super) fn open(ring: &Arc<Ring<S>>, policy: Policy) -> Option<Self> {
        let (line, ctl) = take_line(ring, policy)?;
        let start = join(ring, &ring.readers[line], ctl);
        ring.occupancy.readers.arrive();
        ring.room_wake.notify();
        let pins = Pins::starting_at(start, ring.laps.slots());
        Some(Self { ring: Arc::clone(ring), policy, line, ctl: Cell::new(ctl), pins, untold: Cell::new(None) })
    }

    pub(super) fn reader_line(&self) -> &ReaderLine {
        &self.ring.readers[self.line]
    }

    /// The next message's ticket, if it is there, or an error.
    #[inline]
    pub(super) fn look(&self) -> Option<Result<u64, RecvError>> {
        if let Some(error) = self.untold.take() {
            return Some(Err(error));
        }
        let seen = self.poll();
        outcome(if seen == Seen::Nothing { self.look_around() } else { seen })
    }

    /// True if a look would return something. An error that is reported only once is kept.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        match self.look() {
            Some(Err(error)) => self.untold.set(Some(error)),
            Some(Ok(_)) => {}
            None => return false,
        }
        true
    }

    /// The next message's ticket, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`].
    #[cold]
    pub(super) fn wait(&self, waiter: &mut EndWaiter, timeout: Option<Duration>) -> Result<u64, RecvTimeoutError> {
        let look = || self.look().ok_or(NoRoom::NO_READER);
        match waiter.until(&self.ring, &self.ring.data_wake, timeout, look) {
            Ok(found) => Ok(found?),
            Err(TimedOut) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// The wake word of the senders, and how to make it forward to a parker of this reader.
    pub(super) fn wake_handle(&self) -> WakeHandle {
        let (readers, line) = (self.ring.readers.clone(), self.line);
        WakeHandle::new(self.ring.data_wake.clone(), move |word, parker| word.arm_for(&readers[line].forward, parker))
    }

    /// The next ticket, if its message is there; `None` also where a [`poll`](Self::poll) has something else to say.
    #[inline(always)]
    pub(super) fn poll_published(&self) -> Option<u64> {
        let ticket = self.pins.next();
        (self.ring.look_at(ticket) == self.ring.laps.published(ticket)).then_some(ticket)
    }

    /// Looks whether the next message is there.
    #[inline(always)]
    pub(super) fn poll(&self) -> Seen {
        self.look_at_next().unwrap_or_else(|| self.poll_on())
    }

    /// The state of the next ticket's slot; `None` if its sender died, and the reader has gone on to the ticket behind it.
    #[inline(always)]
    fn look_at_next(&self) -> Option<Seen> {
        let ticket = self.pins.next();
        let word = self.ring.look_at(ticket);
        if !word.is_done(self.ring.laps, ticket) {
            let is_overrun = self.ring.overwrites() && word.is_later(self.ring.laps, ticket);
            return Some(if is_overrun { self.overrun(ticket) } else { Seen::Nothing });
        }
        if word.turn() == Turn::Published {
            return Some(Seen::Message(ticket));
        }
        self.pins.pin();
        self.release(ticket);
        None
    }

    /// Goes on behind a ticket whose sender died, for a lap at most: another process that writes such words faster than
    /// this reader goes on cannot keep it in a call for ever.
    #[cold]
    fn poll_on(&self) -> Seen {
        (0..self.ring.laps.slots()).find_map(|_| self.look_at_next()).unwrap_or(Seen::Nothing)
    }

    /// Releases a ticket that was taken.
    #[inline(always)]
    pub(super) fn release(&self, ticket: u64) {
        if self.pins.release(ticket) {
            self.tell();
        }
    }

    /// Tells senders the position of this reader, if it is new.
    #[inline(always)]
    pub(super) fn tell(&self) {
        if let Some(cursor) = self.pins.news() {
            tell(&self.reader_line().cursor, cursor);
            self.ring.room_wake.notify();
        }
    }

    /// The result when there is no message: the reader was given up, or no sender is left.
    #[inline]
    pub(super) fn look_around(&self) -> Seen {
        self.tell();
        if line::look(&self.reader_line().ctl).state() == State::Lagged {
            return self.given_up();
        }
        let presence = self.ring.occupancy.senders.look();
        if matches!(presence, PresenceState::Awaited | PresenceState::Present) {
            return Seen::Nothing;
        }
        // The last sender may have sent between the look at the slot and the look for senders.
        match self.poll() {
            Seen::Nothing if presence == PresenceState::Left => Seen::Failed(RecvError::Closed),
            Seen::Nothing => Seen::Failed(RecvError::Died),
            seen => seen,
        }
    }

    /// True if no sender has written to the slot of a ticket, or to its block, since its message was seen.
    #[inline]
    pub(super) fn is_intact(&self, ticket: u64) -> bool {
        // ORDERING: Acquire, pairs with the Release fence in fence_before_overwrite: if anything newer was copied, the
        // look at the word below sees that the slot was taken [seqlock]
        fence(Ordering::Acquire);
        // ORDERING: Relaxed, ordered by the fence
        self.ring.word(ticket).load(Ordering::Relaxed) == self.ring.laps.published(ticket).0
    }

    /// The next ticket is gone.
    #[cold]
    pub(super) fn overrun(&self, ticket: u64) -> Seen {
        if line::look(&self.reader_line().ctl).state() == State::Lagged {
            return self.given_up();
        }
        let oldest = self.ring.tail().wrapping_sub(self.ring.laps.slots()).wrapping_add(1);
        // The sender that took the slot has seen a tail a lap beyond, even if this thread does not yet.
        let missed = (oldest.wrapping_sub(ticket) as i64).max(1).unsigned_abs();
        self.pins.skip_to(ticket.wrapping_add(missed));
        Seen::Failed(RecvError::Lagged { missed })
    }

    /// A sender gave this reader up, so it joins anew.
    #[cold]
    fn given_up(&self) -> Seen {
        if self.policy == Policy::Reliable {
            return Seen::Failed(RecvError::Corrupt("this reader's cursor was overwritten"));
        }
        let ctl = self.ctl.get().again();
        self.ctl.set(ctl);
        line::put(&self.reader_line().ctl, ctl);
        let start = join(&self.ring, self.reader_line(), ctl);
        let missed = start.wrapping_sub(self.pins.next());
        self.pins.skip_to(start);
        // The join has stored it.
        let _ = self.pins.news();
        if missed == 0 { Seen::Nothing } else { Seen::Failed(RecvError::Lagged { missed }) }
    }
}

/// The result of a look that ends a wait, if it does.
#[inline(always)]
pub(super) fn outcome(seen: Seen) -> Option<Result<u64, RecvError>> {
    match seen {
        Seen::Message(ticket) => Some(Ok(ticket)),
        Seen::Nothing => None,
        Seen::Failed(error) => Some(Err(error)),
    }
}

impl<S: Slots> Drop for RecvEnd<S> {
    fn drop(&mut self) {
        if !self.ring.owners.is_forked() {
            self.ring.release_reader(&self.reader_line().ctl, PresenceState::Left);
        }
    }
}
