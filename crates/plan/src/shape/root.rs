//! The root of a tree whose shape has no rule of its own, and the order of the others.

use crate::problem::Problem;

/// The ranks with the root first and the others ascending; without a root the lowest rank leads.
///
/// Shapes that fill places by ascending CPU id fill them in this order, so that a root asked for takes the first place
/// and moves nobody else more than one place back.
pub(super) fn root_first(problem: &Problem, root: Option<usize>) -> Vec<usize> {
    let root = root.unwrap_or(0);
    assert!(root < problem.len(), "root {root} is not one of the {} members", problem.len());
    std::iter::once(root).chain((0..problem.len()).filter(|&member| member != root)).collect()
}

/// The root that Smelt chooses: the member whose sends to all others cost least in sum; the first of equals.
pub(super) fn cheapest_sender(problem: &Problem) -> usize {
    let cost = |root| (0..problem.len()).map(|member| problem.send(root, member)).sum::<f64>();
    let costs: Vec<f64> = (0..problem.len()).map(cost).collect();
    (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).expect("a problem has members")
}
