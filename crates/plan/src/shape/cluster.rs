//! Two levels: a binary tree over one coordinator per NUMA node, and a star inside each node.
//!
//! The lowest CPU id of each node coordinates it. Coordinators sit in heap layout by ascending id, and send to other
//! coordinators before they send to their own node. A root asked for coordinates its node and the others.

use super::binary::link_as_heap;
use super::root::root_first;
use super::{Shape, tree};
use crate::problem::Problem;
use crate::tree::Tree;

/// One coordinator for each NUMA node.
#[derive(Clone, Copy, Debug)]
pub struct Cluster;

impl Shape for Cluster {
    fn name(&self) -> &'static str {
        "cluster"
    }

    fn about(&self) -> &'static str {
        "a binary tree over one coordinator per NUMA node, then a star in each node"
    }

    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree {
        let members = root_first(problem, root);
        let mut coordinators: Vec<usize> = Vec::new();
        let mut local: Vec<(usize, usize)> = Vec::new();
        for &member in &members {
            match coordinators.iter().find(|&&coordinator| problem.numa(coordinator) == problem.numa(member)) {
                Some(&coordinator) => local.push((coordinator, member)),
                None => coordinators.push(member),
            }
        }
        let mut children = vec![Vec::new(); members.len()];
        link_as_heap(&coordinators, &mut children);
        for (coordinator, member) in local {
            children[coordinator].push(member);
        }
        tree(members[0], children)
    }
}
