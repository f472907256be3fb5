//! Diamond rings: the ways of an acknowledged broadcast through its members.
//!
//! The root's message spreads through scatter nodes, as in a tree, crosses the centre, and is gathered again on its way
//! back to the root, which then knows that all have it. Every node acts once for each message, sends to at most `arity`
//! others (the root to twice as many) and waits for as many; in a tree with acknowledgements inner nodes act twice.
//!
//! Any number of nodes from 1 and any arity from 1 make a ring; arity 1 is the plain ring. Each node finds its
//! neighbours from the numbers of the ring alone, without a table (`rings` has the rules).
//!
//! Source: the paper on diamond rings; its formulas hold for some numbers of nodes only, `docs/design/diamond.md` says
//! which and what stands here instead.
//!
//! ```
//! use corecast_plan::diamond::{Diamond, Role};
//! let ring = Diamond::new(93, 2)?;
//! assert_eq!(ring.messages(), 124, "a tree and its acknowledgements take 184");
//! assert_eq!(ring.role(0), Role::Root);
//! assert!((1..93).all(|node| ring.successors(node).len() <= 2));
//! # Ok::<(), corecast_plan::diamond::DiamondError>(())
//! ```

mod companion;
mod diamond_json;
mod placement;
mod rings;

use std::fmt;

use serde::Serialize;

pub use diamond_json::{DiamondJson, NodeJson};
pub use placement::{place, place_along};

use rings::{Below, Rings};

/// The most nodes of a ring.
pub const MAX_NODES: usize = 4096;

/// A diamond ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diamond {
    nodes: usize,
    arity: usize,
    /// `None` if there are too few nodes for one.
    rings: Option<Rings>,
    has_companion: bool,
}

/// The role of a node of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The origin of messages, which learns when they have been everywhere.
    Root,
    /// Passes a message on to several.
    Scatter,
    /// Lies between scatter and gather nodes.
    Centre,
    /// Waits for several before it passes a message on.
    Gather,
    /// Gathers in the root's place and tells it once.
    Companion,
}

/// One way that messages take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Edge {
    /// The node that receives.
    pub to: usize,
    /// The number of this one among the receiver's predecessors, below its arity.
    pub slot: usize,
}

/// Why there is no ring of these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DiamondError {
    /// Too few nodes or too many.
    #[error("a diamond ring has 1 to {MAX_NODES} nodes, not {nodes}")]
    Nodes {
        /// The number asked for.
        nodes: usize,
    },
    /// The arity is out of range.
    #[error("a diamond ring's arity is 1 to {MAX_NODES}, not {arity}")]
    Arity {
        /// The number asked for.
        arity: usize,
    },
}

