//! The time to spin before sleeping: as long as a sleep would cost, and less where spinning has not paid of late.

use std::time::Duration;

use crate::clock::Clock;

/// The assumed cost of putting a thread to sleep and waking it, where nobody has measured it.
pub const ASSUMED_WAKE_COST: Duration = Duration::from_micros(20);

const SHORTEST: Duration = Duration::from_micros(1);
const LONGEST: Duration = Duration::from_micros(50);

/// After this many vain spins in a row a waiter spins no more, except for probes.
const VAIN_AT_MOST: u32 = 3;
/// Of this many waits that do not spin, one spins to see whether it pays again.
const WAITS_PER_PROBE: u32 = 32;
/// A probe lasts this many times as long as a wake-up. Two participants may wake each other in turns, each asleep when the
/// other arrives; they get into step only if one of them spins for as long as the other needs to get up.
const PROBE: u64 = 3;

/// The spin budget of one waiter, in ticks.
#[derive(Debug, Clone)]
pub(super) struct SpinBudget {
    /// B: the wake cost, between 1 and 50 us (0 only if the caller says that a wake-up is free).
    wake_cost: u64,
    /// Waits in a row in which spinning was in vain or not tried.
    vain: u32,
}

impl SpinBudget {
    pub(super) fn new(wake_cost: Duration) -> Self {
        let clamped = if wake_cost.is_zero() { wake_cost } else { wake_cost.clamp(SHORTEST, LONGEST) };
        Self { wake_cost: Clock::get().ticks_in(clamped), vain: 0 }
    }

    /// B while spinning pays, and half as much after each vain spin. After [`VAIN_AT_MOST`] vain spins it is 0 except for a
    /// probe now and then; a waiter that `is_alone` on its CPU, where spinning keeps no participant from running, still
    /// gets a quarter.
    pub(super) fn ticks(&self, is_alone: bool) -> u64 {
        match self.vain {
            vain if vain < VAIN_AT_MOST => self.wake_cost >> vain,
            vain if vain % WAITS_PER_PROBE == 0 => PROBE * self.wake_cost,
            _ if is_alone => self.wake_cost >> (VAIN_AT_MOST - 1),
            _ => 0,
        }
    }

    /// Takes in how a wait ended: while it polled (`was_found`), or later.
    #[inline]
    pub(super) fn learn(&mut self, was_found: bool) {
        self.vain = if was_found { 0 } else { self.vain.wrapping_add(1).max(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vain_spins_shrink_the_budget_and_one_that_pays_restores_it() {
        let mut budget = SpinBudget::new(Duration::from_micros(10));
        let full = Clock::get().ticks_in(Duration::from_micros(10));
        let mut spent = Vec::new();
        for _ in 0..=2 * WAITS_PER_PROBE {
            assert_eq!(budget.ticks(true).max(full / 4), budget.ticks(true));
            spent.push(budget.ticks(false));
            budget.learn(false);
        }
        assert_eq!(spent[..4], [full, full / 2, full / 4, 0]);
        assert_eq!([spent[31], spent[32], spent[33], spent[64]], [0, PROBE * full, 0, PROBE * full]);
        budget.learn(true);
        assert_eq!(budget.ticks(false), full);
    }

    #[test]
    fn cost_is_clamped() {
        let clock = Clock::get();
        assert_eq!(SpinBudget::new(Duration::from_nanos(1)).ticks(true), clock.ticks_in(SHORTEST));
        assert_eq!(SpinBudget::new(Duration::from_secs(1)).ticks(true), clock.ticks_in(LONGEST));
        assert_eq!(SpinBudget::new(Duration::ZERO).ticks(true), 0);
    }
}
