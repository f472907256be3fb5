//! The results of the visits of all pairs, in the order of time.

use super::options::Effort;
use super::stats::{Summary, median, two_regimes};
use super::tournament::Pair;
use super::visit::Costs;

/// The visits of every pair of positions.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    positions: usize,
    /// By pair; see `index`.
    visits: Vec<Vec<Costs>>,
}

impl Pairs {
    pub(super) fn none(positions: usize) -> Self {
        Self { positions, visits: vec![Vec::new(); positions * positions.saturating_sub(1) / 2] }
    }

    /// The number of CPUs.
    pub(super) fn positions(&self) -> usize {
        self.positions
    }

    /// Adds one visit.
    pub(super) fn add(&mut self, pair: Pair, costs: Costs) {
        self.visits[index(pair)].push(costs);
    }

    /// All pairs, each with the lower position first.
    pub(super) fn all(&self) -> impl Iterator<Item = Pair> + use<> {
        let positions = self.positions;
        (1..positions).flat_map(|b| (0..b).map(move |a| (a, b)))
    }

    /// The fewest visits of any pair.
    pub(super) fn least_visits(&self) -> usize {
        self.visits.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The costs of one pair over all its visits; each pair has been visited.
    pub(super) fn costs(&self, pair: Pair) -> Costs {
        let visits = &self.visits[index(pair)];
        let over = |cost: fn(&Costs) -> Summary| Summary::of_visits(&visits.iter().map(cost).collect::<Vec<_>>());
        Costs {
            bounce: over(|visit| visit.bounce),
            send: [over(|visit| visit.send[0]), over(|visit| visit.send[1])],
            followed: [over(|visit| visit.followed[0]), over(|visit| visit.followed[1])],
            receive: [over(|visit| visit.receive[0]), over(|visit| visit.receive[1])],
        }
    }

    /// True if every pair has enough visits and every cost a narrow interval.
    pub(super) fn are_certain(&self, effort: &Effort) -> bool {
        let is_narrow = |pair| {
            let visits = self.visits[index(pair)].len();
            self.costs(pair).all().iter().all(|cost| cost.relative_interval(visits) <= effort.narrow)
        };
        self.least_visits() >= effort.least_visits && self.all().all(is_narrow)
    }

    /// The two regimes that a pair's hand-over changed between, if it did.
    pub(super) fn regimes(&self, pair: Pair) -> Option<(f64, f64)> {
        two_regimes(&self.visits[index(pair)].iter().map(|visit| visit.bounce.median).collect::<Vec<_>>())
    }

    /// The median of a cost over all pairs, both directions.
    pub(super) fn typical(&self, cost: impl Fn(&Costs) -> [Summary; 2]) -> f64 {
        median(&self.all().flat_map(|pair| cost(&self.costs(pair)).map(|way| way.median)).collect::<Vec<_>>())
    }
}

/// Pairs are numbered by their upper position, then by their lower one.
fn index((a, b): Pair) -> usize {
    b * (b - 1) / 2 + a
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn costs(bounce: f64, mad: f64) -> Costs {
        let summary = Summary { median: bounce, mad };
        Costs { bounce: summary, send: [summary; 2], followed: [summary; 2], receive: [summary; 2] }
    }

    const EFFORT: Effort = Effort { least_visits: 3, narrow: 0.02, least_time: Duration::ZERO, budget: Duration::ZERO };

    #[test]
    fn every_pair_has_a_place_of_its_own() {
        let mut pairs = Pairs::none(9);
        assert_eq!(pairs.all().count(), 36);
        for pair in pairs.all() {
            pairs.add(pair, costs((10 * pair.0 + pair.1) as f64, 0.0));
        }
        assert_eq!(pairs.least_visits(), 1);
        for pair in pairs.all() {
            assert_eq!(pairs.costs(pair), costs((10 * pair.0 + pair.1) as f64, 0.0));
        }
    }

    #[test]
    fn certainty_wants_visits_and_narrow_intervals_of_all() {
        let mut pairs = Pairs::none(3);
        for visit in 0..3 {
            assert!(!pairs.are_certain(&EFFORT), "after {visit} visits");
            pairs.all().for_each(|pair| pairs.add(pair, costs(20.0, 0.1)));
        }
        assert!(pairs.are_certain(&EFFORT));
        for wild in [5.0, 70.0, 300.0] {
            pairs.add((1, 2), costs(wild, 0.1));
        }
        assert!(!pairs.are_certain(&EFFORT), "one pair is wide");
    }
}
