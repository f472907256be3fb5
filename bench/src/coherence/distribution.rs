//! The distribution of the samples of a case: every sample counts, and none is set to zero.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::Samples;

/// The width of a bar of the histogram, in nanoseconds.
const BAR_NS: f64 = 10.0;

/// Samples in nanoseconds. Below zero is what took less than the timer alone takes as a rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// The number of samples.
    pub samples: usize,
    /// The smallest sample.
    pub min_ns: f64,
    /// Half of the samples do not exceed this.
    pub p50_ns: f64,
    /// Nine tenths of the samples do not exceed this.
    pub p90_ns: f64,
    /// 99 of 100 samples do not exceed this.
    pub p99_ns: f64,
    /// The largest sample.
    pub max_ns: f64,
    /// The mean of all samples, which a single interrupt moves.
    pub mean_ns: f64,
    /// How many samples lie in the 10 ns from each of these times on; times without any are left out.
    pub histogram: Vec<(i64, usize)>,
}

impl Distribution {
    /// Of these samples; `None` if there are none.
    pub(super) fn of(samples_ns: impl Iterator<Item = f64>) -> Option<Self> {
        let samples = Samples::of(samples_ns);
        let mut bars: BTreeMap<i64, usize> = BTreeMap::new();
        for sample in samples.all() {
            *bars.entry((sample / BAR_NS).floor() as i64 * BAR_NS as i64).or_default() += 1;
        }
        Some(Self {
            samples: samples.all().len(),
            min_ns: samples.least()?,
            p50_ns: samples.quantile(0.50)?,
            p90_ns: samples.quantile(0.90)?,
            p99_ns: samples.quantile(0.99)?,
            max_ns: samples.most()?,
            mean_ns: samples.mean()?,
            histogram: bars.into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_discarded_and_nothing_is_set_to_zero() {
        let samples = [-5.0, 0.0, 9.9, 10.0, 2_000_000.0];
        let found = Distribution::of(samples.into_iter()).expect("samples");
        assert_eq!(found.histogram, [(-10, 1), (0, 2), (10, 1), (2_000_000, 1)]);
        assert_eq!((found.min_ns, found.p50_ns, found.p99_ns, found.max_ns), (-5.0, 9.9, 2_000_000.0, 2_000_000.0));
        assert!((found.mean_ns - 2_000_014.9 / 5.0).abs() < 1e-6);
        assert_eq!(Distribution::of(std::iter::empty()), None);
    }
}
