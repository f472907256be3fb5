//! Send order: children whose subtree takes longest are told first.
//!
//! How long a subtree takes is what a broadcast inside it takes, in the order before sorting and without the link to
//! its top. All parents are sorted at once, and the new order is kept only if the broadcast did not become slower.

use crate::problem::Problem;
use crate::simulate;
use crate::tree::Tree;

/// Sorts the children of every member, unless that makes the tree worse. Equal children keep their order.
pub(super) fn sort(problem: &Problem, tree: &mut Tree) {
    let mut sorted = tree.clone();
    sorted.sort_children(&subtree_costs(problem, tree));
    if simulate::broadcast(problem, &sorted) <= simulate::broadcast(problem, tree) {
        *tree = sorted;
    }
}

/// By rank: what a broadcast to the member's subtree takes from the moment that the member has it.
fn subtree_costs(problem: &Problem, tree: &Tree) -> Vec<f64> {
    let mut costs = vec![0.0; tree.len()];
    for &parent in tree.top_down().iter().rev() {
        let mut now = 0.0;
        let mut last: f64 = 0.0;
        for &child in tree.children(parent) {
            now += problem.send(parent, child);
            last = last.max(now + problem.receive(parent, child) + costs[child]);
        }
        costs[parent] = last;
    }
    costs
}
