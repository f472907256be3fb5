//! Moves the last member to arrive: the member that could deliver to it earlier, after all its own sends, takes it
//! over.
//!
//! Repeated until no member could. The paper takes the first *idle* core, the original program the earliest *delivery*;
//! this is the program's rule, since the golden trees are its own. The program crashes when two members arrive last
//! together; here the lowest rank of them moves.
//!
//! Ends: without sorting no member ever arrives later than before, and the moved one arrives earlier. Sorting may delay
//! single members, so there the loop also ends after as many moves as members that did not make the broadcast faster.

use super::sort::sort;
use crate::problem::Problem;
use crate::simulate;
use crate::tree::Tree;

/// Shuffles the tree; if `sorts`, the children are sorted before each step.
pub(super) fn shuffle(problem: &Problem, tree: &mut Tree, sorts: bool) {
    let mut best = f64::INFINITY;
    let mut idle_moves = 0;
    loop {
        if sorts {
            sort(problem, tree);
        }
        let arrivals = simulate::arrivals(problem, tree);
        let last = last_to_arrive(&arrivals);
        if arrivals[last] < best {
            (best, idle_moves) = (arrivals[last], 0);
        } else if sorts {
            idle_moves += 1;
        }
        match earliest_delivery(problem, tree, &arrivals, last) {
            Some((sender, delivery)) if delivery < arrivals[last] && idle_moves < tree.len() => {
                tree.reattach(last, sender);
            }
            _ => return,
        }
    }
}

/// The member that arrives last, the lowest rank of equals.
fn last_to_arrive(arrivals: &[f64]) -> usize {
    let later = |last, member| if arrivals[member] > arrivals[last] { member } else { last };
    (0..arrivals.len()).reduce(later).expect("a problem has members")
}

/// The member that could deliver to `target` earliest as its last child, and when; the lowest rank of equals.
///
/// No member below `target` can deliver before `target` has it itself, so a caller that asks for an earlier delivery
/// never makes a cycle.
fn earliest_delivery(problem: &Problem, tree: &Tree, arrivals: &[f64], target: usize) -> Option<(usize, f64)> {
    let has_edge = |member: usize| tree.parent(target) == Some(member) || tree.parent(member) == Some(target);
    let idle_at = |member: usize| {
        tree.children(member).iter().fold(arrivals[member], |now, &child| now + problem.send(member, child))
    };
    (0..tree.len())
        .filter(|&member| member != target && !has_edge(member))
        .map(|member| (member, idle_at(member) + problem.send(member, target) + problem.receive(member, target)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
}
