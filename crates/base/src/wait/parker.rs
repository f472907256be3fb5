//! Parkers: event counts that do not belong to one channel, for those who wait at several at once.

use std::fmt;
use std::time::Duration;

use super::process_parkers;
use crate::CacheLine;
use crate::place::PlaceSlice;
use crate::sync::{EventCount, Scope};

/// The seats of one memory.
pub type Parkers = PlaceSlice<CacheLine<EventCount>>;

/// One seat, to sleep on. Two sleepers may share one: each is woken for the other now and then.
#[derive(Clone)]
pub struct Parker {
    parkers: Parkers,
    number: u32,
    scope: Scope,
}

impl Parker {
    /// A seat for a thread that waits for threads of this process only.
    #[must_use]
    pub fn of_this_process() -> Self {
        let parkers = process_parkers::all();
        let number = process_parkers::next_number() % parkers.len() as u32;
        Self { parkers, number, scope: Scope::Process }
    }

    /// The seat with this number of a memory that several processes share; `None` if there is none.
    #[must_use]
    pub fn within(parkers: Parkers, number: u32) -> Option<Self> {
        ((number as usize) < parkers.len()).then_some(Self { parkers, number, scope: Scope::Machine })
    }

    /// Its number, as publishers are told it.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// True if it is one of these.
    pub(super) fn is_among(&self, parkers: &Parkers) -> bool {
        std::ptr::eq(&*self.parkers, &**parkers)
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
    pub fn unpark(&self) {
        self.count().advance(self.scope);
    }

    /// Sleeps until the count of one of these seats differs from what was seen there, for at most `longest`; may also
    /// return early for no reason. True if a count differs.
    pub fn wait_any(seen: &[(Self, u32)], longest: Duration) -> bool {
        match seen {
            [] => false,
            [(parker, seen)] => parker.wait(*seen, longest),
            several => {
                let counts: Vec<_> =
                    several.iter().map(|(parker, seen)| (parker.count(), *seen, parker.scope)).collect();
                EventCount::wait_any(&counts, longest)
            }
        }
    }

    fn count(&self) -> &EventCount {
        &self.parkers[self.number as usize]
    }
}

/// Wakes who sleeps on the seat that a word forwards to: its number and one, or 0 for none. The number may have been
/// written by a stranger: what is no seat is nobody's.
pub(super) fn wake_parker(parkers: &Parkers, forward: u32, scope: Scope) {
    if let Some(count) = forward.checked_sub(1).and_then(|number| parkers.get(number as usize)) {
        count.advance(scope);
    }
}

impl fmt::Debug for Parker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parker({})", self.number)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Fences;
    use crate::wait::{LONGEST_SLEEP, WakeCell, WakeWord};
    use crate::{CacheLine, Place};

    #[test]
    fn whichever_of_two_memories_rings_wakes_the_sleeper() {
        let parkers: Parkers = PlaceSlice::new((0..4).map(|_| CacheLine::new(EventCount::new())).collect());
        let cell = Place::new(CacheLine::new(WakeCell::default()));
        let shared = WakeWord::within(cell, parkers, 3, Some(Fences::of(Scope::Machine)));
        let private = WakeWord::new(crate::wait::Wait::Park);
        for ringer in [&shared, &private] {
            let taken = [&shared, &private].map(|word| word.parker().expect("the parker is there"));
            assert!(shared.reaches(&taken[0]) && !shared.reaches(&taken[1]) && private.reaches(&taken[1]));
            let seen = taken.clone().map(|parker| (parker.now(), parker)).map(|(seen, parker)| (parker, seen));
            shared.arm_for(shared.forward(), taken[0].number());
            private.arm_for(private.forward(), taken[1].number());
            std::thread::scope(|scope| {
                scope.spawn(|| ringer.notify());
                while taken.iter().zip(&seen).all(|(parker, (_, seen))| parker.now() == *seen) {
                    Parker::wait_any(&seen, LONGEST_SLEEP);
                }
            });
        }
    }

    #[test]
    fn a_forward_to_no_seat_rings_nobody() {
        let parkers: Parkers = PlaceSlice::new(vec![CacheLine::new(EventCount::new())]);
        for forward in [0, 2, u32::MAX] {
            wake_parker(&parkers, forward, Scope::Machine);
        }
        assert_eq!(parkers[0].now(), 0);
        wake_parker(&parkers, 1, Scope::Machine);
        assert_eq!(parkers[0].now(), 1);
    }
}
