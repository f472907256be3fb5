//! Whether giving up the CPU is worth it: what a waiter has seen of its yields.
//!
//! A yield is the cheapest way to let another participant run that shares this CPU (1 to 2 us a switch), and the dearest
//! if a foreign thread wants the CPU too: current kernels then give the rest of the slice away, 1 to 4 ms. A waiter
//! cannot know beforehand which it will be, so it believes what it saw last: after a slow yield it does not yield for a
//! while, which grows with every confirmation, and tries a single one when the while is over. The states and the
//! measurements that chose the constants are in `docs/design/waiting.md`.

use std::time::Duration;

use crate::clock::Clock;

/// A yield that took longer gave the CPU to a thread that does not wait for us.
const SLOW: Duration = Duration::from_micros(500);
/// How long a waiter does not yield after a first slow one, and after many.
const DISTRUST: [Duration; 2] = [Duration::from_millis(4), Duration::from_secs(1)];
/// How long a CPU is believed to be shared with another participant.
const SHARED: Duration = Duration::from_millis(10);

/// What a waiter has learnt from its yields, in ticks.
#[derive(Debug, Clone)]
pub(super) struct Yields {
    /// Until when a yield is expected to be slow.
    distrusted_until: u64,
    /// How long the last distrust was meant to last; doubled by a slow yield that follows soon after it.
    distrust: u64,
    /// Until when another participant is believed to run on this CPU; 0 for not at all.
    shared_until: u64,
}

impl Yields {
    pub(super) const fn new() -> Self {
        Self { distrusted_until: 0, distrust: 0, shared_until: 0 }
    }

    /// True unless a yield was slow of late.
    pub(super) fn are_trusted(&self, now: u64) -> bool {
        now >= self.distrusted_until
    }

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

    /// A yield has led to what was waited for, after spinning for it was in vain.
    pub(super) fn found_peer_here(&mut self, now: u64) {
        self.shared_until = now + Clock::get().ticks_in(SHARED);
    }

    /// A yield has ended `now`, which began at `before`. False if no other should follow.
    pub(super) fn ended(&mut self, before: u64, now: u64) -> bool {
        let clock = Clock::get();
        if now.saturating_sub(before) < clock.ticks_in(SLOW) {
            return true;
        }
        let [shortest, longest] = DISTRUST.map(|time| clock.ticks_in(time));
        let is_confirmed = before < self.distrusted_until + self.distrust;
        self.distrust = if is_confirmed { (2 * self.distrust).clamp(shortest, longest) } else { shortest };
        self.distrusted_until = now + self.distrust;
        self.shared_until = 0;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(ms: u64) -> u64 {
        Clock::get().ticks_in(Duration::from_millis(ms))
    }

    #[test]
    fn distrust_grows_while_it_is_confirmed_and_begins_anew_when_it_was_not_for_long() {
        let mut yields = Yields::new();
        assert!(yields.are_trusted(0) && yields.ended(ticks(10), ticks(10) + 1));
        let (mut now, mut lasted) = (ticks(20), Vec::new());
        for _ in 0..12 {
            assert!(!yields.ended(now, now + ticks(3)));
            let again = yields.distrusted_until;
            assert!(!yields.are_trusted(again - 1) && yields.are_trusted(again));
            lasted.push(again - now - ticks(3));
            now = again;
        }
        assert!(lasted[..9].windows(2).all(|two| two[1] == 2 * two[0] || two[1] == ticks(1000)), "{lasted:?}");
        assert_eq!((lasted[0], lasted[11]), (ticks(4), Clock::get().ticks_in(DISTRUST[1])));
        now += 2 * lasted[11];
        assert!(!yields.ended(now, now + ticks(3)));
        assert_eq!(yields.distrust, lasted[0]);
    }
}
