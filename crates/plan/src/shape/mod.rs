//! The tree shapes of the seed papers, one file each, and the list of them all.
//!
//! A shape turns a [`Problem`] into a [`Tree`]. To add one: a file here with `impl Shape`, and a line in [`SHAPES`];
//! the golden tests, properties, simulator, planner, program and benchmark find it there.
//!
//! Sorting and shuffling are not shapes but improve the tree of one: [`Adaptive`] combines with both.

mod adaptive;
mod binary;
mod cluster;
mod fibonacci;
mod prim;
mod root;
mod sequential;
mod shuffle;
mod sort;

use crate::problem::Problem;
use crate::tree::Tree;

pub use adaptive::Adaptive;
pub use binary::Binary;
pub use cluster::Cluster;
pub use fibonacci::Fibonacci;
pub use prim::{Bad, Mst, Mst2};
pub use sequential::Sequential;

/// A rule that makes a tree.
pub trait Shape: Sync {
    /// The name that users type; unique in [`SHAPES`].
    fn name(&self) -> &'static str;

    /// One line on how the tree is made.
    fn about(&self) -> &'static str;

    /// The tree over all members of the problem. The same input gives the same tree.
    ///
    /// `root` is honoured by every shape; without one the shape chooses as it was published.
    ///
    /// # Panics
    ///
    /// If `root` is not below [`Problem::len`].
    fn build(&self, problem: &Problem, root: Option<usize>) -> Tree;
}

/// Every shape.
pub const SHAPES: &[&dyn Shape] = &[
    &Sequential,
    &Binary,
    &Fibonacci,
    &Mst,
    &Mst2,
    &Cluster,
    &Adaptive::PLAIN,
    &Adaptive::SORTED,
    &Adaptive::SHUFFLED,
    &Adaptive::SHUFFLED_AND_SORTED,
    &Bad,
];

/// The shape of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Shape> {
    SHAPES.iter().copied().find(|shape| shape.name() == name)
}

impl std::fmt::Debug for dyn Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The tree of these children, which a shape has made correctly.
#[track_caller]
fn tree(root: usize, children: Vec<Vec<usize>>) -> Tree {
    Tree::new(root, children).expect("a shape informs every member once, starting from the root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for shape in SHAPES {
            let found = find(shape.name()).expect("listed");
            assert_eq!(found.about(), shape.about(), "{} is listed twice", shape.name());
        }
        assert!(find("star").is_none());
    }
}
