//! Plans hybrids: each group reduces to its leader, the leaders exchange by dissemination, and each informs its group.
//!
//! An exchange between two leaders takes one message where a tree takes two, up and down; with many leaders the rounds
//! cost more than they save. The groups are clusters of near members; each plans two trees from its leader, which is
//! chosen for being near both its group and the other leaders. Then the order of the exchange is searched, with each
//! leader arriving when its group has reduced.

use super::exchange::Exchange;
use super::two_trees::{Greedy, Phases, TwoTrees, greedy_trees, two_trees};
use crate::effort::Effort;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::search::improve::moves;
use crate::settings::Settings;
use crate::simulate;
use crate::tree::Tree;

/// The largest number of groups. On captured machines 17 to 64 leaders always cost more than another scheme, mostly
/// twice as much; so do pairs of hyperthreads with a leader each.
pub(crate) const GROUPS: std::ops::RangeInclusive<usize> = 2..=16;

/// A plan with leaders.
#[derive(Clone, Debug)]
pub(crate) struct Led {
    pub(crate) up: Tree,
    pub(crate) down: Tree,
    /// In the order of their exchange.
    pub(crate) leaders: Vec<usize>,
    pub(crate) cost: f64,
    pub(crate) iterations: u64,
}

/// The members of each cluster, unless there are too many clusters for groups.
pub(crate) fn groups(clusters: &[u32]) -> Option<Vec<Vec<usize>>> {
    let count = clusters.iter().max().map_or(0, |&last| last as usize + 1);
    let mut groups = vec![Vec::new(); count];
    for (member, &cluster) in clusters.iter().enumerate() {
        groups[cluster as usize].push(member);
    }
    groups.retain(|group| !group.is_empty());
    GROUPS.contains(&groups.len()).then_some(groups)
}

/// The best plan that the effort finds for leaders of these groups. The settings' share is what all groups have
/// together, as a search over all members would have.
pub(crate) fn led(problem: &Problem, phases: &Phases, groups: &[Vec<usize>], settings: &Settings<'_>) -> Option<Led> {
    let plan = |(group, leader): (&Vec<usize>, usize)| {
        let share = settings.share * share(phases.len(), groups.len(), group.len());
        two_trees(&phases.among(group), Some(leader), &Settings { share, ..*settings })
    };
    let leaders = chosen(problem, phases, groups, settings.effort);
    let trees = groups.iter().zip(leaders).map(plan).collect::<Option<Vec<TwoTrees>>>()?;
    let of_groups: Vec<usize> =
        groups.iter().zip(&trees).map(|(group, trees)| group[trees.up.best.tree.root()]).collect();
    let ready = trees.iter().map(|trees| trees.up.best.cost).collect();
    let after = trees.iter().map(|trees| trees.down.best.cost).collect();
    let exchange = Exchange::among(problem, of_groups.clone(), ready, after);
    let exchanged = exchange.ordered(&[of_groups], settings);
    let leaders = exchanged.order;
    let joined = |tree: fn(&TwoTrees) -> &Tree| join(problem.len(), groups, trees.iter().map(tree), &leaders);
    let (up, down) = (joined(|trees| &trees.up.best.tree), joined(|trees| &trees.down.best.tree));
    let moved: u64 = trees.iter().map(|trees| trees.up.iterations + trees.down.iterations).sum();
    Some(Led {
        cost: simulate::leaders(problem, &up, &down, &leaders),
        up,
        down,
        leaders,
        iterations: exchanged.iterations + moved,
    })
}

/// The place of each group's leader in it: first the member that reaches its group the cheapest, then, group after
/// group, any member that makes the whole cheaper by greedy trees and the current exchange, until none does.
fn chosen(problem: &Problem, phases: &Phases, groups: &[Vec<usize>], effort: Effort) -> Vec<usize> {
    let candidates = |group: &Vec<usize>| {
        let mut candidates = greedy_trees(&phases.among(group), Limits::default(), effort);
        candidates.sort_by(|a, b| (a.up + a.down).total_cmp(&(b.up + b.down)));
        candidates
    };
    let candidates: Vec<Vec<Greedy>> = groups.iter().map(candidates).collect();
    let cost = |chosen: &[Greedy]| {
        let leaders: Vec<usize> = groups.iter().zip(chosen).map(|(group, leader)| group[leader.root]).collect();
        let exchanged = simulate::exchanged(problem, &leaders, chosen.iter().map(|leader| leader.up).collect());
        exchanged.iter().zip(chosen).map(|(at, leader)| at + leader.down).fold(0.0, f64::max)
    };
    let mut chosen: Vec<Greedy> = candidates.iter().map(|candidates| candidates[0]).collect();
    let mut least = cost(&chosen);
    loop {
        let before = least;
        for (group, candidates) in candidates.iter().enumerate() {
            for &candidate in candidates {
                let former = std::mem::replace(&mut chosen[group], candidate);
                let cost = cost(&chosen);
                if cost < least {
                    least = cost;
                } else {
                    chosen[group] = former;
                }
            }
        }
        if least >= before {
            return chosen.into_iter().map(|leader| leader.root).collect();
        }
    }
}

/// A group's part of the work: all groups together as many moves as all members would have, none more than it needs.
fn share(members: usize, groups: usize, group: usize) -> f64 {
    let all = moves(members) as f64;
    let each = (moves(group) * groups as u64) as f64;
    if each > all { all / each } else { 1.0 }
}

/// One tree of the groups' trees: the first leader is the root, the others become its first children.
fn join<'a>(members: usize, groups: &[Vec<usize>], trees: impl Iterator<Item = &'a Tree>, leaders: &[usize]) -> Tree {
    let mut children = vec![Vec::new(); members];
    children[leaders[0]].extend_from_slice(&leaders[1..]);
    for (group, tree) in groups.iter().zip(trees) {
        for (place, &member) in group.iter().enumerate() {
            children[member].extend(tree.children(place).iter().map(|&child| group[child]));
        }
    }
    Tree::new(leaders[0], children).expect("the groups' trees reach their members, the first leader the others")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_the_clusters_if_there_are_neither_one_nor_too_many() {
        assert_eq!(groups(&[0, 1, 0, 2]), Some(vec![vec![0, 2], vec![1], vec![3]]));
        assert_eq!(groups(&[0, 0, 0]), None);
        assert_eq!(groups(&(0..17).collect::<Vec<u32>>()), None);
    }

    #[test]
    fn the_trees_of_groups_become_one_tree() {
        let pair = Tree::new(1, vec![vec![], vec![0]]).expect("a tree");
        let three = Tree::new(0, vec![vec![2, 1], vec![], vec![]]).expect("a tree");
        let groups = [vec![0, 3], vec![1, 2, 4]];
        let joined = join(5, &groups, [&pair, &three].into_iter(), &[3, 1]);
        let expected = Tree::new(3, vec![vec![], vec![4, 2], vec![], vec![1, 0], vec![]]).expect("a tree");
        assert_eq!(joined, expected);
    }
}
