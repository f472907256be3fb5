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

    /// True if it is one of these.
    pub(super) fn is_among(&self, seats: &Seats) -> bool {
        std::ptr::eq(&*self.seats, &**seats)
    }

    /// The count now: read it before arming the words that forward here.
    #[must_use]
    pub fn now(&self) -> u32 {
        self.count().now()
    }

    /// Sleeps until the count differs from `seen`, for at most `longest`; may also return early for no reason. True if the
    /// count differs.
    pub fn wait(&self, seen: u32, longest: Duration) -> bool {
        self.count().wait(seen, longest, self.scope)
    }

    /// True if threads of other processes ring it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.scope == Scope::Machine
    }

    /// Wakes who sleeps here.
    pub fn ring(&self) {
        self.count().advance(self.scope);
    }

    /// Sleeps until the count of one of these seats differs from what was seen there, for at most `longest`; may also
    /// return early for no reason. True if a count differs.
    pub fn wait_any(seen: &[(Self, u32)], longest: Duration) -> bool {
        match seen {
            [] => false,
            [(seat, seen)] => seat.wait(*seen, longest),
            several => {
                let counts: Vec<_> = several.iter().map(|(seat, seen)| (seat.count(), *seen, seat.scope)).collect();
                EventCount::wait_any(&counts, longest)
            }
        }
    }

    fn count(&self) -> &EventCount {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Fences;
    use crate::wait::{LONGEST_NAP, WakeCell, WakeWord};
    use crate::{CacheLine, Place};

    #[test]
    fn whichever_of_two_memories_rings_wakes_the_sleeper() {
        let seats: Seats = PlaceSlice::new((0..4).map(|_| CacheLine::new(EventCount::new())).collect());
        let cell = Place::new(CacheLine::new(WakeCell::default()));
        let shared = WakeWord::within(cell, seats, 3, Some(Fences::of(Scope::Machine)));
        let private = WakeWord::new(crate::wait::Wait::Park);
        for ringer in [&shared, &private] {
            let taken = [&shared, &private].map(|word| word.seat().expect("the seat is there"));
            assert!(shared.reaches(&taken[0]) && !shared.reaches(&taken[1]) && private.reaches(&taken[1]));
            let seen = taken.clone().map(|seat| (seat.now(), seat)).map(|(seen, seat)| (seat, seen));
            shared.arm_for(shared.forward(), taken[0].number());
            private.arm_for(private.forward(), taken[1].number());
            std::thread::scope(|scope| {
                scope.spawn(|| ringer.notify());
                while taken.iter().zip(&seen).all(|(seat, (_, seen))| seat.now() == *seen) {
                    Seat::wait_any(&seen, LONGEST_NAP);
                }
            });
        }
    }

    #[test]
    fn a_forward_to_no_seat_rings_nobody() {
        let seats: Seats = PlaceSlice::new(vec![CacheLine::new(EventCount::new())]);
        for forward in [0, 2, u32::MAX] {
            ring_seat(&seats, forward, Scope::Machine);
        }
        assert_eq!(seats[0].now(), 0);
        ring_seat(&seats, 1, Scope::Machine);
        assert_eq!(seats[0].now(), 1);
    }
}
