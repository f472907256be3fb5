//! The regret of each lock: the throughput that a program loses if it takes this one lock in all situations.
//!
//! In each situation the best of the fixed locks, all but [`CHOOSER`] and its ablations, is found by the median of the odd
//! rounds, and then asked how it did in the even ones: so luck does not choose. The regret of a lock there is that lock's
//! throughput in the even rounds divided by its own in them. 1 is as good as if one had known; below 1 it was better than what
//! was best before.

use fastrand::Rng;

use super::contenders::Contender;
use super::report::RegretRow;
use crate::stats::{Samples, geometric_mean, interval_of_mean, median_of};

/// The lock that chooses by itself.
pub(super) const CHOOSER: &str = "auto";

/// The throughput of all locks in one situation, reduced to what regret needs.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// Medians of the even rounds; `None` for a lock that was skipped.
    even: Vec<Option<f64>>,
    /// Which was best in the odd rounds.
    best: Option<usize>,
}

impl Outcome {
    /// Of each contender's throughput by round; none for one that was skipped.
    pub(super) fn of(contenders: &[Contender], rounds: Vec<Vec<f64>>) -> Self {
        let half = |mops: &Vec<f64>, first| median_of(mops.iter().copied().skip(first).step_by(2));
        let fixed = (0..rounds.len()).filter(|&at| contenders[at].name != CHOOSER && !contenders[at].is_ablation);
        let odd = fixed.filter_map(|at| Some((at, half(&rounds[at], 0)?)));
        let best = odd.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at);
        Self { even: rounds.iter().map(|mops| half(mops, 1)).collect(), best }
    }

    /// Each contender's, where there is one to compare with.
    pub(super) fn regrets(&self) -> Vec<Option<f64>> {
        let best = self.best.and_then(|best| self.even[best]);
        self.even.iter().map(|own| best.zip(*own).map(|(best, own)| best / own)).collect()
    }
}

/// Every contender's, over all situations; none of those that were skipped in one.
pub(super) fn rows(contenders: &[Contender], outcomes: &[Outcome], random: &mut Rng) -> Vec<RegretRow> {
    let regrets: Vec<Vec<Option<f64>>> = outcomes.iter().map(Outcome::regrets).collect();
    let row = |(at, contender): (usize, &Contender)| {
        let own: Option<Vec<f64>> = regrets.iter().map(|cell| cell[at]).collect();
        let curve = Samples::of(own?);
        let (mean, interval) = (geometric_mean(curve.all())?, interval_of_mean(curve.all(), random)?);
        let (p95, max) = (curve.quantile(0.95)?, curve.most()?);
        let (contender, ours) = (contender.name.to_owned(), contender.ours);
        Some(RegretRow { contender, ours, mean, interval, p95, max, curve: curve.all().to_vec() })
    };
    let mut rows: Vec<RegretRow> = contenders.iter().enumerate().filter_map(row).collect();
    rows.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    rows
}

#[cfg(test)]
mod tests {
    use super::super::contenders::contenders;
    use super::*;

    fn three() -> Vec<Contender> {
        let named = |name| contenders().into_iter().find(|contender| contender.name == name).expect("known");
        vec![named("tas"), named("std"), named(CHOOSER)]
    }

    #[test]
    fn the_best_is_chosen_in_one_half_and_compared_in_the_other() {
        let rounds = vec![vec![10.0, 6.0, 10.0, 6.0], vec![8.0, 9.0, 8.0, 9.0], vec![99.0, 3.0, 99.0, 3.0]];
        let outcome = Outcome::of(&three(), rounds);
        assert_eq!(outcome.regrets(), [Some(1.0), Some(6.0 / 9.0), Some(2.0)], "tas was best among the fixed");
    }

    #[test]
    fn a_lock_that_was_skipped_has_none_and_others_do() {
        let outcome = Outcome::of(&three(), vec![vec![], vec![4.0, 4.0], vec![2.0, 2.0]]);
        assert_eq!(outcome.regrets(), [None, Some(1.0), Some(2.0)]);
        let rows = rows(&three(), &[outcome.clone(), outcome], &mut Rng::with_seed(1));
        let names: Vec<&str> = rows.iter().map(|row| row.contender.as_str()).collect();
        assert_eq!(names, ["std", "auto"]);
        assert_eq!((rows[1].max, rows[1].interval, rows[1].curve.len()), (2.0, [2.0, 2.0], 2));
        assert!((rows[1].mean - 2.0).abs() < 1e-9);
    }
}
