//! A star: the root sends to everyone, one after the other.
//!
//! The best tree for two or three members and where sending is far cheaper than receiving; the worst for many. Root:
//! the lowest CPU id.

use super::root::root_first;
use super::{Shape, tree};
use crate::problem::Problem;
use crate::tree::Tree;

/// The root sends to all others in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct Sequential;

impl Shape for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }

    fn about(&self) -> &'static str {
        "a star: the root sends to all others in ascending order"
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        let order = root_first(problem, root);
        let mut children = vec![Vec::new(); order.len()];
        children[order[0]] = order[1..].to_vec();
        tree(order[0], children)
    }
}
