//! Parkers: event counts that belong to no single channel, for threads that wait on several channels at once.

use std::fmt;
use std::time::Duration;

use super::process_parkers::{self, Parkers};
use crate::sync::{EventCount, Scope};

/// An event count to sleep on. Two sleepers may share one: each is then woken for the other now and then.
#[derive(Clone)]
pub struct Parker {
    parkers: Parkers,
    number: u32,
    scope: Scope,
}

impl Parker {
    /// A parker for a thread that waits for threads of this process only.
    #[must_use]
    pub fn of_this_process() -> Self {
        let parkers = process_parkers::all();
        let number = process_parkers::next_number() % parkers.len() as u32;
        Self { parkers, number, scope: Scope::Process }
    }

    /// The parker with this number in a memory that several processes share; `None` if there is none.
    #[must_use]
    pub fn within(parkers: Parkers, number: u32) -> Option<Self> {
        ((number as usize) < parkers.len()).then_some(Self { parkers, number, scope: Scope::Machine })
    }

    /// Its number, which publishers are told.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// True if it is one of these parkers.
    pub(super) fn is_among(&self, parkers: &Parkers) -> bool {
        std::ptr::eq(&*self.parkers, &**parkers)
    }

    /// The count now. Read it before arming the words that forward to this parker.
    #[must_use]
    pub fn now(&self) -> u32 {
        self.count().now()
    }

    /// Sleeps until the count differs from `seen`, for at most `longest`; may also return early for no reason. True if the
    /// count differs.
    pub fn wait(&self, seen: u32, longest: Duration) -> bool {
        self.count().wait(seen, longest, self.scope)
    }

    /// True if threads of other processes wake its sleepers.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.scope == Scope::Machine
    }

    /// Wakes the threads that sleep here.
    pub fn unpark(&self) {
        self.count().advance(self.scope);
    }

    /// Sleeps until the count of one of these parkers differs from the count seen there, for at most `longest`; may also
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

/// Wakes the threads that sleep on the parker to which a word forwards: its number and one, or 0 for none. A stranger may
/// have written the number; a number of no parker wakes nobody.
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
    use crate::{CacheLine, Place, PlaceSlice};

    #[test]
    fn a_word_of_either_memory_wakes_the_sleeper() {
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
    fn a_forward_to_no_parker_wakes_nobody() {
        let parkers: Parkers = PlaceSlice::new(vec![CacheLine::new(EventCount::new())]);
        for forward in [0, 2, u32::MAX] {
            wake_parker(&parkers, forward, Scope::Machine);
        }
        assert_eq!(parkers[0].now(), 0);
        wake_parker(&parkers, 1, Scope::Machine);
        assert_eq!(parkers[0].now(), 1);
    }
}
