//! Finds the moment after a change from which a lock's throughput no longer changes.
//!
//! It is looked at bin by bin, in the median over all flips into the same phase: so what the system does with the CPUs at any
//! time is no matter, if there are enough flips. Its final level is the median of the second half of a phase. It has settled
//! after the last window of three bins in the first half whose mean is below 0.8 of that: more than it stays is no harm. Half
//! of a phase is the most that can be told; a lock that gets nothing done in the median bin is said to take so long.

use super::flips::BIN;
use crate::stats::{mean, median, median_of};

/// Bins of a window: one alone is at the mercy of an interrupt.
const WINDOW: usize = 3;
/// The share of the final throughput from which on it counts as settled.
const CLOSE: f64 = 0.8;

/// How long it took until it was there and stayed there, of counts by the bin, after each flip; `None` if there is no flip.
pub(super) fn settled_ms(flips: &[&[u64]]) -> Option<f64> {
    let bins = flips.first()?.len();
    let of_bin = |bin: usize| median_of(flips.iter().map(|counts| counts[bin] as f64));
    let counts = (0..bins).map(of_bin).collect::<Option<Vec<f64>>>()?;
    Some((BIN * settled_after(&counts)? as u32).as_secs_f64() * 1e3)
}

fn settled_after(counts: &[f64]) -> Option<usize> {
    let half = counts.len() / 2;
    let steady = median(&counts[half..])?;
    if steady <= 0.0 {
        return Some(half);
    }
    let is_low = |window: &[f64]| mean(window) < Some(CLOSE * steady);
    let last_low = counts.windows(WINDOW).take(half).rposition(is_low);
    Some(last_low.map_or(0, |bin| bin + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bins: &[u64]) -> f64 {
        settled_ms(&[bins]).expect("a flip")
    }

    #[test]
    fn a_disturbance_after_one_flip_of_three_is_no_matter() {
        let (calm, mut disturbed, mut slow) = ([100; 20], [100; 20], [100; 20]);
        disturbed[2..9].fill(0);
        slow[..4].fill(10);
        assert_eq!(settled_ms(&[&calm, &disturbed, &calm]), Some(0.0));
        assert_eq!(settled_ms(&[&slow, &disturbed, &slow]), Some(4.0));
        assert_eq!(settled_ms(&[]), None);
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
