//! Properties of the clock: how coarse it is, what a look at it costs, and how long a batch has to be for neither to
//! matter.

use std::hint::black_box;

use corecast_base::Clock;

use super::stats::median;

/// Looks at the clock in each series.
const LOOKS: usize = 1000;
/// Series of looks.
const SERIES: usize = 9;
/// A batch lasts at least this many times the clock's granularity, so that quantisation is below 1 %.
const GRANULES_PER_BATCH: f64 = 100.0;

/// The properties of the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauge {
    clock: &'static Clock,
    /// The step between two looks, in nanoseconds.
    pub(super) granularity_ns: f64,
    /// The cost of one look.
    pub(super) look_ns: f64,
    /// False if a later look showed an earlier time.
    pub(super) is_monotonic: bool,
}

impl Gauge {
    /// Measures the clock on this CPU.
    pub(super) fn take() -> Self {
        let clock = Clock::get();
        let mut steps: Vec<u64> = Vec::new();
        let mut is_monotonic = true;
        let mut looks_ns = Vec::new();
        for _ in 0..SERIES {
            let looks: Vec<u64> = (0..LOOKS).map(|_| clock.ticks()).collect();
            is_monotonic &= looks.is_sorted();
            steps.extend(looks.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).filter(|&step| step > 0));
            looks_ns.push(look_cost(clock));
        }
        // The usual step, not the smallest: counters that a hypervisor scales also show single odd ticks.
        steps.sort_unstable();
        let granularity_ns = clock.ns(steps.get(steps.len() / 2).copied().unwrap_or(1));
        Self { clock, granularity_ns, look_ns: median(&looks_ns), is_monotonic }
    }

    /// The time now, in ticks: not before the timed work is done, as far as loads go.
    #[inline(always)]
    pub(super) fn ticks(&self) -> u64 {
        self.clock.ticks_in_order()
    }

    /// Nanoseconds since `start`, less the look at the clock.
    #[inline(always)]
    pub(super) fn ns_since(&self, start: u64) -> f64 {
        self.clock.ns(self.ticks().saturating_sub(start)) - self.look_ns
    }

    /// How many operations of at least `least_ns` each make a batch: a power of two.
    pub(super) fn batch_of(&self, least_ns: f64) -> usize {
        const FEWEST: usize = 32;
        const MOST: usize = 4096;
        let wanted = GRANULES_PER_BATCH * self.granularity_ns / least_ns;
        (wanted.ceil() as usize).clamp(FEWEST, MOST).next_power_of_two()
    }

    /// Nanoseconds that `ticks` last.
    pub(super) fn ns(&self, ticks: u64) -> f64 {
        self.clock.ns(ticks)
    }
}

/// Measured over many looks, as one is shorter than the clock's step.
fn look_cost(clock: &Clock) -> f64 {
    let start = clock.ticks();
    for _ in 0..LOOKS {
        black_box(clock.ticks_in_order());
    }
    clock.ns(clock.ticks().saturating_sub(start)) / LOOKS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_here_can_be_used_and_batches_outlast_its_steps() {
        let gauge = Gauge::take();
        assert!(gauge.granularity_ns > 0.0 && gauge.look_ns > 0.0, "{gauge:?}");
        assert!(gauge.is_monotonic);
        let coarse = Gauge { granularity_ns: 40.0, ..gauge };
        assert_eq!(coarse.batch_of(4.0), 1024);
        assert_eq!(Gauge { granularity_ns: 0.4, ..gauge }.batch_of(20.0), 32);
        assert_eq!(Gauge { granularity_ns: 1e9, ..gauge }.batch_of(4.0), 4096);
    }
}
