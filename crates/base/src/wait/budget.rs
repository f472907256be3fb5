//! How long to spin before sleeping: as long as a sleep would cost, less where spinning has not paid of late.

use std::time::Duration;

use crate::clock::Clock;

/// What putting a thread to sleep and waking it costs where nobody has measured it.
pub const ASSUMED_WAKE_COST: Duration = Duration::from_micros(20);

const SHORTEST: Duration = Duration::from_micros(1);
const LONGEST: Duration = Duration::from_micros(50);

/// The spin budget of one waiter, in ticks.
#[derive(Debug, Clone)]
pub(super) struct SpinBudget {
    /// B: the wake cost, between 1 and 50 us (0 only if a wake-up is said to be free).
    wake_cost: u64,
    /// T: the moving average of waits that outlasted the quick polls.
    mean_wait: u64,
}

impl SpinBudget {
    pub(super) fn new(wake_cost: Duration) -> Self {
        let clamped = if wake_cost.is_zero() { wake_cost } else { wake_cost.clamp(SHORTEST, LONGEST) };
        Self { wake_cost: Clock::get().ticks_in(clamped), mean_wait: 0 }
    }

    /// B while waits are usually over within B, else B * B / T: long waits are not worth much hope.
    pub(super) fn ticks(&self) -> u64 {
        if self.mean_wait <= self.wake_cost {
            return self.wake_cost;
        }
        let (cost, mean) = (u128::from(self.wake_cost), u128::from(self.mean_wait));
        u64::try_from(cost * cost / mean).expect("no more than the wake cost, as the mean is above it")
    }

    pub(super) fn learn(&mut self, waited: u64) {
        self.mean_wait = self.mean_wait - self.mean_wait / 8 + waited / 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waits_shrink_the_budget_and_short_ones_restore_it() {
        let mut budget = SpinBudget::new(Duration::from_micros(10));
        let full = budget.ticks();
        assert_eq!(full, Clock::get().ticks_in(Duration::from_micros(10)));
        for _ in 0..40 {
            budget.learn(full * 100);
        }
        assert!(budget.ticks() < full / 50, "after waits of 100 x the budget it is {} of {full}", budget.ticks());
        for _ in 0..80 {
            budget.learn(full / 10);
        }
        assert_eq!(budget.ticks(), full);
    }

    #[test]
    fn cost_is_clamped() {
        let clock = Clock::get();
        assert_eq!(SpinBudget::new(Duration::from_nanos(1)).ticks(), clock.ticks_in(SHORTEST));
        assert_eq!(SpinBudget::new(Duration::from_secs(1)).ticks(), clock.ticks_in(LONGEST));
        assert_eq!(SpinBudget::new(Duration::ZERO).ticks(), 0);
    }
}
