//! What a relaxed broadcast may not do twice: states that remember it, roughly.
//!
//! Whoever enters a cluster of g members may let at most g - 1 others of it be informed from there, directly or by
//! others of the cluster; a local message hands over a part of that budget. The same for pairs of hyperthreads, whose
//! budget is 0 or 1. Without it the cheap messages inside a cluster are sent again and again.
//!
//! Small budgets are exact; larger ones are rounded up to one of a few, which only allows more.

use corecast_machine::clusters::levels;

use super::super::costs::Costs;

/// Budgets up to this one are exact; of the larger ones each is half as large again as the one before.
///
/// Exact ones up to 8 and steps of a quarter cost four times as much and were better by 0.1 %.
const EXACT: usize = 4;

/// The clusters with a budget, and the pairs.
pub(super) struct Budgets {
    /// The cluster of each member.
    cluster: Vec<u32>,
    /// The other of its pair.
    sibling: Vec<Option<usize>>,
    /// The budgets in each cluster.
    budgets: Vec<Vec<usize>>,
    /// `rows[a]` is the first state of member a.
    rows: Vec<usize>,
}

/// One use of a message: the sender is in state `before` and in `after` then, its child in `below`. States are rows
/// of one table of all members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) before: u32,
    pub(super) after: u32,
    pub(super) below: u32,
}

impl Budgets {
    /// Those of the finest clusters that are more than pairs, and of the pairs within.
    pub(super) fn of(costs: &Costs) -> Self {
        let len = costs.len();
        let levels = levels(len, &|a, b| costs.edge(a, b) + costs.edge(b, a));
        let others = |level: &[u32], v: usize| (0..len).filter(|&w| w != v && level[w] == level[v]).collect::<Vec<_>>();
        let sibling = |v: usize| match *others(levels.first()?, v) {
            [other] => Some(other),
            _ => None,
        };
        let is_more_than_pairs = |level: &&Vec<u32>| (0..len).any(|v| others(level, v).len() > 1);
        let cluster = levels.iter().find(is_more_than_pairs).cloned().unwrap_or_else(|| vec![0; len]);
        Self::new(cluster, (0..len).map(sibling).collect())
    }

    fn new(cluster: Vec<u32>, sibling: Vec<Option<usize>>) -> Self {
        let clusters = cluster.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sizes = vec![0; clusters];
        cluster.iter().for_each(|&of| sizes[of as usize] += 1);
        // A budget of everybody is never used up: it changed no bound, and took ten times as long.
        let budgets = sizes.into_iter().map(|size| if clusters == 1 { vec![0] } else { budgets(size) }).collect();
        let mut new = Self { cluster, sibling, budgets, rows: vec![0] };
        for a in 0..new.cluster.len() {
            new.rows.push(new.rows[a] + new.states(a));
        }
        new
    }

    /// The number of states of all members.
    pub(super) fn total(&self) -> usize {
        self.rows[self.cluster.len()]
    }

    /// The states of one member.
    pub(super) fn rows(&self, a: usize) -> std::ops::Range<usize> {
        self.rows[a]..self.rows[a + 1]
    }

    /// The state of a member that was informed from outside its cluster.
    pub(super) fn full(&self, a: usize) -> usize {
        self.rows[a + 1] - 1
    }

    fn levels(&self, a: usize) -> &[usize] {
        &self.budgets[self.cluster[a] as usize]
    }

    fn states(&self, a: usize) -> usize {
        self.levels(a).len() * if self.sibling[a].is_some() { 2 } else { 1 }
    }

    /// All uses of the message from a to c.
    pub(super) fn moves(&self, a: usize, c: usize) -> Vec<Move> {
        if self.cluster[a] != self.cluster[c] {
            let below = self.full(c) as u32;
            return self.rows(a).map(|row| Move { before: row as u32, after: row as u32, below }).collect();
        }
        let count = self.levels(a).len();
        let fresh = |v: usize| if self.sibling[v].is_some() { count } else { 0 };
        let mut moves = Vec::new();
        for (before, after, below) in splits(self.levels(a)) {
            let row = |v: usize, pair: usize, level: usize| (self.rows[v] + pair + level) as u32;
            if self.sibling[a] == Some(c) {
                moves.push(Move { before: row(a, count, before), after: row(a, 0, after), below: row(c, 0, below) });
                continue;
            }
            for pair in (0..=fresh(a)).step_by(count) {
                let below = row(c, fresh(c), below);
                moves.push(Move { before: row(a, pair, before), after: row(a, pair, after), below });
            }
        }
        moves
    }
}

/// The budgets that a member of a cluster of this size may have, ascending from 0.
fn budgets(size: usize) -> Vec<usize> {
    let mut budgets: Vec<usize> = (0..size.min(EXACT + 1)).collect();
    while let Some(&last) = budgets.last().filter(|&&last| last + 1 < size) {
        budgets.push((last + last / 2).min(size - 1));
    }
    budgets
}

/// The ways to split a budget less one in two, each part rounded up: places in the list, of the whole and of the parts.
fn splits(budgets: &[usize]) -> Vec<(usize, usize, usize)> {
    if budgets == [0] {
        return vec![(0, 0, 0)];
    }
    let up = |budget: usize| budgets.partition_point(|&known| known < budget);
    let mut splits = Vec::new();
    for (whole, &budget) in budgets.iter().enumerate() {
        let all: Vec<(usize, usize)> = (0..budget).map(|kept| (up(kept), up(budget - 1 - kept))).collect();
        for &(kept, given) in &all {
            let is_within = |&(k, g): &(usize, usize)| kept <= k && given <= g && (kept, given) != (k, g);
            if !all.iter().any(is_within) && splits.last() != Some(&(whole, kept, given)) {
                splits.push((whole, kept, given));
            }
        }
    }
    splits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_split_of_a_budget_fits_into_one_that_is_listed() {
        for size in 1..70 {
            let budgets = budgets(size);
            assert_eq!(budgets.last(), Some(&(size - 1)));
            assert!(budgets.is_sorted_by(|a, b| a < b), "{budgets:?}");
            let splits = splits(&budgets);
            for (whole, &budget) in budgets.iter().enumerate() {
                for kept in 0..budget {
                    let fits = |&&(of, k, g): &&(usize, usize, usize)| {
                        of == whole && kept <= budgets[k] && budget - 1 - kept <= budgets[g]
                    };
                    assert!(size == 1 || splits.iter().find(fits).is_some(), "{kept} of {budget}");
                }
            }
        }
    }

    #[test]
    fn a_sibling_is_informed_once_and_others_within_the_budget() {
        let sibling = [Some(1), Some(0), None, None].to_vec();
        let budgets = Budgets::new(vec![0, 0, 0, 1], sibling);
        assert_eq!((budgets.rows(0).len(), budgets.rows(2).len(), budgets.rows(3).len()), (6, 3, 1));
        let to_sibling = budgets.moves(0, 1);
        let pair_left = |row: u32| (row as usize - budgets.rows(0).start) / 3;
        assert!(to_sibling.iter().all(|used| pair_left(used.before) == 1 && pair_left(used.after) == 0));
        assert!(budgets.moves(0, 2).iter().all(|used| used.before % 3 > 0 && used.after < used.before));
        let outside = budgets.moves(0, 3);
        assert!(outside.len() == 6 && outside.iter().all(|used| used.after == used.before && used.below == 15));
    }

    #[test]
    fn no_clusters_are_one_without_a_budget() {
        let budgets = Budgets::of(&Costs::of_fn(9, |_, _| 1.0, |_, _| 2.0));
        assert_eq!(budgets.total(), 9);
    }
}
