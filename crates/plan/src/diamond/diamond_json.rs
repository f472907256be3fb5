//! A ring as JSON.

use serde::Serialize;

use super::{Diamond, Edge, Role, place};
use crate::Problem;

/// A ring and all of its nodes. The fields' names are stable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiamondJson {
    /// The kind of plan: always `acknowledged`.
    pub operation: &'static str,
    /// Number of nodes.
    pub n: usize,
    /// The number of successors of a scatter node.
    pub arity: usize,
    /// Scatter levels, the root's included.
    pub level: u32,
    /// Centre nodes beyond one for each ring, negative if some have none.
    pub extra: isize,
    /// True if the last node gathers in the root's place.
    pub companion: bool,
    /// Messages of one broadcast and its acknowledgement.
    pub messages: usize,
    /// The fewest messages, one after the other, from the root back to it.
    pub shortest: usize,
    /// The most.
    pub longest: usize,
    /// Every node, by id.
    pub nodes: Vec<NodeJson>,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeJson {
    /// Its number, 0 for the root.
    pub id: usize,
    /// Its role.
    pub role: Role,
    /// The CPU it lives on, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// The nodes that it passes a message on to.
    pub successors: Vec<Edge>,
    /// The nodes that it waits for before it does.
    pub predecessors: Vec<usize>,
}

impl DiamondJson {
    /// The ring alone, or on the CPUs of a problem with the root on that of member `root`.
    ///
    /// # Panics
    /// As [`place`].
    #[must_use]
    pub fn new(diamond: &Diamond, problem: Option<(&Problem, usize)>) -> Self {
        let members = problem.map(|(problem, root)| (problem, place(diamond, problem, root)));
        let node = |id| NodeJson {
            id,
            role: diamond.role(id),
            cpu: members.as_ref().map(|(problem, members)| problem.cpu(members[id]).get()),
            successors: diamond.successors(id),
            predecessors: diamond.predecessors(id),
        };
        let (shortest, longest) = diamond.hops();
        Self {
            operation: "acknowledged",
            n: diamond.nodes,
            arity: diamond.arity,
            level: diamond.level(),
            extra: diamond.extra(),
            companion: diamond.has_companion,
            messages: diamond.messages(),
            shortest,
            longest,
            nodes: (0..diamond.nodes).map(node).collect(),
        }
    }
}
