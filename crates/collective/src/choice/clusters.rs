//! The clusters of members that combine their values near each other before anything goes to the others.
//!
//! The costs between members show clusters level by level: siblings of a core, a shared cache, a node. The level is taken at
//! which an allreduce should be over first; all members as one cluster are a level, too.

use corecast_plan::Problem;

use crate::barrier::Times;

/// From this number of members on there is something to gain: two read each other's values.
const FEWEST: usize = 3;

/// Clusters, and the predicted cost of an allreduce of one line by them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clusters {
    /// The members of each by rank, the leader first.
    pub(crate) groups: Vec<Vec<usize>>,
    pub(crate) predicted: f64,
}

impl Clusters {
    /// The clusters by which an allreduce should be cheapest; `None` for so few members that they are of no use.
    pub(crate) fn of(problem: &Problem) -> Option<Self> {
        let members = problem.len();
        if members < FEWEST {
            return None;
        }
        let levels = problem.levels().into_iter().chain([vec![0; members]]);
        let clusters = levels.map(|level| Self::of_groups(problem, groups(&level)));
        clusters.min_by(|a, b| a.predicted.total_cmp(&b.predicted))
    }

    fn of_groups(problem: &Problem, groups: Vec<Vec<usize>>) -> Self {
        let others = |group: &[usize]| group.iter().skip(1).copied().collect::<Vec<_>>();
        let most = |costs: &mut dyn Iterator<Item = f64>| costs.fold(0.0, f64::max);
        let gather = most(&mut groups.iter().map(|group| read_lines(problem, group[0], &others(group))));
        let mut released = Times::of(problem);
        released.release(&groups);
        let leaders: Vec<usize> = groups.iter().map(|group| group[0]).collect();
        let between = |&a: &usize| most(&mut leaders.iter().filter(|&&b| b != a).map(|&b| problem.message(a, b)));
        let step = most(&mut leaders.iter().map(between));
        let predicted = gather + rounds(leaders.len()) as f64 * step + released.last();
        Self { groups, predicted }
    }
}

/// The messages one after the other by which this number of leaders exchange values: recursive doubling among a power of two, of
/// which some take in the value of one more before, and pass the result on to it.
fn rounds(leaders: usize) -> usize {
    leaders.ilog2() as usize + if leaders.is_power_of_two() { 0 } else { 2 }
}

/// One member reads a line of each of some others: the dearest message, and each further one as long as it keeps the reader busy.
pub(super) fn read_lines(problem: &Problem, reader: usize, others: &[usize]) -> f64 {
    let message = |&other: &usize| problem.message(other, reader);
    let Some(&last) = others.iter().max_by(|a, b| message(a).total_cmp(&message(b))) else { return 0.0 };
    let busy = others.iter().filter(|&&other| other != last).map(|&other| problem.occupancy(other, reader));
    message(&last) + busy.sum::<f64>()
}

/// The members of each cluster of a level.
fn groups(level: &[u32]) -> Vec<Vec<usize>> {
    let clusters = level.iter().max().map_or(0, |last| *last as usize + 1);
    let mut groups = vec![Vec::new(); clusters];
    level.iter().enumerate().for_each(|(member, &cluster)| groups[cluster as usize].push(member));
    groups
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::choice::tests::problem;

    #[test]
    fn nodes_are_clusters_and_each_member_is_in_one() {
        for members in 3..=70 {
            let clusters = Clusters::of(&problem(members)).expect("enough members");
            let mut all = clusters.groups.concat();
            all.sort_unstable();
            assert_eq!(all, (0..members as usize).collect::<Vec<_>>());
            assert!(clusters.groups.iter().all(|group| group.is_sorted() && !group.is_empty()));
            assert!(clusters.predicted > 0.0);
        }
        assert!(Clusters::of(&problem(2)).is_none());
    }

    #[test]
    fn leaders_double_in_as_many_rounds_as_a_power_of_two_needs() {
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(rounds), [0, 1, 3, 2, 4, 3, 5]);
    }
}
