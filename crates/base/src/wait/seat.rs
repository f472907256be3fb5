//! Seats: event counts that do not belong to one channel, for those who wait at several at once.

use std::time::Duration;

use crate::CacheLine;
use crate::place::PlaceSlice;
use crate::sync::{EventCount, Scope, Seating};

/// The seats of one memory.
pub type Seats = PlaceSlice<CacheLine<EventCount>>;

/// One seat, to sleep on. Two sleepers may share one: each is woken for the other now and then.
#[derive(Debug, Clone)]
pub struct Seat {
    seats: Seats,
    number: u32,
    scope: Scope,
}

impl Seat {
    /// A seat for a thread that waits for threads of this process only.
    #[must_use]
    pub fn of_this_process() -> Self {
        let seats = seats_of_this_process();
        let number = Seating::next() % seats.len() as u32;
        Self { seats, number, scope: Scope::Process }
    }

    /// The seat with this number of a memory that several processes share; `None` if there is none.
    #[must_use]
    pub fn within(seats: Seats, number: u32) -> Option<Self> {
        ((number as usize) < seats.len()).then_some(Self { seats, number, scope: Scope::Machine })
    }

    /// Its number, as publishers are told it.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whose threads ring it.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The count now: read it before arming the words that forward here.
    #[must_use]
    pub fn now(&self) -> u32 {
        self.count().now()
    }

    /// Sleeps until the count differs from `seen`, for at most `longest`; may also return early for no reason.
    pub fn wait(&self, seen: u32, longest: Duration) {
        self.count().wait(seen, longest, self.scope);
    }

    /// What is slept on.
    #[must_use]
    pub fn count(&self) -> &EventCount {
        &self.seats[self.number as usize]
    }
}

pub(super) fn seats_of_this_process() -> Seats {
    Seating::of_this_process()
}

/// Wakes who sleeps on the seat that a word forwards to: its number and one, or 0 for none. The number may have been
/// written by a stranger: what is no seat is nobody's.
pub(super) fn ring_seat(seats: &Seats, forward: u32, scope: Scope) {
    if let Some(count) = forward.checked_sub(1).and_then(|number| seats.get(number as usize)) {
        count.advance(scope);
    }
}
