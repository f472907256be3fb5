//! The time to spin before sleeping: at least as long as a sleep would cost, and less where spinning has not paid of late.
//!
//! One that waits for many has to spin for longer than one wake-up takes: once a member of a group sleeps, the others wait for
//! its wake-up, and for those of all that it wakes in turn. If they sleep meanwhile, the next round finds all of them asleep, and
//! the group stays so: 16 members on 16 CPUs, where a wake-up took 6 us and each spun for that, took 27 to 82 us for a barrier
//! over some trees in the place of 1.5.

use std::time::Duration;

use crate::clock::Clock;

/// The assumed cost of putting a thread to sleep and waking it, where nobody has measured it.
pub const ASSUMED_WAKE_COST: Duration = Duration::from_micros(20);

const SHORTEST: Duration = Duration::from_micros(1);
const LONGEST: Duration = Duration::from_micros(50);
/// A waiter spins for this time while that pays, or for as long as a wake-up takes if that is longer. It is enough for eight
/// wake-ups of 6 us, one after another.
const WHILE_IT_PAYS: Duration = Duration::from_micros(50);

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
    /// The budget while spinning pays: 50 us, or 0 with B.
    whole: u64,
    /// Waits in a row in which spinning was in vain or not tried.
    vain: u32,
}

impl SpinBudget {
    pub(super) fn new(wake_cost: Duration) -> Self {
        let clamped = if wake_cost.is_zero() { wake_cost } else { wake_cost.clamp(SHORTEST, LONGEST) };
        let whole = if wake_cost.is_zero() { wake_cost } else { WHILE_IT_PAYS.max(clamped) };
        let ticks = |time| Clock::get().ticks_in(time);
        Self { wake_cost: ticks(clamped), whole: ticks(whole), vain: 0 }
    }

    /// The whole while spinning pays, and half as much after each vain spin. After [`VAIN_AT_MOST`] vain spins it is 0 except for
    /// a probe now and then; a waiter that `is_alone` on its CPU, where spinning keeps no participant from running, still
    /// gets a quarter of B.
    pub(super) fn ticks(&self, is_alone: bool) -> u64 {
        match self.vain {
            vain if vain < VAIN_AT_MOST => self.whole >> vain,
            vain if vain % WAITS_PER_PROBE == 0 => self.whole.max(PROBE * self.wake_cost),
            _ if is_alone => self.wake_cost >> (VAIN_AT_MOST - 1),
            _ => 0,
        }
    }

    /// Takes in how a wait ended: while it polled (`was_found`), or later.
    #[inline]
    pub(super) fn learn(&mut self, was_found: bool) {
        self.vain = if was_found { 0 } else { self.vain.wrapping_add(1).max(1) };
    }

    /// Takes in that a waiter alone on its CPU has slept, and waited for `ticks` in all: the whole budget would have done.
    pub(super) fn learn_from_sleep(&mut self, ticks: u64) {
        if ticks < self.whole {
            self.vain = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vain_spins_shrink_the_budget_and_one_that_pays_restores_it() {
        let mut budget = SpinBudget::new(Duration::from_micros(20));
        let clock = Clock::get();
        let [whole, wake, probe] = [50, 20, 60].map(|us| clock.ticks_in(Duration::from_micros(us)));
        let mut spent = Vec::new();
        for _ in 0..=2 * WAITS_PER_PROBE {
            assert!(budget.ticks(true) >= wake / 4);
            spent.push(budget.ticks(false));
            budget.learn(false);
        }
        assert_eq!(spent[..4], [whole, whole / 2, whole / 4, 0]);
        assert_eq!([spent[31], spent[33]], [0, 0]);
        assert!([spent[32], spent[64]].iter().all(|&spent| spent.abs_diff(probe) <= PROBE), "{spent:?}");
        budget.learn(true);
        assert_eq!(budget.ticks(false), whole);
    }

    #[test]
    fn a_sleep_that_spinning_would_have_saved_restores_the_budget() {
        let mut budget = SpinBudget::new(Duration::from_micros(6));
        let whole = budget.ticks(true);
        for _ in 0..VAIN_AT_MOST {
            budget.learn(false);
        }
        budget.learn_from_sleep(whole);
        assert!(budget.ticks(true) < whole / 8, "as long a spin would have been in vain");
        budget.learn_from_sleep(whole - 1);
        assert_eq!(budget.ticks(true), whole);
    }

    #[test]
    fn cost_is_clamped() {
        let clock = Clock::get();
        assert_eq!(SpinBudget::new(Duration::from_nanos(1)).wake_cost, clock.ticks_in(SHORTEST));
        assert_eq!(SpinBudget::new(Duration::from_secs(1)).ticks(true), clock.ticks_in(LONGEST));
        assert_eq!(SpinBudget::new(Duration::ZERO).ticks(true), 0);
    }
}
