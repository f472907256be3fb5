//! Room for a ticket: the cursors of readers that hold the sender back.
//!
//! A sender knows a bound below which every gating reader has released all tickets, and looks at the readers' lines only
//! when a ticket is a whole ring beyond it: about once per 7/8 of a ring, with any number of readers.
//!
//! ```text
//! room(t): t - known < S: yes
//!          fence (SeqCst) [join]; known = the least cursor of those JOINING or ACTIVE, at most t; t if there are none
//! ```
//! Against a reader that joins meanwhile (`join`): if this fence comes before the joiner's, the tail that the joiner loads
//! after it is t or more, so that the ticket it waits for is not below `known`, and a ticket that would overwrite it finds
//! no room without another scan; otherwise this scan sees it JOINING, at a cursor that is not beyond its start. At most t:
//! a reader may be beyond t already, with the help of other senders, but a joining one may not be.
//!
//! No honest reader writes a cursor behind `known` or beyond the tail: its reader is evicted. No honest sender writes a
//! tail behind `known`: a sender that finds one reports that the memory is corrupt.

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::{Ordering, fence};

use super::line::{Ctl, Hold, ReaderLine, State, look};
use super::ring::{Ring, Slots};
use crate::error::SendError;

/// The knowledge of a sender about its readers.
#[derive(Debug)]
pub(super) struct Room {
    /// All tickets below are released by every reader that gates.
    known: u64,
    /// The line and cursor that were a whole ring behind when the ring was full last.
    blocker: Option<(usize, Ctl, u64)>,
    /// The time when the ring was found full, in ticks, if it has been full since.
    full_since: Option<u64>,
}

/// There is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoRoom {
    /// The time after which the next reader is given up.
    pub(super) patience: Duration,
}

impl NoRoom {
    /// A reader that comes wakes the sender.
    pub(super) const NO_READER: Self = Self { patience: Duration::MAX };
    /// No thread wakes the sender when one that is a lap behind publishes, which takes a dozen stores unless it lost its
    /// CPU.
    pub(super) const SLOW_SENDER: Self = Self { patience: Duration::from_micros(50) };
}

/// The reason why a sender gets no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTurn {
    /// There is no room now.
    NoRoom(NoRoom),
    /// Waiting does not help.
    Corrupt(Corrupt),
}

/// Another process wrote a tail, or a slot's word, that no sender writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Corrupt;

impl NoTurn {
    /// The result of an attempt of a sender that waits for room: it goes on only while there is none.
    pub(super) fn ends_wait<T>(attempt: Result<T, Self>) -> Result<Result<T, Corrupt>, NoRoom> {
        match attempt {
            Ok(turn) => Ok(Ok(turn)),
            Err(Self::Corrupt(corrupt)) => Ok(Err(corrupt)),
            Err(Self::NoRoom(no_room)) => Err(no_room),
        }
    }
}

impl From<NoRoom> for NoTurn {
    fn from(no_room: NoRoom) -> Self {
        Self::NoRoom(no_room)
    }
}

impl Corrupt {
    /// The error of a message that was not sent.
    #[cold]
    pub(super) fn unsent<T>(self, message: T) -> SendError<T> {
        SendError::Corrupt { message, why: "no sender writes this tail, or this word of a slot" }
    }
}

/// A reader that holds a sender back.
struct Behind {
    age: u64,
    line: usize,
    ctl: Ctl,
    cursor: u64,
}

impl Room {
    /// The knowledge of a new sender whose first ticket is `tail` or later.
    pub(super) fn unknown<S: Slots>(ring: &Ring<S>, tail: u64) -> Self {
        Self { known: tail.wrapping_sub(ring.laps.slots()), blocker: None, full_since: None }
    }

    /// # Errors
    /// [`NoRoom`] if a reader still needs the ticket's slot; [`Corrupt`] if the ticket is one of the past.
    #[inline(always)]
    pub(super) fn for_ticket<S: Slots>(&mut self, ring: &Ring<S>, ticket: u64) -> Result<(), NoTurn> {
        if self.is_known_for(ring, ticket) { Ok(()) } else { self.look_for(ring, ticket) }
    }

    /// True if there is room for the ticket by what this sender knows already.
    #[inline(always)]
    pub(super) fn is_known_for<S: Slots>(&self, ring: &Ring<S>, ticket: u64) -> bool {
        ticket.wrapping_sub(self.known) < ring.laps.slots()
    }

