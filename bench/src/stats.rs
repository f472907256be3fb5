//! Statistics of samples: one function for each kind. Medians, summaries and Jain's index are those of the harness.

use std::iter;

use corecast_race::harness::{percentile, sorted};
use fastrand::Rng;

pub(crate) use corecast_race::harness::{Summary, jain, median, most_to_fewest};

/// Samples drawn for an interval.
const RESAMPLES: usize = 1000;

/// Samples in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Sorts samples.
    ///
    /// # Panics
    /// If a sample is not a number.
    pub(crate) fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        Self(sorted(samples.into_iter()))
    }

    /// All of them, ascending.
    pub(crate) fn all(&self) -> &[f64] {
        &self.0
    }

    /// The smallest sample that this share of all samples do not exceed; `None` if there are no samples.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| percentile(&self.0, share))
    }

    /// The smallest sample.
    pub(crate) fn least(&self) -> Option<f64> {
        self.0.first().copied()
    }

    /// The largest sample.
    pub(crate) fn most(&self) -> Option<f64> {
        self.0.last().copied()
    }

    /// The arithmetic mean.
    pub(crate) fn mean(&self) -> Option<f64> {
        mean(&self.0)
    }
}

/// The median of values, those that are there.
pub(crate) fn median_of<T: Into<Option<f64>>>(values: impl IntoIterator<Item = T>) -> Option<f64> {
    median(&values.into_iter().filter_map(Into::into).collect::<Vec<f64>>())
}

/// The arithmetic mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The geometric mean; `None` of nothing.
pub(crate) fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    mean(&ratios.iter().map(|ratio| ratio.ln()).collect::<Vec<_>>()).map(f64::exp)
}

/// The smallest of these values, those that are there.
pub(crate) fn least<T: Into<Option<f64>>>(values: impl IntoIterator<Item = T>) -> Option<f64> {
    values.into_iter().filter_map(Into::into).reduce(f64::min)
}

/// The largest of these values, those that are there.
pub(crate) fn most<T: Into<Option<f64>>>(values: impl IntoIterator<Item = T>) -> Option<f64> {
    values.into_iter().filter_map(Into::into).reduce(f64::max)
}

/// Where the geometric mean of 95 of 100 resamples of these ratios lies (B. Efron, Bootstrap Methods, 1979); `None` of nothing.
pub(crate) fn interval_of_mean(ratios: &[f64], random: &mut Rng) -> Option<[f64; 2]> {
    if ratios.is_empty() {
        return None;
    }
    let mut resample =
        || -> Vec<f64> { iter::repeat_with(|| ratios[random.usize(..ratios.len())]).take(ratios.len()).collect() };
    let means = Samples::of((0..RESAMPLES).filter_map(|_| geometric_mean(&resample())));
    Some([means.quantile(0.025)?, means.quantile(0.975)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_told_by_their_order_and_nothing_has_no_statistics() {
        let samples = Samples::of([3.0, 1.0, 2.0, 10.0]);
        assert_eq!(samples.all(), [1.0, 2.0, 3.0, 10.0]);
        assert_eq!([samples.quantile(0.5), samples.quantile(1.0)], [Some(2.0), Some(10.0)]);
        assert_eq!([samples.least(), samples.mean(), samples.most()], [Some(1.0), Some(4.0), Some(10.0)]);
        let none = Samples::default();
        assert_eq!([none.quantile(0.5), none.least(), none.mean(), none.most()], [None; 4]);
        assert_eq!([least(Vec::<f64>::new()), most([None, Some(2.0), Some(1.0)])], [None, Some(2.0)]);
        assert_eq!([median_of([Some(4.0), None, Some(1.0)]), median_of(Vec::<f64>::new())], [Some(2.5), None]);
    }

    #[test]
    fn geometric_means_lie_in_their_intervals() {
        let ratios = [0.5, 1.0, 2.0, 4.0];
        let mean = geometric_mean(&ratios).expect("ratios");
        assert!((mean - 2.0_f64.sqrt()).abs() < 1e-9);
        let [low, high] = interval_of_mean(&ratios, &mut Rng::with_seed(3)).expect("ratios");
        assert!(low < mean && mean < high, "{low} {mean} {high}");
        assert!(geometric_mean(&[]).is_none() && interval_of_mean(&[], &mut Rng::with_seed(3)).is_none());
    }
}
