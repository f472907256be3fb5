//! The looks of a waiting thread at the word.

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::Ordering;

use super::super::FREE;
use super::super::mode::{LOCKED, Mode};
use super::Comer;
use crate::three_states::IS_MODEL;

/// The first looks of a waiting thread try to take the lock, for this time at most. Later ones do not, as each takes the line
/// from all others; where many wait, an exchange takes longer than that.
const EXCHANGES: u32 = if IS_MODEL { 1 } else { 8 };
const EXCHANGING: Duration = Duration::from_nanos(500);

impl Comer<'_> {
    /// The word, or `None` if it has taken the lock, as the first looks do where that is free: a look that finds it free, and the
    /// exchange that takes it then, bring the line twice.
    pub(super) fn look(&mut self) -> Option<u32> {
        if self.is_to_exchange() {
            self.exchanges += 1;
            // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [auto-free]
            let word = self.lock.word.compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Relaxed).err()?;
            self.is_spin = Mode::of(word) == Mode::Spin;
            return Some(word);
        }
        // ORDERING: Relaxed, the exchanges look again
        let word = self.lock.word.load(Ordering::Relaxed);
        self.is_spin = Mode::of(word) == Mode::Spin;
        Some(word)
    }

    /// Whether the next look is an exchange.
    pub(super) fn is_to_exchange(&self) -> bool {
        let may_exchange = self.place.is_none() && self.is_spin && self.exchanges < EXCHANGES;
        let clock = Clock::get();
        may_exchange
            && (IS_MODEL || !self.has_waited || clock.ticks().saturating_sub(self.start) < clock.ticks_in(EXCHANGING))
    }
}
