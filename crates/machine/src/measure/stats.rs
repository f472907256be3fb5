//! Robust statistics: a neighbour's time slice must not move a cost.
//!
//! Medians throughout, and the median absolute deviation (MAD) for spread: up to half of the samples may be spoilt. A
//! mean with the highest samples cropped, which the seed papers used, still moves with every spoilt sample that stays.
//!
//! Source: P. J. Rousseeuw, C. Croux, Alternatives to the Median Absolute Deviation, 1993 (on the MAD and its factor).

/// The MAD of a normal distribution times this is its standard deviation.
const SIGMA_PER_MAD: f64 = 1.4826;
/// The standard error of a median is this times that of a mean, for a normal distribution.
const ERROR_OF_MEDIAN: f64 = 1.2533;
/// Standard errors on each side of a 95 % confidence interval.
const Z_95: f64 = 1.96;

/// The fewest samples in which two regimes are looked for.
const LEAST_FOR_REGIMES: usize = 8;
/// The factor by which the second regime has to cost more.
const REGIME_RATIO: f64 = 1.3;

/// Middle and spread of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    pub(super) median: f64,
    /// The median absolute deviation from the median.
    pub(super) mad: f64,
}

impl Summary {
    /// Of at least one sample.
    pub(super) fn of(samples: &[f64]) -> Self {
        let median = median(samples);
        let deviations: Vec<f64> = samples.iter().map(|sample| (sample - median).abs()).collect();
        Self { median, mad: self::median(&deviations) }
    }

    /// Of several visits: the median of their medians, and as spread the larger of that between the visits and the
    /// usual one within a visit. A cost that is steady in each visit but changes between them is not a steady cost.
    pub(super) fn of_visits(visits: &[Self]) -> Self {
        let between = Self::of(&visits.iter().map(|visit| visit.median).collect::<Vec<_>>());
        let within = median(&visits.iter().map(|visit| visit.mad).collect::<Vec<_>>());
        Self { median: between.median, mad: between.mad.max(within) }
    }

    /// The spread relative to the median.
    pub(super) fn relative_spread(&self) -> f64 {
        self.mad / self.median.max(f64::MIN_POSITIVE)
    }

    /// Half the width of the 95 % confidence interval of the median of `samples` samples, relative to the median.
    pub(super) fn relative_interval(&self, samples: usize) -> f64 {
        Z_95 * ERROR_OF_MEDIAN * SIGMA_PER_MAD * self.relative_spread() / (samples as f64).sqrt()
    }
}

/// The middle sample, or the mean of the two middle ones.
pub(super) fn median(samples: &[f64]) -> f64 {
    assert!(!samples.is_empty(), "there is no median of no samples");
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// The medians of the two groups that the samples fall into, if they do.
///
/// Two groups are two regimes if each has at least a sixth of the samples, the more expensive is 1.3 times the cheaper,
/// and the gap between them is at least half of the distance of their medians, so that noise with a long tail is not
/// taken for a second regime.
pub(super) fn two_regimes(samples: &[f64]) -> Option<(f64, f64)> {
    if samples.len() < LEAST_FOR_REGIMES {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let least = (sorted.len() / 6).max(2);
    let gap = |at: usize| sorted[at] - sorted[at - 1];
    let split = (least..=sorted.len() - least).max_by(|&a, &b| gap(a).total_cmp(&gap(b)))?;
    let (low, high) = (median(&sorted[..split]), median(&sorted[split..]));
    (high >= REGIME_RATIO * low && gap(split) >= (high - low) / 2.0).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_while_less_than_half_is_spoilt() {
        assert_eq!(median(&[3.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        let spoilt = Summary::of(&[10.0, 11.0, 9.0, 4e6, 10.0, 1e9, 10.5]);
        assert_eq!((spoilt.median, spoilt.mad), (10.5, 0.5));
    }

    #[test]
    fn spread_between_visits_counts_as_spread() {
        let visit = |median| Summary { median, mad: 0.1 };
        assert_eq!(Summary::of_visits(&[visit(10.0), visit(10.0), visit(10.0)]), visit(10.0));
        assert_eq!(Summary::of_visits(&[visit(10.0), visit(20.0), visit(30.0)]), Summary { median: 20.0, mad: 10.0 });
    }

    #[test]
    fn intervals_narrow_with_the_square_root_of_the_samples() {
        let summary = Summary { median: 100.0, mad: 1.0 };
        assert!((summary.relative_interval(1) / summary.relative_interval(16) - 4.0).abs() < 1e-9);
        assert_eq!(Summary { median: 100.0, mad: 0.0 }.relative_interval(1), 0.0);
        assert!(Summary { median: 0.0, mad: 1.0 }.relative_interval(1) > 1e9, "a spread around nothing is wide");
    }

    #[test]
    fn two_regimes_are_seen_in_any_order() {
        let samples: Vec<f64> =
            (0..60).map(|i| if i % 3 == 0 { 90.0 } else { 23.0 } + f64::from(i % 5) / 10.0).collect();
        let (low, high) = two_regimes(&samples).expect("two regimes");
        assert!((23.0..24.0).contains(&low) && (90.0..91.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn noise_outliers_and_few_samples_are_no_regimes() {
        let noise: Vec<f64> = (0..60).map(|i| 20.0 + f64::from(i * 7 % 60) / 3.0).collect();
        assert_eq!(two_regimes(&noise), None, "evenly spread");
        let tail: Vec<f64> = (0..60).map(|i| 20.0 * 1.05f64.powi(i * i / 60)).collect();
        assert_eq!(two_regimes(&tail), None, "a long tail");
        let outliers: Vec<f64> = (0..60).map(|i| if i % 12 == 0 { 500.0 } else { 23.0 }).collect();
        assert_eq!(two_regimes(&outliers), None, "a twelfth is outliers");
        let close: Vec<f64> = (0..60).map(|i| if i % 2 == 0 { 23.0 } else { 26.0 }).collect();
        assert_eq!(two_regimes(&close), None, "too near to matter");
        assert_eq!(two_regimes(&[1.0, 9.0, 1.0, 9.0]), None);
    }
}
