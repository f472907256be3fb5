//! The rounds of a race: the candidates of the next round, and the verdict.

use fastrand::Rng;

use super::rank_test;
use crate::choice::{CandidateResult, Verdict};

/// Rounds before the slower half is dropped.
const ROUNDS_FOR_ALL: usize = 7;
const MOST_ROUNDS: usize = 31;
/// A winner takes at most this fraction of the control's time.
const CLEARLY: f64 = 0.97;
/// and is as fast by chance with at most this probability.
const CHANCE: f64 = 0.01;

/// The state of a race between some candidates, the controls first. Every member keeps it, and as all note the same times,
/// with the same seed, they agree on it.
#[derive(Debug)]
pub(super) struct Rounds {
    controls: usize,
    /// Those still in the race, in the order of the next round.
    order: Vec<usize>,
    /// For each the times of its blocks in ns for one operation: the slowest member's.
    times: Vec<Vec<f64>>,
    rounds: usize,
    random: Rng,
}

impl Rounds {
    /// A race that has not begun.
    pub(super) fn new(racers: usize, controls: usize, seed: u64) -> Self {
        let mut rounds = Self {
            controls,
            order: (0..racers).collect(),
            times: vec![Vec::new(); racers],
            rounds: 0,
            random: Rng::with_seed(seed),
        };
        rounds.random.shuffle(&mut rounds.order);
        rounds
    }

    /// The candidates of the next round, in this order; none if the race is over.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Ends a round with the times of the slowest members in ns for one operation, in the round's order. Ends the race too,
    /// if there is no time for another round.
    pub(super) fn end_round(&mut self, slowest: &[f64], is_late: bool) {
        for (&racer, &time) in self.order.iter().zip(slowest) {
            self.times[racer].push(time);
        }
        self.rounds += 1;
        if self.rounds == ROUNDS_FOR_ALL {
            self.drop_slower_half();
        }
        if self.rounds == MOST_ROUNDS || is_late {
            self.order.clear();
        }
        self.random.shuffle(&mut self.order);
    }

    /// The controls stay: the winner must beat them.
    fn drop_slower_half(&mut self) {
        let mut others: Vec<usize> = (self.controls..self.times.len()).collect();
        others.sort_by(|&a, &b| median(&self.times[a]).total_cmp(&median(&self.times[b])));
        others.truncate(others.len().div_ceil(2));
        self.order = (0..self.controls).chain(others).collect();
    }

    /// The results of all candidates, and the winner.
    pub(super) fn verdict(self) -> (Vec<CandidateResult>, Verdict) {
        let medians: Vec<f64> = self.times.iter().map(|times| median(times)).collect();
        let fastest = |of: std::ops::Range<usize>| of.min_by(|&a, &b| medians[a].total_cmp(&medians[b]));
        let control = fastest(0..self.controls).expect("a race has a control");
        let challenger = (self.controls..self.times.len()).filter(|&racer| self.times[racer].len() == self.rounds);
        let challenger = challenger.min_by(|&a, &b| medians[a].total_cmp(&medians[b]));
        let p = challenger.map_or(1.0, |challenger| rank_test::p_value(&self.times[challenger], &self.times[control]));
        let wins = |&challenger: &usize| medians[challenger] <= CLEARLY * medians[control] && p < CHANCE;
        let winner = challenger.filter(wins).unwrap_or(control);
        let raced = self.times.iter().zip(&medians);
        let raced = raced.map(|(times, &median_ns)| CandidateResult { median_ns, rounds: times.len() }).collect();
        (raced, Verdict { winner, control, challenger, p })
    }
}

/// Infinite if there is none.
pub(super) fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A race of candidates that take about these times.
    fn run(costs: &[f64], controls: usize) -> (Vec<CandidateResult>, Verdict) {
        let mut rounds = Rounds::new(costs.len(), controls, 1);
        let mut noise = Rng::with_seed(2);
        while !rounds.order().is_empty() {
            let times: Vec<f64> = rounds.order().iter().map(|&i| costs[i] * (1.0 + 0.005 * noise.f64())).collect();
            rounds.end_round(&times, false);
        }
        rounds.verdict()
    }

    #[test]
    fn the_clearly_fastest_wins_and_the_slower_half_is_dropped() {
        let (raced, verdict) = run(&[100.0, 120.0, 90.0, 95.0, 300.0, 400.0], 2);
        assert_eq!((verdict.winner, verdict.control), (2, 0));
        assert!(verdict.p < 0.01);
        assert_eq!(raced.iter().map(|raced| raced.rounds).collect::<Vec<_>>(), [31, 31, 31, 31, 7, 7]);
    }

    #[test]
    fn the_control_stays_where_nothing_is_clearly_faster() {
        let (_, verdict) = run(&[100.0, 98.5, 110.0], 1);
        assert_eq!((verdict.winner, verdict.control, verdict.challenger), (0, 0, Some(1)));
        let (_, verdict) = run(&[100.0, 80.0], 2);
        assert_eq!((verdict.winner, verdict.control, verdict.challenger), (1, 1, None));
    }

    #[test]
    fn a_race_that_is_late_ends_with_the_round_and_the_control() {
        let mut rounds = Rounds::new(3, 1, 1);
        rounds.end_round(&[5.0; 3], true);
        assert!(rounds.order().is_empty());
        let (raced, verdict) = rounds.verdict();
        assert_eq!((verdict.winner, verdict.control), (0, 0), "one round proves nothing");
        assert!(raced.iter().all(|raced| raced.rounds == 1));
    }
}
