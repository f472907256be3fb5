//! Assigns a CPU to each node of a ring: neighbours in the ring on neighbouring CPUs.
//!
//! A walk through the ring, depth first, meets a scatter node, everything below it, and its mirrored gather node last.
//! Dealing the CPUs in the order of their nearness along this walk keeps a subtree and its mirror together.

use super::rings::Below;
use super::{Diamond, Role};
use crate::Problem;

impl Diamond {
    /// All nodes in the order of the walk, the root first and its companion second.
    #[must_use]
    pub fn depth_first(&self) -> Vec<usize> {
        let mut order = vec![0];
        order.extend((0..self.nodes).rev().take(1).filter(|&last| last > 0 && self.role(last) == Role::Companion));
        self.walk(0, &mut order);
        order
    }

    /// The part below the root or the scatter node with this mirror.
    fn walk(&self, mirror: usize, order: &mut Vec<usize>) {
        let Some(rings) = &self.rings else { return };
        for below in rings.below(mirror) {
            match below {
                Below::Scatter(scatter) => {
                    order.push(scatter);
                    self.walk(rings.nodes - scatter, order);
                    order.push(rings.nodes - scatter);
                }
                Below::Ring(ring) => order.extend(rings.first(ring)..rings.first(ring) + rings.len(ring)),
            }
        }
    }
}

/// The member that each node of the ring is, for a root that is member `root`.
///
/// # Panics
/// If the ring has another number of nodes than the problem has members, or there is no such member.
#[must_use]
pub fn place(diamond: &Diamond, problem: &Problem, root: usize) -> Vec<usize> {
    assert_eq!(diamond.nodes(), problem.len(), "a node for every member");
    place_along(&diamond.depth_first(), problem, root)
}

/// The member that each node is, dealt along a walk that meets every node once and the one of member `root` first.
///
/// # Panics
/// If the walk has another length than the problem has members, or there is no such member.
#[must_use]
pub fn place_along(walk: &[usize], problem: &Problem, root: usize) -> Vec<usize> {
    assert_eq!(walk.len(), problem.len(), "a node for every member");
    let mut members = vec![root; walk.len()];
    for (&node, member) in walk.iter().zip(by_nearness(problem, root)) {
        members[node] = member;
    }
    members
}

/// All members, each the nearest to the one before among those left: the one that a message and its answer cost least
/// to, and of several the first.
fn by_nearness(problem: &Problem, first: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..problem.len()).filter(|&member| member != first).collect();
    let mut order = vec![first];
    let mut last = first;
    while !left.is_empty() {
        let both_ways = |&member: &usize| problem.message(last, member) + problem.message(member, last);
        let nearest = (0..left.len()).min_by(|&a, &b| both_ways(&left[a]).total_cmp(&both_ways(&left[b])));
        last = left.remove(nearest.expect("some are left"));
        order.push(last);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_meets_every_node_once_and_keeps_subtrees_together() {
        for nodes in 1..=80 {
            for arity in 1..=4 {
                for ring in [Diamond::new(nodes, arity), Diamond::with_companion(nodes, arity)] {
                    let mut walk = ring.expect("in range").depth_first();
                    assert_eq!(walk[0], 0);
                    walk.sort_unstable();
                    assert_eq!(walk, (0..nodes).collect::<Vec<_>>());
                }
            }
        }
        let ring = Diamond::new(9, 2).expect("in range");
        // Scatter node 8, its centres, its mirror 1; then 7 and 2.
        assert_eq!(ring.depth_first(), [0, 8, 3, 4, 1, 7, 5, 6, 2]);
    }
}
