//! Minimum spanning trees by Prim's algorithm, and the same on inverted weights.
//!
//! From the root on, the lightest edge (send + receive) from an informed member to one that is not is added again and
//! again. Children stand in the order in which they were added. Ties: informed members are visited in the order of
//! joining, the others ascending, and the first one found wins.
//!
//! `mst` is what the paper describes. `mst2`, where no member has more than two children, is what the original program
//! builds and publishes under the name mst. `bad` is `mst2` on inverted weights: a tree to be beaten. None of them
//! looks at the order of sending: a spanning tree of least weight is deep, and its last member late.
//!
//! Source: R. C. Prim, Shortest connection networks and some generalizations, 1957.

use super::root::root_first;
use super::{Shape, tree};
use crate::problem::Problem;
use crate::tree::Tree;

/// Prim's tree as the paper describes it: any number of children.
#[derive(Clone, Copy, Debug)]
pub struct Mst;

/// Prim's tree with at most two children per member.
#[derive(Clone, Copy, Debug)]
pub struct Mst2;

/// [`Mst2`] on inverted weights.
#[derive(Clone, Copy, Debug)]
pub struct Bad;

/// The most children that a member of `mst2` and `bad` has.
const TWO: usize = 2;

impl Shape for Mst {
    fn name(&self) -> &'static str {
        "mst"
    }

    fn about(&self) -> &'static str {
        "a minimum spanning tree (Prim)"
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        span(problem, root, usize::MAX, |from, to| problem.message(from, to))
    }
}

impl Shape for Mst2 {
    fn name(&self) -> &'static str {
        "mst2"
    }

    fn about(&self) -> &'static str {
        "a minimum spanning tree (Prim) with at most two children each, the original program's mst"
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        span(problem, root, TWO, |from, to| problem.message(from, to))
    }
}

impl Shape for Bad {
    fn name(&self) -> &'static str {
        "bad"
    }

    fn about(&self) -> &'static str {
        "mst2 on inverted weights: the dearest links first, to see what a bad tree costs"
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        let members = 0..problem.len();
        let pairs = members.clone().flat_map(|from| members.clone().map(move |to| (from, to)));
        let largest = pairs.map(|(from, to)| problem.message(from, to)).fold(0.0, f64::max);
        span(problem, root, TWO, |from, to| largest + 1.0 - problem.message(from, to))
    }
}

/// An informed member and the lightest edge it could add.
struct Sender {
    member: usize,
    /// The lightest uninformed neighbour when it was last looked up, and the weight of that edge.
    nearest: Option<(f64, usize)>,
}

/// Prim's algorithm with at most `limit` children per member.
///
/// Each sender remembers its lightest edge until that edge's end is informed by someone: about n² steps in practice, n³
/// at worst.
fn span(problem: &Problem, root: Option<usize>, limit: usize, weight: impl Fn(usize, usize) -> f64) -> Tree {
    let members = root_first(problem, root);
    let root = members[0];
    let mut uninformed: Vec<usize> = members[1..].to_vec();
    let mut children = vec![Vec::new(); members.len()];
    let nearest = |member, uninformed: &[usize]| {
        let edges = uninformed.iter().map(|&other| (weight(member, other), other));
        edges.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let mut senders = vec![Sender { member: root, nearest: nearest(root, &uninformed) }];
    while !uninformed.is_empty() {
        let lightest = senders.iter().enumerate().filter_map(|(place, sender)| Some((place, sender.nearest?)));
        let (place, (_, child)) =
            lightest.min_by(|a, b| a.1.0.total_cmp(&b.1.0)).expect("the member that joined last has no child yet");
        let parent = senders[place].member;
        children[parent].push(child);
        uninformed.retain(|&member| member != child);
        senders.push(Sender { member: child, nearest: None });
        senders.retain(|sender| children[sender.member].len() < limit);
        for sender in senders.iter_mut().filter(|sender| sender.nearest.is_none_or(|(_, end)| end == child)) {
            sender.nearest = nearest(sender.member, &uninformed);
        }
    }
    tree(root, children)
}
