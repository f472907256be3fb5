//! The cost of reading the clock, which is taken from every sample.
//!
//! Measured as a distribution on each CPU that measures, once bare and once around a full fence. No constant stands in for
//! a timer that is unsteady: then nothing is measured.

use corecast::base::{Clock, CpuId};
use corecast::machine::pin;
use serde::Serialize;

use super::distribution::Distribution;
use super::instruction;
use super::operation::timed;
use crate::stats::{Samples, median_of};
use corecast_race::error::BenchError;

/// Looks of one try.
const LOOKS: usize = 2000;
/// The first that is steady counts: others may have worked on the same core, or its frequency changed.
const TRIES: usize = 50;
/// The timer is steady if nine tenths of its looks take at most this multiple of the fastest tenth.
const LARGEST_SPREAD: f64 = 2.0;

/// The timer of one CPU.
#[derive(Clone, Debug, Serialize)]
pub struct TimerRow {
    /// The CPU.
    pub cpu: u32,
    /// Nothing between two looks.
    pub empty: Distribution,
    /// A full fence between two looks.
    pub fenced: Distribution,
}

/// The ticks that are taken from samples of one CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correction {
    empty: u64,
    fenced: u64,
}

impl Correction {
    /// Nanoseconds that something took by itself, which with the timer took `ticks`.
    pub(crate) fn ns(self, ticks: u64, is_fenced: bool) -> f64 {
        let own = if is_fenced { self.fenced } else { self.empty };
        let clock = Clock::get();
        clock.ns(ticks) - clock.ns(own)
    }
}

/// Measures the timer of a CPU.
pub(crate) fn measure(cpu: CpuId) -> Result<(TimerRow, Correction), BenchError> {
    let both = || -> Result<_, BenchError> {
        let _pinned = pin::pin(cpu)?;
        let empty = steady(cpu, || timed(|| ()).0)?;
        let fenced = steady(cpu, || timed(instruction::full_fence).0)?;
        Ok((empty, fenced))
    };
    // On a thread of its own, which shares its mask with no other thread.
    let joined = std::thread::scope(|scope| scope.spawn(both).join());
    let (empty, fenced) = joined.expect("looking at a clock does not panic")?;
    let distribution = |ticks: &[u64]| {
        let ns = ticks.iter().map(|&ticks| Clock::get().ns(ticks));
        Distribution::of(ns).expect("there are looks")
    };
    let row = TimerRow { cpu: cpu.get(), empty: distribution(&empty), fenced: distribution(&fenced) };
    Ok((row, Correction { empty: middle(&empty), fenced: middle(&fenced) }))
}

fn middle(ticks: &[u64]) -> u64 {
    median_of(ticks.iter().map(|&ticks| ticks as f64)).expect("there are looks") as u64
}

/// The first try whose looks take about the same time.
fn steady(cpu: CpuId, mut look: impl FnMut() -> u64) -> Result<Vec<u64>, BenchError> {
    let mut spread = f64::INFINITY;
    for _ in 0..TRIES {
        let ticks: Vec<u64> = (0..LOOKS).map(|_| look()).collect();
        spread = spread_of(&ticks);
        if spread <= LARGEST_SPREAD {
            return Ok(ticks);
        }
    }
    Err(BenchError::UnsteadyTimer { cpu, spread, most: LARGEST_SPREAD })
}

/// The time that nine tenths do not exceed, divided by that which a tenth does not exceed.
fn spread_of(ticks: &[u64]) -> f64 {
    let ticks = Samples::of(ticks.iter().map(|&ticks| ticks as f64));
    let most_of = |share| ticks.quantile(share).expect("there are looks");
    most_of(0.90) / most_of(0.10).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_interrupts_leave_a_timer_steady() {
        let mut count = 0;
        let mut look = || {
            count += 1;
            if count % 20 == 0 { 90_000 } else { 40 + count % 3 }
        };
        assert_eq!(steady(CpuId::new(0), &mut look).expect("steady").len(), LOOKS);
    }

    #[test]
    fn an_unsteady_timer_is_an_error_and_no_constant() {
        let mut count = 0;
        let mut look = || {
            count += 1;
            if count % 2 == 0 { 30 } else { 100 }
        };
        let error = steady(CpuId::new(7), &mut look).expect_err("it jumps").to_string();
        assert_eq!(
            error,
            "the timer of CPU 7 is unsteady: nine tenths of its looks take up to 3.3 times what the fastest tenth takes, at \
             most 2 times was expected"
        );
    }

    #[test]
    fn the_timer_that_fits_is_taken_off_and_nothing_is_cut_off() {
        let correction = Correction { empty: 100, fenced: 300 };
        let clock = Clock::get();
        assert!((correction.ns(400, false) - clock.ns(300)).abs() < 1e-6);
        assert!((correction.ns(400, true) - clock.ns(100)).abs() < 1e-6);
        assert!(correction.ns(50, false) < 0.0);
    }
}
