//! Budgets: states that remember, roughly, what a relaxed broadcast may not do twice.
//!
//! A member that enters a cluster of g members may let at most g - 1 others of it be informed from there, directly or
//! by others of the cluster; a local message hands over a part of that budget. The same for pairs of hyperthreads,
//! whose budget is 0 or 1. Without it the cheap messages inside a cluster are sent again and again.
//!
//! Small budgets are exact; larger ones are rounded up to one of a few, which only allows more.

use std::ops::Range;

use corecast_machine::clusters::levels;

use super::super::costs::Costs;

/// In clusters of up to this many members budgets are exact: rounded ones cost a bound up to 8 % among 128 members, as
/// a budget that is rounded up again after every message is never used up.
const EXACT: usize = 16;
/// In larger ones those up to this are exact, and each of the others is half as large again as the one before.
const EXACT_OF_MANY: usize = 4;

/// The clusters with a budget, and the pairs.
///
/// The states of a member are numbered by its budget, ascending; where it has a sibling, those without it come first.
pub(super) struct Budgets {
    /// The cluster of each member.
    cluster: Vec<u32>,
    /// The other of its pair.
    sibling: Vec<Option<usize>>,
    /// How the budgets of each cluster are split.
    splits: Vec<Splits>,
    /// `rows[a]` is the first state of member a.
    rows: Vec<usize>,
}

/// The effect of a message on its sender's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It leaves the cluster and takes nothing of the budget.
    Outside,
    /// It takes what it hands over, and one more.
    Inside,
    /// The same, and there is no other one to the sibling.
    Sibling,
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
        // A budget of all members is never used up: it changed no bound, and took ten times as long.
        let of_size = |size| if clusters == 1 { Splits::endless() } else { Splits::of(&budgets(size)) };
        let splits = sizes.into_iter().map(of_size).collect();
        let mut new = Self { cluster, sibling, splits, rows: vec![0] };
        for a in 0..new.cluster.len() {
            new.rows.push(new.rows[a] + new.levels(a) * if new.sibling[a].is_some() { 2 } else { 1 });
        }
        new
    }

    /// The number of states of all members.
    pub(super) fn total(&self) -> usize {
        self.rows[self.cluster.len()]
    }

    /// The states of one member.
    pub(super) fn rows(&self, a: usize) -> Range<usize> {
        self.rows[a]..self.rows[a + 1]
    }

    /// The state of a member that was informed from outside its cluster.
    pub(super) fn full(&self, a: usize) -> usize {
        self.rows[a + 1] - 1
    }

    /// The number of budgets that `a` may have.
    pub(super) fn levels(&self, a: usize) -> usize {
        self.splits(a).len()
    }

    fn splits(&self, a: usize) -> &Splits {
        &self.splits[self.cluster[a] as usize]
    }

    pub(super) fn kind(&self, a: usize, child: usize) -> Kind {
        if self.cluster[a] != self.cluster[child] {
            Kind::Outside
        } else if self.sibling[a] == Some(child) {
            Kind::Sibling
        } else {
            Kind::Inside
        }
    }

    /// The budgets that messages of this kind may hand over, by number; to outside there is none to choose.
    pub(super) fn given(&self, a: usize, kind: Kind) -> Range<usize> {
        0..if kind == Kind::Outside { 1 } else { self.splits(a).most_given }
    }

    /// The state of a child that was handed over this budget.
    pub(super) fn below(&self, child: usize, kind: Kind, given: usize) -> usize {
        match kind {
            Kind::Outside => self.full(child),
            Kind::Inside => self.rows[child + 1] - self.levels(child) + given,
            Kind::Sibling => self.rows[child] + given,
        }
    }

    /// The state of `a` after a message that hands over this budget; `None` if it cannot send it.
    #[inline]
    pub(super) fn after(&self, a: usize, state: usize, kind: Kind, given: usize) -> Option<usize> {
        if kind == Kind::Outside {
            return Some(state);
        }
        let (levels, first) = (self.levels(a), self.rows[a]);
        let has_sibling = state >= first + levels;
        let level = state - first - if has_sibling { levels } else { 0 };
        let kept = self.splits(a).kept(level, given)?;
        match kind {
            Kind::Sibling => has_sibling.then_some(first + kept),
            _ => Some(state - level + kept),
        }
    }
}

