//! Requests for plans of clusters: the operation, the length of its values, and the limits.

use super::costs::LINE_BYTES;
use super::model::ClusterModel;
use super::near::NearCosts;
use super::parameter::Parameter;
use crate::operation::Operation;

/// The operations that are planned between nodes.
pub const OPERATIONS: [Operation; 4] =
    [Operation::Broadcast, Operation::Reduce, Operation::Barrier, Operation::Allreduce];

/// The nanoseconds for each byte that a leader combines, of models that say nothing of it: a core reads two values and writes one
/// at 10 GB/s.
const COMBINE_BYTE_NS: f64 = 0.1;

/// Why a cluster cannot be planned for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterPlanError {
    /// The operation is not one of those between nodes.
    #[error("{operation} is not planned between nodes; expected broadcast, reduce, barrier or allreduce")]
    Operation {
        /// The operation.
        operation: Operation,
    },
    /// The root is no node of the cluster.
    #[error("root node {root} is not in the cluster, which has nodes 0 to {}", nodes - 1)]
    Root {
        /// The root.
        root: u64,
        /// The number of nodes.
        nodes: u64,
    },
    /// The kind of machine says nothing about long values.
    #[error("machines.{kind} has no `{field}`, which values of {bytes} bytes need")]
    NoByteCost {
        /// The kind.
        kind: String,
        /// The field that is missing.
        field: &'static str,
        /// The length of the values.
        bytes: u64,
    },
    /// Nobody planned the inside of a kind of machine.
    #[error("the inside of machine `{kind}` is not planned")]
    NoNear {
        /// The kind.
        kind: String,
    },
}

/// The inputs of planning for a cluster.
///
/// ```
/// use corecast_plan::cluster::{self, ClusterRequest, Near};
/// use corecast_plan::{Effort, Operation};
/// # let text = include_str!("../../../../docs/examples/cluster.json");
/// let model = cluster::parse(text)?.scaled(512);
/// let near = Near::plan_all(&model, std::path::Path::new("."), Effort::Quick)?;
/// let plan = ClusterRequest::new(Operation::Allreduce).bytes(8).plan(&model, &near)?;
/// assert_eq!(plan.members, 512 * 256);
/// assert!(plan.best().expected_ns() > plan.best().quiet_ns, "with interruptions it takes longer");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterRequest {
    pub(super) operation: Operation,
    pub(super) bytes: u64,
    pub(super) root: u64,
    /// Leaves out what groups do not do.
    pub(super) is_of_groups: bool,
}

/// The pieces in which groups over several nodes send longer values: with its header, one is shorter than the 64 KiB up to which
/// Open MPI sends messages over TCP without asking the receiver first. Two CPUs, two hosts of one member, allreductions of
/// 1 MiB: pieces of 64 KiB took 2.6 times as long, those of 48 KiB 1.2 times.
pub const GROUP_PIECE_BYTES: u64 = 60 << 10;

/// The pieces that groups halve, so that their longest messages are of the same length.
pub const GROUP_HALVED_BYTES: u64 = 2 * GROUP_PIECE_BYTES;

/// The most leaders of a node that share the values of a group, which longer values than a piece may have.
pub const GROUP_LANES: u32 = 16;

/// The longest values that groups do not halve.
const SHORT_BYTES: u64 = 4 << 10;

/// True if groups may allreduce values of this length by halving: among four nodes or more it sends fewer bytes than doubling.
/// Short values are left to doubling, which takes half as many rounds.
#[must_use]
pub fn groups_can_halve(nodes: u64, bytes: u64) -> bool {
    nodes >= 4 && bytes > SHORT_BYTES
}

impl ClusterRequest {
    /// Asks for values of 8 bytes, from node 0 or to it.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        Self { operation, bytes: 8, root: 0, is_of_groups: false }
    }

    /// The length of the values, in bytes.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes, ..self }
    }

    /// The node whose leader begins a broadcast or gets a reduction; the other operations have no root to choose.
    #[must_use]
    pub fn root(self, root: u64) -> Self {
        Self { root, ..self }
    }

    /// Only the ways that groups over several nodes can take today: one leader of each node, and longer values in pieces of
    /// [`GROUP_PIECE_BYTES`], or [`GROUP_HALVED_BYTES`] by halving, which up to [`GROUP_LANES`] leaders of each node can share
    /// where all members are processes of the library between nodes. Without it, other pieces are compared as well, and lanes
    /// whose leaders share the work of reducing inside a node.
    #[must_use]
    pub fn of_groups(self) -> Self {
        Self { is_of_groups: true, ..self }
    }

    /// The model with an assumed cost for each byte that a leader combines, 0.1 ns, at kinds that have none, if the request needs
    /// one: `corecast measure --cluster` finds the costs between nodes, and not those inside. The figure is among the model's
    /// parameters, as an assumed one. Costs of the values of several members of a node are not assumed, as they are larger and
    /// differ much.
    #[must_use]
    pub fn completed(&self, mut model: ClusterModel) -> ClusterModel {
        if self.bytes > LINE_BYTES && matches!(self.operation, Operation::Reduce | Operation::Allreduce) {
            for kind in model.machines.values_mut() {
                kind.combine_byte_ns.get_or_insert_with(|| Parameter {
                    source: "the model has none".to_owned(),
                    ..Parameter::assumed(COMBINE_BYTE_NS)
                });
            }
        }
        model
    }

    /// Checks the request against a cluster.
    pub(super) fn check(&self, model: &ClusterModel, near: &NearCosts) -> Result<(), ClusterPlanError> {
        if !OPERATIONS.contains(&self.operation) {
            return Err(ClusterPlanError::Operation { operation: self.operation });
        }
        if self.root >= model.len() {
            return Err(ClusterPlanError::Root { root: self.root, nodes: model.len() });
        }
        let used = model.nodes.iter().map(|run| &run.kind);
        used.filter(|kind| !near.contains_key(*kind))
            .try_for_each(|kind| Err(ClusterPlanError::NoNear { kind: kind.clone() }))
    }
}