impl Diamond {
    /// The ring of this many nodes.
    ///
    /// # Errors
    /// [`DiamondError`] unless both numbers are in `1..=MAX_NODES`.
    pub fn new(nodes: usize, arity: usize) -> Result<Self, DiamondError> {
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(DiamondError::Nodes { nodes });
        }
        if !(1..=MAX_NODES).contains(&arity) {
            return Err(DiamondError::Arity { arity });
        }
        let rings = (nodes > 1).then(|| Rings::new(nodes, arity));
        Ok(Self { nodes, arity, rings, has_companion: false })
    }

    /// Nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of successors of a scatter node.
    #[must_use]
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Scatter levels, the root's included; 0 for a ring of one node.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.rings.map_or(0, |rings| rings.level)
    }

    /// Centre nodes beyond one for each ring, negative if some have none.
    #[must_use]
    pub fn extra(&self) -> isize {
        self.rings.map_or(0, |rings| rings.extra)
    }

    /// The role of a node.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn role(&self, node: usize) -> Role {
        assert!(node < self.nodes, "a ring of {} nodes has no node {node}", self.nodes);
        if self.is_companion(node) {
            return Role::Companion;
        }
        let Some(rings) = &self.rings else { return Role::Root };
        match node {
            0 => Role::Root,
            _ if node <= rings.gathers => Role::Gather,
            _ if node <= rings.gathers + rings.centres() => Role::Centre,
            _ => Role::Scatter,
        }
    }

    /// The nodes that a node passes a message on to, in the order of sending.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn successors(&self, node: usize) -> Vec<Edge> {
        if self.has_companion {
            return companion::successors(self, node);
        }
        let Some(rings) = &self.rings else { return Vec::new() };
        match self.role(node) {
            Role::Root => below(rings, 0),
            Role::Scatter => below(rings, rings.nodes - node),
            Role::Centre => {
                let (ring, place) = rings.ring_of(node);
                let is_last = place + 1 == rings.len(ring);
                vec![if is_last { into_gather(rings, ring) } else { Edge { to: node + 1, slot: 0 } }]
            }
            Role::Gather => vec![Edge { to: (node - 1) / rings.arity, slot: (node - 1) % rings.arity }],
            Role::Companion => unreachable!("rings with a companion have been dealt with"),
        }
    }

    /// The nodes that a node waits for before it passes a message on, in ascending order.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn predecessors(&self, node: usize) -> Vec<usize> {
        if self.has_companion {
            return companion::predecessors(self, node);
        }
        let Some(rings) = &self.rings else { return Vec::new() };
        let mut found = match self.role(node) {
            Role::Root => gathered(rings, 0),
            Role::Gather => gathered(rings, node),
            Role::Scatter => vec![scatter(rings, (rings.nodes - node - 1) / rings.arity)],
            Role::Centre => match rings.ring_of(node) {
                (ring, 0) => vec![scatter(rings, rings.parent(ring))],
                _ => vec![node - 1],
            },
            Role::Companion => unreachable!("rings with a companion have been dealt with"),
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Messages of one broadcast and its acknowledgement.
    #[must_use]
    pub fn messages(&self) -> usize {
        (0..self.nodes).map(|node| self.successors(node).len()).sum()
    }

    /// The fewest and the most messages, one after the other, from the root back to it.
    #[must_use]
    pub fn hops(&self) -> (usize, usize) {
        let Some(rings) = &self.rings else { return (self.messages(), self.messages()) };
        let (full, to_companion) = (2 * rings.level as usize, usize::from(self.has_companion));
        let shortest = match rings.extra {
            // From the root itself a ring without centre has no edge.
            ..0 if rings.level > 1 => full - 1,
            extra if extra == rings.rings as isize => full + 1,
            _ => full,
        };
        (shortest + to_companion, full + usize::from(rings.extra > 0) + to_companion)
    }

    fn is_companion(&self, node: usize) -> bool {
        self.has_companion && node + 1 == self.nodes
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Root => "root",
            Self::Scatter => "scatter",
            Self::Centre => "centre",
            Self::Gather => "gather",
            Self::Companion => "companion",
        })
    }
}

impl fmt::Display for Diamond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let companion = if self.has_companion { ", with a companion" } else { "" };
        write!(f, "diamond ring of {} nodes, arity {}{companion}", self.nodes, self.arity)
    }
}

/// The id of the scatter node with this mirror, of which the root is its own.
fn scatter(rings: &Rings, mirror: usize) -> usize {
    if mirror == 0 { 0 } else { rings.nodes - mirror }
}

/// The edge from a ring's end, or around its centre.
fn into_gather(rings: &Rings, ring: usize) -> Edge {
    Edge { to: rings.parent(ring), slot: ring % rings.arity }
}

/// The targets of the root (0) or the scatter node with this mirror.
fn below(rings: &Rings, mirror: usize) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::with_capacity(rings.arity);
    for below in rings.below(mirror) {
        let edge = match below {
            Below::Scatter(to) => Edge { to, slot: 0 },
            Below::Ring(ring) if rings.len(ring) > 0 => Edge { to: rings.first(ring), slot: 0 },
            // The root sends nothing to itself.
            Below::Ring(_) if mirror == 0 => continue,
            Below::Ring(ring) => into_gather(rings, ring),
        };
        // Ways around the centre all lead to the same gather node: one message is enough.
        if edges.iter().all(|other| other.to != edge.to) {
            edges.push(edge);
        }
    }
    edges
}

/// The nodes that the root (0) or a gather node hears from.
fn gathered(rings: &Rings, gather: usize) -> Vec<usize> {
    let first = rings.arity * gather + 1;
    if first <= rings.gathers {
        return (first..first + rings.arity).collect();
    }
    let ends = rings.rings_into(gather).filter_map(|ring| match rings.len(ring) {
        0 if gather == 0 => None,
        0 => Some(scatter(rings, gather)),
        centres => Some(rings.first(ring) + centres - 1),
    });
    ends.collect()
}

#[cfg(test)]
mod tests;
