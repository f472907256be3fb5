//! Whether any end is open on one side of the channel, and how the last one went.
//!
//! One word per side of the channel, derived from the lines of that side. An end that comes takes a line and then marks its
//! presence here. An end that goes gives its line back, counts itself here, and marks that it was the last one if no line
//! is held. The count distinguishes two ends that leave at once, or one that comes meanwhile, from an empty side. Read at
//! every idle poll and written seldom.

use corecast_base::Shareable;
use corecast_base::sync::{AtomicU64, Ordering};

const STATE_MASK: u64 = 3;
const ONE_MORE: u64 = 4;

/// The state of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum PresenceState {
    /// No end has come yet.
    Awaited = 0,
    Present = 1,
    /// The last one said goodbye.
    Left = 2,
    /// The last one died.
    Died = 3,
}

/// The word of one side.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(super) struct Presence(AtomicU64);

// SAFETY: an atomic integer.
unsafe impl Shareable for Presence {}

impl Presence {
    #[inline(always)]
    pub(super) fn look(&self) -> PresenceState {
        // ORDERING: Acquire, pairs with the AcqRel in depart: all that the last one published before it left is seen
        // [presence]
        match self.0.load(Ordering::Acquire) & STATE_MASK {
            0 => PresenceState::Awaited,
            1 => PresenceState::Present,
            2 => PresenceState::Left,
            _ => PresenceState::Died,
        }
    }

    /// Marks that an end, which holds a line, has come.
    pub(super) fn arrive(&self) {
        // ORDERING: Relaxed, the exchange below looks again
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let next = (seen & !STATE_MASK).wrapping_add(ONE_MORE) | PresenceState::Present as u64;
            // ORDERING: Release, pairs with the AcqRel in depart: an end that leaves later sees the line that was taken;
            // Relaxed on failure, which looks again [presence]
            match self.0.compare_exchange(seen, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Marks that an end, whose line is free now, has gone, and `how`; `is_last` tells whether no line is held.
    pub(super) fn depart(&self, how: PresenceState, is_last: impl FnOnce() -> bool) {
        // ORDERING: AcqRel, pairs with itself and with the Acquire in look: of two ends that leave at once the later one
        // sees that the other's line is free [presence]
        let seen = self.0.fetch_add(ONE_MORE, Ordering::AcqRel).wrapping_add(ONE_MORE);
        if is_last() {
            let next = seen & !STATE_MASK | how as u64;
            // ORDERING: Release, pairs with the Acquire in look; Relaxed on failure: an end that came or went since is
            // responsible for the word [presence]
            let _ = self.0.compare_exchange(seen, next, Ordering::Release, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_tells_how_it_went_unless_somebody_came() {
        let presence = Presence::default();
        assert_eq!(presence.look(), PresenceState::Awaited);
        presence.arrive();
        presence.depart(PresenceState::Left, || false);
        assert_eq!(presence.look(), PresenceState::Present);
        presence.depart(PresenceState::Left, || {
            presence.arrive();
            true
        });
        assert_eq!(presence.look(), PresenceState::Present);
        presence.depart(PresenceState::Died, || true);
        assert_eq!(presence.look(), PresenceState::Died);
        presence.arrive();
        assert_eq!(presence.look(), PresenceState::Present);
    }
}
