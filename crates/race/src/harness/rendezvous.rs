//! The meeting of participants before a block begins, and between operations that must not overlap.
//!
//! A central barrier that counts arrivals on one line and announces the meeting's number on another; the last to arrive
//! may leave a word for the others, such as the time at which all shall begin. Blocking; whatever was written before a
//! meeting is visible after it. Published as the sense-reversing centralized barrier (Mellor-Crummey, Scott, Algorithms
//! for Scalable Synchronization on Shared-Memory Multiprocessors, 1991), with a number in the place of the sense.

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::{Arena, ArenaError, CacheLine, Place};

use super::abort::Abort;
use super::patience::Patience;
use crate::failure::Failure;

/// A meeting point of a fixed number of participants, usable any number of times.
#[derive(Debug)]
pub struct Rendezvous {
    participants: u64,
    patience: Patience,
    /// The number that has arrived at the coming meeting; added to by all, reset by the last.
    arrived: Place<CacheLine<AtomicU64>>,
    /// Meetings that have taken place, written by the last to arrive, polled by the others; and what that one left for
    /// the others, written before, read after.
    meetings: Place<CacheLine<[AtomicU64; 2]>>,
    /// The number of the last echo; written by the participant whose turn it is, polled by the root.
    echoed: Place<CacheLine<AtomicU64>>,
}

impl Rendezvous {
    /// A meeting point of `participants`, who wait with `patience`.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn new(participants: usize, patience: Patience) -> Self {
        assert!(participants > 0, "a rendezvous needs a participant");
        Self::lay_out(&mut Arena::heap(), participants, patience).expect("the heap has room")
    }

    /// The same in memory that all participants lay out alike, processes too.
    ///
    /// # Errors
    /// If there is no room left.
    pub fn lay_out(arena: &mut Arena, participants: usize, patience: Patience) -> Result<Self, ArenaError> {
        let (arrived, meetings, echoed) = (arena.place()?, arena.place()?, arena.place()?);
        Ok(Self { participants: participants as u64, patience, arrived, meetings, echoed })
    }

    /// How many meet.
    pub fn participants(&self) -> usize {
        self.participants as usize
    }

    /// Tells the participant that awaits this number.
    #[inline]
    pub fn echo(&self, number: u64) {
        // ORDERING: Release, pairs with the Acquire in await_echo [echoed]
        self.echoed.store(number, Ordering::Release);
    }

    /// Waits for the echo of this number. Only one participant may wait, and one echo at a time be under way.
    ///
    /// # Errors
    /// [`Failure::Aborted`] if the contender is aborted before.
    #[inline]
    pub fn await_echo(&self, number: u64, abort: &Abort) -> Result<(), Failure> {
        // ORDERING: Acquire, pairs with the Release in echo [echoed]
        self.patience.until(abort, || self.echoed.load(Ordering::Acquire) == number)
    }

    /// Waits for everybody.
    ///
    /// # Errors
    /// [`Failure::Aborted`] if the contender is aborted before all are here; the rendezvous is then of no more use.
    #[inline]
    pub fn meet(&self, abort: &Abort) -> Result<(), Failure> {
        self.meet_with(abort, || 0).map(drop)
    }

    /// Waits for everybody; returns what the last to arrive said.
    ///
    /// # Errors
    /// As [`Rendezvous::meet`].
    #[inline]
    pub fn meet_with(&self, abort: &Abort, last: impl FnOnce() -> u64) -> Result<u64, Failure> {
        let [meetings, word] = &self.meetings.0;
        // ORDERING: Relaxed, the number cannot change before this participant has arrived
        let meeting = meetings.load(Ordering::Relaxed);
        // ORDERING: AcqRel, a chain through all arrivals: the last one acquires what each released [meeting]
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.participants {
            // ORDERING: Relaxed, the Release of the meeting's number below publishes the reset and the word
            self.arrived.store(0, Ordering::Relaxed);
            // ORDERING: Relaxed, as the reset
            word.store(last(), Ordering::Relaxed);
            // ORDERING: Release, pairs with the Acquire of those who wait below [meeting]
            meetings.store(meeting.wrapping_add(1), Ordering::Release);
        } else {
            // ORDERING: Acquire, pairs with the Release of the last to arrive [meeting]
            self.patience.until(abort, || meetings.load(Ordering::Acquire) != meeting)?;
        }
        // ORDERING: Relaxed, written before the number that this participant acquired, or by itself
        Ok(word.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn all_hear_what_the_last_said_and_nobody_is_early() {
        let point = Arc::new(Rendezvous::new(3, Patience::new(true)));
        let entered = Arc::new(AtomicU64::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (point, entered) = (Arc::clone(&point), Arc::clone(&entered));
                std::thread::spawn(move || {
                    let abort = Abort::default();
                    for round in 1..=100 {
                        entered.fetch_add(1, Ordering::Relaxed);
                        let said = point.meet_with(&abort, || entered.load(Ordering::Relaxed));
                        assert_eq!(said, Ok(3 * round));
                        point.meet(&abort).expect("nobody aborts");
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("no early leaver");
        }
    }

    #[test]
    fn an_abort_ends_the_wait() {
        let (point, abort) = (Rendezvous::new(2, Patience::new(false)), Abort::default());
        abort.raise();
        assert_eq!(point.meet(&abort), Err(Failure::Aborted));
    }
}
