//! The plan for a cluster: every way to do an operation with its cost, the cheapest first, and the trees of nodes.

use super::candidate::{Candidate, FarScheme};
use super::costs::ns;
use super::evaluation::Evaluation;
use super::events::NodeSimulation;
use super::far_tree::{FarTree, Neighbours};
use super::model::ClusterModel;
use super::near::NearCosts;
use super::request::{ClusterPlanError, ClusterRequest};
use crate::operation::{Direction, Operation};

/// The most nodes that [`ClusterPlan::node_by_node_ns`] simulates.
pub const MOST_SIMULATED_NODES: u64 = 1_000_000;

/// The plan for one operation of all members of a cluster. Its costs are simulated.
#[derive(Clone, Debug)]
pub struct ClusterPlan {
    /// The cluster's name.
    pub cluster: String,
    /// The operation.
    pub operation: Operation,
    /// The length of its values, in bytes.
    pub bytes: u64,
    /// The number of nodes.
    pub nodes: u64,
    /// The number of members of all nodes.
    pub members: u64,
    /// The node whose leader is the root of the trees.
    pub root: u64,
    /// At least one, the cheapest first.
    pub candidates: Vec<Candidate>,
    /// Of a whole value: the way up, for operations that combine, and the way down, for those that tell.
    trees: [Option<FarTree>; 2],
}

impl ClusterRequest {
    /// Plans for a cluster whose nodes have these costs inside.
    ///
    /// # Errors
    ///
    /// If the operation is none between nodes, the root is no node, or a kind of machine lacks a cost.
    pub fn plan(&self, model: &ClusterModel, near: &NearCosts) -> Result<ClusterPlan, ClusterPlanError> {
        self.check(model, near)?;
        let evaluation = Evaluation::new(model, near, *self);
        let mut candidates = evaluation.candidates()?;
        candidates.sort_by(|a, b| a.expected_ns().total_cmp(&b.expected_ns()));
        Ok(ClusterPlan {
            cluster: model.name.clone(),
            operation: self.operation,
            bytes: self.bytes,
            nodes: model.len(),
            members: model.nodes.iter().map(|run| run.count * u64::from(near[&run.kind].members)).sum(),
            root: evaluation.root(),
            candidates,
            trees: evaluation.trees()?,
        })
    }
}

impl ClusterPlan {
    /// The cheapest way.
    #[must_use]
    pub fn best(&self) -> &Candidate {
        self.candidates.first().expect("every operation has a tree")
    }

    /// The cheapest way of a scheme.
    #[must_use]
    pub fn best_of(&self, scheme: FarScheme) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.scheme == scheme)
    }

    /// Where a node stands in the tree of that direction; `None` if the operation has no such phase.
    ///
    /// # Panics
    ///
    /// If `node` is not below [`ClusterPlan::nodes`].
    #[must_use]
    #[track_caller]
    pub fn neighbours(&self, direction: Direction, node: u64) -> Option<Neighbours> {
        assert!(node < self.nodes, "node {node} is not in a cluster of {}", self.nodes);
        Some(self.tree(direction)?.neighbours(node))
    }

    /// How many nodes are how many messages away from the root, in the tree of that direction.
    #[must_use]
    pub fn depths(&self, direction: Direction) -> Option<Vec<f64>> {
        Some(self.tree(direction)?.span().depths)
    }

    /// The time of the trees for whole values, with every node punctual, simulated node by node; `None` beyond
    /// [`MOST_SIMULATED_NODES`]. It equals the `quiet_ns` of the candidate with one lane and without chunks.
    #[must_use]
    pub fn node_by_node_ns(&self) -> Option<f64> {
        if self.nodes > MOST_SIMULATED_NODES {
            return None;
        }
        Some(ns(self.trees.iter().flatten().map(|tree| NodeSimulation::new(tree).duration_ps).sum()))
    }

    fn tree(&self, direction: Direction) -> Option<&FarTree> {
        let [up, down] = &self.trees;
        match direction {
            Direction::Up => up.as_ref(),
            Direction::Down => down.as_ref(),
        }
    }
}
