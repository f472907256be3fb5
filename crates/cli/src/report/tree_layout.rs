//! Where the members of a tree stand, so that no two overlap, parents stand over the middle of their children, and
//! equal subtrees look equal.
//!
//! Subtrees are pushed together until their outlines are one place apart, from the leaves up.
//!
//! Source: E. M. Reingold, J. S. Tilford, Tidier Drawings of Trees, IEEE Transactions on Software Engineering 1981.

use corecast::plan::Tree;

/// A place for each member, in units of one member's room.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// By member: the place across the direction of growth, from 0.
    pub(super) across: Vec<f64>,
    /// By member: the distance from the root.
    pub(super) depth: Vec<usize>,
    /// The largest place across.
    pub(super) breadth: f64,
    /// The largest distance from the root.
    pub(super) height: usize,
}

/// How far a subtree reaches to both sides at each depth, from its root.
#[derive(Debug, Default)]
struct Outline {
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Layout {
    pub(super) fn of(tree: &Tree) -> Self {
        let offsets = offsets(tree);
        let mut across = vec![0.0; tree.len()];
        let mut depth = vec![0; tree.len()];
        for &member in tree.top_down() {
            for &child in tree.children(member) {
                across[child] = across[member] + offsets[child];
                depth[child] = depth[member] + 1;
            }
        }
        let least = across.iter().copied().fold(f64::INFINITY, f64::min);
        across.iter_mut().for_each(|place| *place -= least);
        let breadth = across.iter().copied().fold(0.0, f64::max);
        Self { across, depth, breadth, height: tree.depth() }
    }
}

/// By member: its place relative to its parent's.
fn offsets(tree: &Tree) -> Vec<f64> {
    let mut offsets = vec![0.0; tree.len()];
    let mut outlines: Vec<Outline> = (0..tree.len()).map(|_| Outline::default()).collect();
    for &member in tree.top_down().iter().rev() {
        let children = tree.children(member);
        let parts = children.iter().map(|&child| std::mem::take(&mut outlines[child])).collect();
        let (outline, shifts) = joined(parts);
        outlines[member] = outline;
        for (&child, shift) in children.iter().zip(shifts) {
            offsets[child] = shift;
        }
    }
    offsets
}

/// Subtrees side by side under one root, and where each of them stands.
fn joined(parts: Vec<Outline>) -> (Outline, Vec<f64>) {
    let mut below = Outline::default();
    let mut shifts = Vec::with_capacity(parts.len());
    for part in parts {
        let gaps = below.right.iter().zip(&part.left).map(|(right, left)| right + 1.0 - left);
        let shift = gaps.reduce(f64::max).unwrap_or(0.0);
        for (depth, (left, right)) in part.left.iter().zip(&part.right).enumerate() {
            if depth < below.right.len() {
                below.right[depth] = right + shift;
            } else {
                below.left.push(left + shift);
                below.right.push(right + shift);
            }
        }
        shifts.push(shift);
    }
    let centre = (shifts.first().unwrap_or(&0.0) + shifts.last().unwrap_or(&0.0)) / 2.0;
    shifts.iter_mut().for_each(|shift| *shift -= centre);
    let under_root = |side: Vec<f64>| [0.0].into_iter().chain(side.into_iter().map(|place| place - centre)).collect();
    (Outline { left: under_root(below.left), right: under_root(below.right) }, shifts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(children: Vec<Vec<usize>>) -> Layout {
        Layout::of(&Tree::new(0, children).expect("a tree"))
    }

    #[test]
    fn a_star_is_centred_and_a_chain_is_straight() {
        let star = layout(vec![vec![1, 2, 3], vec![], vec![], vec![]]);
        assert_eq!((star.across, star.breadth, star.height), (vec![1.0, 0.0, 1.0, 2.0], 2.0, 1));
        let chain = layout(vec![vec![1], vec![2], vec![]]);
        assert_eq!((chain.across, chain.depth), (vec![0.0, 0.0, 0.0], vec![0, 1, 2]));
    }

    #[test]
    fn a_deep_subtree_may_reach_under_its_sibling() {
        // 1 is a leaf; 2 has three children, which would need room if only breadth counted.
        let tree = layout(vec![vec![1, 2], vec![], vec![3, 4, 5], vec![], vec![], vec![]]);
        assert_eq!(tree.breadth, 2.0, "{tree:?}");
    }

    #[test]
    fn nobody_stands_on_anybody() {
        let mut random = fastrand::Rng::with_seed(11);
        for len in 1..=64 {
            let mut children = vec![Vec::new(); len];
            for member in 1..len {
                children[random.usize(..member)].push(member);
            }
            let layout = layout(children);
            for a in 0..len {
                for b in 0..a {
                    let apart = (layout.across[a] - layout.across[b]).abs();
                    assert!(layout.depth[a] != layout.depth[b] || apart > 0.999, "{len}: {a} and {b} in {layout:?}");
                }
            }
        }
    }
}
