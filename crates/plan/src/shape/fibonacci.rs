//! A Fibonacci tree: a binary tree whose left side is one step taller than its right side, since the left child is told
//! first.
//!
//! The tree of order i has a left child of order i-1 and a right child of order i-2; order 0 is empty. The least order
//! with a node for everyone is taken, its nodes are numbered level by level from left to right, and those beyond the
//! last member are cut off. Places go by ascending CPU id; the left child is told first.

use std::collections::VecDeque;

use super::root::root_first;
use super::{Shape, tree};
use crate::problem::Problem;
use crate::tree::Tree;

/// The tree that suits unit costs: a member that is informed earlier informs more others.
#[derive(Clone, Copy, Debug)]
pub struct Fibonacci;

impl Shape for Fibonacci {
    fn name(&self) -> &'static str {
        "fibonacci"
    }

    fn about(&self) -> &'static str {
        "a binary tree whose first child has the taller subtree, filled level by level"
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        let members = root_first(problem, root);
        let mut children = vec![Vec::new(); members.len()];
        let mut places = members[1..].iter();
        let mut parents = VecDeque::from([(members[0], least_order(members.len()))]);
        while let Some((parent, order)) = parents.pop_front() {
            for order in [order.saturating_sub(1), order.saturating_sub(2)].into_iter().filter(|&order| order > 0) {
                let Some(&child) = places.next() else { break };
                children[parent].push(child);
                parents.push_back((child, order));
            }
        }
        tree(members[0], children)
    }
}

/// The least order whose tree has at least `len` nodes.
fn least_order(len: usize) -> u32 {
    let (mut order, mut nodes, mut next) = (0, 0, 1);
    while nodes < len {
        (nodes, next) = (next, 1 + next + nodes);
        order += 1;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_grow_as_fibonacci_numbers_do() {
        let orders: Vec<u32> = [1, 2, 3, 4, 5, 7, 8, 12, 13, 20, 21].map(least_order).to_vec();
        assert_eq!(orders, [1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7]);
    }
}
