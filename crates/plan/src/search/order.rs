//! The best order of the children in a given tree, and what the tree then costs.
//!
//! A sender never idles, so only the order of its children counts. The tail of a child is its receive cost and the cost
//! of its subtree; sending to the largest tail first is optimal: exchanging two neighbours in any other order makes the
//! later of the two no later. Bottom-up, one sort for each parent.
//!
//! Source: J. R. Jackson, Scheduling a production line to minimize maximum tardiness, 1955 (delivery times).

use super::costs::Costs;
use crate::tree::Tree;

/// A tree by its parents, with what it costs in the best order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ordered {
    /// The tree, children in the order of sending.
    pub(crate) tree: Tree,
    /// When the last member is informed.
    pub(crate) cost: f64,
}

/// The tree of these edges with the children of each member in the best order. Equal tails keep the order given.
pub(crate) fn ordered(costs: &Costs, root: usize, mut children: Vec<Vec<usize>>) -> Ordered {
    let tree = Tree::new(root, children.clone()).expect("a search makes trees");
    let mut cost = vec![0.0; tree.len()];
    for &parent in tree.top_down().iter().rev() {
        let tail = |child: usize| costs.receive(parent, child) + cost[child];
        let list = &mut children[parent];
        list.sort_by(|&a, &b| tail(b).total_cmp(&tail(a)));
        let mut now = 0.0;
        let mut end: f64 = 0.0;
        for (nth, &child) in list.iter().enumerate() {
            now += costs.nth_send(parent, child, nth);
            end = end.max(now + tail(child));
        }
        cost[parent] = end;
    }
    let tree = Tree::new(root, children).expect("the same edges in another order");
    Ordered { cost: cost[root], tree }
}
