//! A waiter's own yields, from which it learns whether yields are slow, and whether another participant runs on its CPU.

use std::time::Duration;

use super::slow_yields::learn_here;
use crate::clock::Clock;

/// A yield that took longer gave the CPU to a thread that does not wait for this one, or the machine took the CPU away.
/// Longer than a peer works before it yields back: a sender that fills a ring of 8 MB from memory takes 0.5 to 1 ms, and
/// after one such yield taken for slow (the limit was 0.5 ms) each message cost two wake-ups. Shorter than a foreign slice.
const SLOW: Duration = Duration::from_micros(1250);
/// A waiter ignores a slow yield after this many waits that ended with a yield: by estimate these have saved the cost of the slow
/// one, as each saved a sleep. A used-up quota, or the host of a virtual machine, makes a yield slow as rarely as that. When all
/// yields counted that came back soon, also those that found nothing, four members on two CPUs forgave the busy processes
/// beside them after a few waits, and went on to yield.
const FORGIVEN_AFTER: u32 = 256;
/// The time for which a CPU is believed to be shared with another participant.
const SHARED: Duration = Duration::from_millis(10);

/// One waiter's yields.
#[derive(Debug, Clone, Default)]
pub(super) struct Yields {
    /// The waits that ended with a yield since a slow one.
    saved: u32,
    /// Until then another participant is believed to run on this CPU, in ticks; 0 for not at all.
    shared_until: u64,
}

impl Yields {
    /// True while another participant is believed to run on this CPU.
    #[inline]
    pub(super) fn expect_peer_here(&self) -> bool {
        self.shared_until != 0
    }

    /// Forgets a belief that has become too old.
    pub(super) fn forget(&mut self, now: u64) {
        if now >= self.shared_until {
            self.shared_until = 0;
        }
    }

    /// Takes in a yield that let another thread run and led to what the waiter waited for, after a vain spin.
    pub(super) fn found_peer_here(&mut self, now: u64) {
        self.shared_until = now + Clock::get().ticks_in(SHARED);
    }

    /// Takes in a yield that ended a wait, which had no need to sleep.
    pub(super) fn saved_a_sleep(&mut self) {
        self.saved = self.saved.saturating_add(1);
    }

    /// Takes in a yield that began at `before` and ended `now`. False if no other should follow.
    pub(super) fn ended(&mut self, before: u64, now: u64) -> bool {
        if now.saturating_sub(before) < Clock::get().ticks_in(SLOW) {
            return true;
        }
        if std::mem::take(&mut self.saved) >= FORGIVEN_AFTER {
            return true;
        }
        self.shared_until = 0;
        learn_here(before, now);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_yield_ends_the_yields_unless_it_is_a_rare_one() {
        let slow = 2 * Clock::get().ticks_in(SLOW);
        let mut yields = Yields::default();
        yields.found_peer_here(1);
        assert!(yields.ended(1, 2) && yields.expect_peer_here());
        assert!(!yields.ended(1, 1 + slow) && !yields.expect_peer_here());
        assert!((0..FORGIVEN_AFTER).all(|_| yields.ended(1, 2)));
        assert!(!yields.ended(1, 1 + slow), "they found nothing");
        (0..FORGIVEN_AFTER).for_each(|_| yields.saved_a_sleep());
        assert!(yields.ended(1, 1 + slow), "the first after many");
        assert!(!yields.ended(1, 1 + slow), "and no other");
    }

    #[test]
    fn a_peer_that_fills_a_large_ring_is_not_slow() {
        let millisecond = Clock::get().ticks_in(Duration::from_millis(1));
        let mut yields = Yields::default();
        yields.found_peer_here(1);
        assert!(yields.ended(1, 1 + millisecond) && yields.expect_peer_here());
    }
}