    #[cold]
    fn look_for<S: Slots>(&mut self, ring: &Ring<S>, ticket: u64) -> Result<(), NoTurn> {
        // `known` was below the tail that this sender saw then, and no sender moves the tail back.
        if (ticket.wrapping_sub(self.known) as i64) < 0 {
            return Err(NoTurn::Corrupt(Corrupt));
        }
        if self.is_still_behind(ring) {
            return Err(NoRoom { patience: Duration::MAX }.into());
        }
        // ORDERING: SeqCst, pairs with the fence of a join; forbids that the joiner misses this scan's tail while this scan
        // misses the joiner [join]
        fence(Ordering::SeqCst);
        let mut oldest: Option<Behind> = None;
        let mut patience = Duration::MAX;
        for (line, reader) in ring.reader_lines().iter().enumerate() {
            let Some(behind) = self.look_at(ring, ticket, line, reader) else { continue };
            if behind.age >= ring.laps.slots() {
                match self.patience_with(reader, behind.ctl) {
                    Duration::ZERO if evict(ring, reader, behind.ctl) => continue,
                    left => patience = patience.min(left),
                }
            }
            if oldest.as_ref().is_none_or(|oldest| behind.age > oldest.age) {
                oldest = Some(behind);
            }
        }
        self.conclude(ring, ticket, oldest, patience)
    }

    fn conclude<S: Slots>(
        &mut self,
        ring: &Ring<S>,
        ticket: u64,
        oldest: Option<Behind>,
        patience: Duration,
    ) -> Result<(), NoTurn> {
        let age = oldest.as_ref().map_or(0, |oldest| oldest.age);
        self.known = ticket.wrapping_sub(age);
        if age < ring.laps.slots() {
            (self.blocker, self.full_since) = (None, None);
            return Ok(());
        }
        // If a reader has a deadline, the next look is a whole one.
        let only_one_matters = patience == Duration::MAX;
        self.blocker = oldest.filter(|_| only_one_matters).map(|behind| (behind.line, behind.ctl, behind.cursor));
        Err(NoRoom { patience }.into())
    }

    /// True if the reader that kept the ring full has not moved: then the others need not be looked at.
    fn is_still_behind<S: Slots>(&self, ring: &Ring<S>) -> bool {
        self.blocker.is_some_and(|(line, ctl, cursor)| {
            let reader = &ring.readers[line];
            // ORDERING: Relaxed, nothing is done because of it
            look(&reader.ctl) == ctl && reader.cursor.load(Ordering::Relaxed) == cursor
        })
    }

    /// The distance of a reader in tickets, if it gates: no more than this sender knew before.
    fn look_at<S: Slots>(&self, ring: &Ring<S>, ticket: u64, line: usize, reader: &ReaderLine) -> Option<Behind> {
        let ctl = look(&reader.ctl);
        if !ctl.gates() {
            return None;
        }
        // ORDERING: Acquire, pairs with the Release in join::tell: the released messages have been read [cursor]
        let cursor = reader.cursor.load(Ordering::Acquire);
        let known_age = ticket.wrapping_sub(self.known);
        let age = ticket.wrapping_sub(cursor);
        let behind = |age| Some(Behind { age, line, ctl, cursor });
        if age <= known_age {
            return behind(age);
        }
        if cursor.wrapping_sub(ticket) <= ring.tail().wrapping_sub(ticket) {
            return behind(0);
        }
        // A joining reader may have loaded its first tail long ago, and starts at a later one.
        if ctl.state() == State::Active && look(&reader.ctl) == ctl && evict(ring, reader, ctl) {
            return None;
        }
        behind(known_age)
    }

    /// The time to go on waiting for a reader that is a whole ring behind.
    fn patience_with(&mut self, reader: &ReaderLine, ctl: Ctl) -> Duration {
        if ctl.hold() != Hold::UntilDeadline || ctl.state() != State::Active {
            return Duration::MAX;
        }
        // ORDERING: Relaxed, written before the reader joined, and a wrong one is the reader's own damage
        let deadline = Duration::from_nanos(reader.deadline_ns.load(Ordering::Relaxed));
        if deadline.is_zero() {
            return Duration::ZERO;
        }
        let clock = Clock::get();
        let now = clock.ticks();
        let since = *self.full_since.get_or_insert(now);
        deadline.saturating_sub(clock.duration(now.saturating_sub(since)))
    }
}

/// Gives a reader up, unless it has gone or joined anew meanwhile.
#[cold]
fn evict<S: Slots>(ring: &Ring<S>, reader: &ReaderLine, ctl: Ctl) -> bool {
    // ORDERING: Relaxed, the reader only learns of it: it validates its copies by the words of the slots
    let evicted =
        reader.ctl.compare_exchange(ctl.0, ctl.with(State::Lagged).0, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if evicted {
        // Other senders may wait for the same reader.
        ring.room_wake.notify();
    }
    evicted
}
