//! Since when writers have seen no reader come.

use std::time::Duration;

use corecast_base::Clock;

/// After this time without readers one line is enough for later ones. In a model, where no time passes: at once.
const QUIET: Duration = if cfg!(loom) { Duration::ZERO } else { Duration::from_secs(1) };

#[derive(Debug, Default)]
pub(super) struct Quiet {
    /// How many readers had come, at the last look.
    arrivals: u32,
    /// When that number was new, in ticks.
    since: u64,
}

impl Quiet {
    /// No reader has come, ever.
    #[cfg(not(loom))]
    pub(super) const EMPTY: Self = Self { arrivals: 0, since: 0 };

    /// Whether no reader has come for long, given the count of those so far.
    pub(super) fn is_over(&mut self, arrivals: u32) -> bool {
        let clock = Clock::get();
        self.is_over_at(arrivals, clock.ticks(), clock.ticks_in(QUIET))
    }

    fn is_over_at(&mut self, arrivals: u32, now: u64, quiet: u64) -> bool {
        if arrivals != self.arrivals {
            (self.arrivals, self.since) = (arrivals, now);
            return false;
        }
        let is_over = now.saturating_sub(self.since) >= quiet;
        if is_over {
            self.since = now;
        }
        is_over
    }

    /// As if the last reader had come at the beginning of time.
    #[cfg(all(test, not(loom)))]
    pub(super) fn forget(&mut self) {
        self.since = 0;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_when_nobody_has_come_for_long() {
        let mut quiet = Quiet::default();
        assert!(!quiet.is_over_at(3, 100, 10), "three have come");
        assert!(!quiet.is_over_at(3, 109, 10));
        assert!(!quiet.is_over_at(4, 111, 10), "one has come");
        assert!(!quiet.is_over_at(4, 120, 10));
        assert!(quiet.is_over_at(4, 121, 10));
        assert!(!quiet.is_over_at(4, 130, 10), "it begins anew");
    }
}