/// The budgets that a member of a cluster of this size may have, ascending from 0.
fn budgets(size: usize) -> Vec<usize> {
    let exact = if size <= EXACT { size } else { EXACT_OF_MANY + 1 };
    let mut budgets: Vec<usize> = (0..exact).collect();
    while let Some(&last) = budgets.last().filter(|&&last| last + 1 < size) {
        budgets.push((last + last / 2).min(size - 1));
    }
    budgets
}

/// The part of a split budget that the sender keeps.
struct Splits {
    /// `kept[whole][given]`, by number: the most that is left of the whole.
    kept: Vec<Vec<Option<usize>>>,
    /// The largest number of budgets that is ever handed over.
    most_given: usize,
}

impl Splits {
    /// No budget.
    fn endless() -> Self {
        Self { kept: vec![vec![Some(0)]], most_given: 1 }
    }

    /// A budget less one in two parts, each rounded up to one of these.
    fn of(budgets: &[usize]) -> Self {
        let up = |budget: usize| budgets.partition_point(|&known| known < budget);
        let mut kept = vec![vec![None; budgets.len()]; budgets.len()];
        for (kept, &budget) in kept.iter_mut().zip(budgets) {
            // The most that is left first.
            for given in 0..budget {
                kept[up(given)].get_or_insert(up(budget - 1 - given));
            }
        }
        let is_given = |given: &usize| kept.iter().any(|kept| kept[*given].is_some());
        let most_given = (0..budgets.len()).filter(is_given).max().map_or(0, |last| last + 1);
        Self { kept, most_given }
    }

    fn len(&self) -> usize {
        self.kept.len()
    }

    #[inline]
    fn kept(&self, whole: usize, given: usize) -> Option<usize> {
        self.kept[whole][given]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_split_of_a_budget_is_allowed() {
        for size in 1..70 {
            let budgets = budgets(size);
            assert_eq!(budgets.last(), Some(&(size - 1)));
            assert!(budgets.is_sorted_by(|a, b| a < b), "{budgets:?}");
            let splits = Splits::of(&budgets);
            for (whole, &budget) in budgets.iter().enumerate() {
                for kept in 0..budget {
                    let given = budgets.partition_point(|&known| known < budget - 1 - kept);
                    let most = splits.kept(whole, given).expect("it can be handed over");
                    assert!(budgets[most] >= kept && given < splits.most_given, "{kept} of {budget}");
                }
            }
        }
    }

    #[test]
    fn a_sibling_is_informed_once_and_others_within_the_budget() {
        let sibling = [Some(1), Some(0), None, None].to_vec();
        let budgets = Budgets::new(vec![0, 0, 0, 1], sibling);
        assert_eq!((budgets.rows(0), budgets.rows(2), budgets.rows(3)), (0..6, 12..15, 15..16));
        assert_eq!([1, 2, 3].map(|child| budgets.kind(0, child)), [Kind::Sibling, Kind::Inside, Kind::Outside]);
        let after = |kind, given| (0..6).map(|state| budgets.after(0, state, kind, given)).collect::<Vec<_>>();
        assert_eq!(after(Kind::Outside, 0), (0..6).map(Some).collect::<Vec<_>>());
        assert_eq!(after(Kind::Inside, 0), [None, Some(0), Some(1), None, Some(3), Some(4)]);
        assert_eq!(after(Kind::Inside, 1), [None, None, Some(0), None, None, Some(3)]);
        assert_eq!(after(Kind::Sibling, 1), [None, None, None, None, None, Some(0)]);
        assert_eq!((budgets.given(0, Kind::Outside), budgets.given(0, Kind::Inside)), (0..1, 0..2));
        let below = [(1, Kind::Sibling), (1, Kind::Inside), (2, Kind::Inside)];
        assert_eq!(below.map(|(child, kind)| budgets.below(child, kind, 1)), [7, 10, 13]);
        assert_eq!([0, 2, 3].map(|child| budgets.below(child, Kind::Outside, 0)), [5, 14, 15]);
    }

    #[test]
    fn no_clusters_are_one_without_a_budget() {
        let budgets = Budgets::of(&Costs::of_fn(9, |_, _| 1.0, |_, _| 2.0));
        assert_eq!(budgets.total(), 9);
        assert_eq!(budgets.after(3, 3, Kind::Inside, 0), Some(3));
    }
}
