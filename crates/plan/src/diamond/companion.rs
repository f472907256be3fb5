//! The companion of a root: one more node that gathers in the root's place, so that the root hears one message and no
//! node has more than `arity + 1` edges.

use super::rings::Rings;
use super::{Diamond, DiamondError, Edge, MAX_NODES};

impl Diamond {
    /// As [`new`](Self::new), with the last of the nodes as the root's companion. Of two nodes one is the companion; of one
    /// node none is.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_companion(nodes: usize, arity: usize) -> Result<Self, DiamondError> {
        let plain = Self::new(nodes, arity)?;
        debug_assert!(nodes <= MAX_NODES, "checked for the plain ring");
        let rings = (nodes > 2).then(|| Rings::new(nodes - 1, arity));
        Ok(Self { rings, has_companion: nodes > 1, ..plain })
    }

    /// The ring that the companion was added to.
    fn inner(&self) -> Self {
        Self { nodes: self.nodes - 1, has_companion: false, ..*self }
    }
}

pub(super) fn successors(whole: &Diamond, node: usize) -> Vec<Edge> {
    let companion = whole.nodes - 1;
    if node == companion {
        return vec![Edge { to: 0, slot: 0 }];
    }
    let edges = whole.inner().successors(node);
    if whole.nodes == 2 {
        return vec![Edge { to: companion, slot: 0 }];
    }
    edges.into_iter().map(|edge| if edge.to == 0 { Edge { to: companion, ..edge } } else { edge }).collect()
}

pub(super) fn predecessors(whole: &Diamond, node: usize) -> Vec<usize> {
    let companion = whole.nodes - 1;
    match node {
        0 => vec![companion],
        _ if whole.nodes == 2 => vec![0],
        _ if node == companion => whole.inner().predecessors(0),
        _ => whole.inner().predecessors(node),
    }
}
