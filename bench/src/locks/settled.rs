//! How long it takes until throughput is what it stays.
//!
//! What it stays is the median of the second half of a phase. It has settled after the last window of three bins in the first
//! half whose mean is below 0.8 of that: more than it stays is no harm. Half of a phase is the most that can be told; a lock
//! that gets nothing done in the median bin is said to take so long.

use super::flips::BIN;
use crate::harness::median;

/// Bins of a window: one alone is at the mercy of an interrupt.
const WINDOW: usize = 3;
/// What is close enough.
const CLOSE: f64 = 0.8;

/// What the throughput of a phase stays, by the bin.
pub(super) fn steady(bins: &[u64]) -> f64 {
    let late: Vec<f64> = bins[bins.len() / 2..].iter().map(|&count| count as f64).collect();
    median(&late).unwrap_or(0.0)
}

/// How long it took until it was there and stayed there.
pub(super) fn settled_ms(bins: &[u64], steady: f64) -> f64 {
    let half = bins.len() / 2;
    let ms = |bins: usize| (BIN * bins as u32).as_secs_f64() * 1e3;
    if steady <= 0.0 {
        return ms(half);
    }
    let is_low = |window: &[u64]| window.iter().sum::<u64>() as f64 / (window.len() as f64) < CLOSE * steady;
    let last_low = bins.windows(WINDOW).take(half).rposition(is_low);
    last_low.map_or(0.0, |bin| ms(bin + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bins: &[u64]) -> f64 {
        settled_ms(bins, steady(bins))
    }

    #[test]
    fn it_has_settled_when_it_is_low_no_more() {
        assert_eq!(told(&[100; 20]), 0.0);
        let mut bins = [100; 20];
        bins[..4].fill(10);
        assert_eq!(told(&bins), 4.0);
        bins[6] = 0;
        assert_eq!(told(&bins), 7.0, "it fell back");
    }

    #[test]
    fn more_than_it_stays_is_no_harm_nor_is_what_comes_late() {
        let mut bins = [100; 20];
        bins[..5].fill(900);
        assert_eq!(told(&bins), 0.0);
        bins[15..18].fill(0);
        assert_eq!(told(&bins), 0.0);
    }

    #[test]
    fn half_of_a_phase_is_the_most() {
        let mut bins = [0; 20];
        assert_eq!(told(&bins), 10.0, "nothing is done");
        bins[10..].fill(100);
        assert_eq!(told(&bins), 10.0);
        bins[10..12].fill(0);
        assert_eq!(told(&bins), 10.0);
    }
}
