//! A histogram of the latencies of sampled operations, of fixed size: each doubling of the time is divided into 32 parts.
//!
//! So what is told is at most 3 % off. A block of a second on many threads would fill gigabytes with single times.

use serde::{Deserialize, Serialize};

/// Parts of a doubling, as a power of two.
const PARTS: u32 = 5;
/// From one tick to more than any.
const BINS: usize = (64 - PARTS as usize + 1) << PARTS;

/// See the [module](self).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Latency {
    bins: Vec<u32>,
}

impl Default for Latency {
    fn default() -> Self {
        Self { bins: vec![0; BINS] }
    }
}

impl Latency {
    #[inline]
    pub(crate) fn add(&mut self, ticks: u64) {
        self.bins[bin(ticks)] += 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, other)| *bin += other);
    }

    pub(crate) fn samples(&self) -> u64 {
        self.bins.iter().copied().map(u64::from).sum()
    }

    /// The ticks that so large a part of the samples does not exceed; `None` if there are fewer than `1 / (1 - share)`.
    pub(crate) fn percentile(&self, share: f64) -> Option<u64> {
        let samples = self.samples() as f64;
        let mut left = (share * samples).ceil();
        if samples * (1.0 - share) < 1.0 - 1e-9 {
            return None;
        }
        let is_there = |&at: &usize| {
            left -= f64::from(self.bins[at]);
            left <= 0.0
        };
        (0..BINS).find(is_there).map(middle)
    }
}

/// The first are of a tick each.
fn bin(ticks: u64) -> usize {
    let doubling = (u64::BITS - ticks.leading_zeros()).saturating_sub(PARTS + 1);
    ((doubling as usize) << PARTS) + (ticks >> doubling) as usize
}

fn middle(bin: usize) -> u64 {
    let doubling = (bin >> PARTS).saturating_sub(1);
    let first = ((bin - (doubling << PARTS)) as u64) << doubling;
    first + ((1 << doubling) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_three_in_a_hundred() {
        let powers = (0..63).flat_map(|power| [1u64 << power, (1 << power) + (1 << power) / 3]);
        for ticks in powers.chain([0, 1, 31, 32, 33, 63, 64, 65, u64::MAX]) {
            let told = middle(bin(ticks));
            assert!(told.abs_diff(ticks) as f64 <= 0.03 * ticks as f64, "{ticks}: {told}");
        }
        assert_eq!(bin(u64::MAX), BINS - 1);
    }

    #[test]
    fn percentiles_are_of_all_that_was_merged() {
        let (mut one, mut other) = (Latency::default(), Latency::default());
        (1..=20).for_each(|ticks| one.add(ticks));
        assert_eq!((one.percentile(0.5), one.percentile(0.95), one.percentile(0.96)), (Some(10), Some(19), None));
        (0..20).for_each(|_| other.add(40));
        one.merge(&other);
        assert_eq!((one.samples(), one.percentile(0.5), one.percentile(0.75)), (40, Some(20), Some(40)));
        assert_eq!((Latency::default().percentile(0.5), Latency::default().samples()), (None, 0));
    }
}
