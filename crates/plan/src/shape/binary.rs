//! A binary tree in heap layout that knows nothing of the machine.
//!
//! The member in place i sends to those in places 2i+1 and 2i+2; places go by ascending CPU id, so the root is the
//! lowest.

use super::root::root_first;
use super::{Shape, tree};
use crate::problem::Problem;
use crate::tree::Tree;

/// Each member sends to at most two, filled level by level.
#[derive(Clone, Copy, Debug)]
pub struct Binary;

impl Shape for Binary {
    fn name(&self) -> &'static str {
        "binary"
    }

    fn about(&self) -> &'static str {
        "a binary tree filled level by level in ascending order"
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        let order = root_first(problem, root);
        let mut children = vec![Vec::new(); order.len()];
        link_as_heap(&order, &mut children);
        tree(order[0], children)
    }
}

/// Appends to the children of `order[i]` those in places 2i+1 and 2i+2, as far as there are any.
pub(super) fn link_as_heap(order: &[usize], children: &mut [Vec<usize>]) {
    for (place, &child) in order.iter().enumerate().skip(1) {
        children[order[(place - 1) / 2]].push(child);
    }
}
