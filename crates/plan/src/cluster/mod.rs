//! Plans for clusters: trees between nodes, and what an operation of all their members should cost.
//!
//! A [`ClusterModel`] is read from a file of schema `corecast-cluster/1`: kinds of machines, runs of nodes, and what a message
//! costs on each tier of the network, every figure with its [`Provenance`]. [`Near`] plans the inside of each kind once.
//! [`ClusterRequest::plan`] then evaluates the ways to do an operation: trees of earliest completion, recursive doubling, and
//! halving for long values, with lanes and pieces where they help, or only those that groups take today
//! ([`ClusterRequest::of_groups`]). A node derives its own neighbours in a tree from the model
//! ([`ClusterPlan::neighbours`]), so that no plan of 10^5 nodes is sent around.
//!
//! The cost of a tree is computed from counts of nodes, in a time that hardly depends on their number, and can be simulated
//! node by node ([`ClusterPlan::node_by_node_ns`]): both agree to the last digit. All costs are **simulated**: nothing of a
//! cluster is measured here, and a plan is as good as its parameters.
//!
//! Take it to choose a network's scheme or to see how an operation grows with the cluster; for the members of one machine take
//! [`Request`](crate::Request).
//!
//! From below: `parameter`, `model`, `field`, `check`, `file`, `read`, `write`: the model and its file; `layout`: where nodes
//! lie; `postal`: the tree among equal members; `far_tree`, `events`: trees of all nodes, by counts and node by node;
//! `doubling`: recursive doubling; `waits`: interruptions; `near`, `inside`, `costs`: what the parts cost; `evaluation`,
//! `plan`: candidates; `json`, `explain`: results.

mod candidate;
mod check;
mod costs;
mod doubling;
mod evaluation;
mod events;
mod far_tree;
mod field;
mod file;
#[cfg(test)]
mod file_tests;
mod inside;
mod layout;
mod model;
mod near;
mod parameter;
mod plan;
#[cfg(test)]
mod planted;
mod postal;
mod read;
mod request;
mod waits;
mod write;

pub use candidate::{Candidate, FarScheme};
pub use far_tree::Neighbours;
pub use field::FieldError;
pub use file::{ClusterFileError, ClusterTextError, MAX_LEN_BYTES, SCHEMA};
pub use model::{Arrival, ClusterModel, MOST_MEMBERS, MOST_NODES, MachineKind, MachineSource, Nic, NodeRun, Tier};
pub use near::{Near, NearCosts, NearError};
pub use parameter::{Parameter, Provenance};
pub use plan::{ClusterPlan, MOST_SIMULATED_NODES};
pub use read::{parse, read};
pub use request::{
    ClusterPlanError, ClusterRequest, GROUP_HALVED_BYTES, GROUP_LANES, GROUP_PIECE_BYTES, OPERATIONS, groups_can_halve,
};
pub use write::{render, write};
