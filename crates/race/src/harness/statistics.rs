//! The figures reported of many samples: order statistics, which a few preempted blocks do not move.

/// The distribution of a row's samples, in nanoseconds per operation. No sample is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Half of the samples are below.
    pub median_ns: f64,
    /// A tenth of the samples is below.
    pub p10_ns: f64,
    /// Nine tenths of the samples are below.
    pub p90_ns: f64,
    /// 99 of 100 samples are below; with fewer than 100 samples the largest.
    pub p99_ns: f64,
    /// The smallest sample.
    pub min_ns: f64,
    /// The spread: the median absolute deviation from the median.
    pub mad_ns: f64,
    /// The number of samples.
    pub samples: usize,
}

impl Summary {
    /// Summarises samples in any order; `None` if there are none.
    ///
    /// # Panics
    /// If a sample is not a number.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let sorted = sorted(samples.iter().copied());
        let median_ns = middle(&sorted);
        let deviations = sorted.iter().map(|sample| (sample - median_ns).abs());
        Some(Self {
            median_ns,
            p10_ns: percentile(&sorted, 0.10),
            p90_ns: percentile(&sorted, 0.90),
            p99_ns: percentile(&sorted, 0.99),
            min_ns: sorted[0],
            mad_ns: middle(&self::sorted(deviations)),
            samples: sorted.len(),
        })
    }
}

/// The median of samples in any order; `None` if there are none.
#[must_use]
pub fn median(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| middle(&sorted(samples.iter().copied())))
}

/// The samples in ascending order.
pub fn sorted(samples: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = samples.collect();
    assert!(!sorted.iter().any(|sample| sample.is_nan()), "a time divided by a positive count is a number");
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The mean of the two samples in the middle, which are one if their number is odd.
fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
}

/// The smallest sample that at least `share` of all samples do not exceed (nearest rank).
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_of_one_to_hundred() {
        let mut samples: Vec<f64> = (1..=100).map(f64::from).collect();
        fastrand::Rng::with_seed(7).shuffle(&mut samples);
        let summary = Summary::of(&samples).expect("samples");
        let expected = Summary {
            median_ns: 50.5,
            p10_ns: 10.0,
            p90_ns: 90.0,
            p99_ns: 99.0,
            min_ns: 1.0,
            mad_ns: 25.0,
            samples: 100,
        };
        assert_eq!(summary, expected);
    }

    #[test]
    fn an_outlier_moves_the_tail_and_not_the_middle() {
        let summary = Summary::of(&[10.0, 11.0, 9.0, 10.0, 5000.0]).expect("samples");
        assert_eq!((summary.median_ns, summary.mad_ns, summary.p99_ns), (10.0, 1.0, 5000.0));
    }

    #[test]
    fn few_samples_are_enough_and_none_are_nothing() {
        let one = Summary::of(&[3.0]).expect("a sample");
        assert_eq!((one.median_ns, one.p10_ns, one.p99_ns, one.mad_ns, one.samples), (3.0, 3.0, 3.0, 0.0, 1));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    }
}
