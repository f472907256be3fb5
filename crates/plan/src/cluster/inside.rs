//! The work inside the nodes of a cluster during one operation, by kind.

use super::costs::{LINE_BYTES, ps};
use super::model::{ClusterModel, MachineKind};
use super::near::{Near, NearCosts};
use super::parameter::Parameter;
use super::request::ClusterPlanError;

/// By kind: the times before and after the messages between nodes. A kind without a node takes no time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Inside {
    /// A reduction of the node's values to its leader.
    pub(super) up_ps: Vec<u64>,
    /// A broadcast from its leader.
    pub(super) down_ps: Vec<u64>,
    /// Nanoseconds for each byte that a leader combines, the most of all kinds.
    pub(super) combine_byte_ns: f64,
}

/// The part of an operation's values that is handled at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The length of the values.
    pub(super) bytes: u64,
    /// The lanes that share the work of reducing: 1 where all lanes reduce along one tree.
    pub(super) lanes: u32,
    /// True if values are combined.
    pub(super) is_combining: bool,
}

impl Inside {
    /// The times of a part of the values.
    pub(super) fn of(model: &ClusterModel, near: &NearCosts, part: Part) -> Result<Self, ClusterPlanError> {
        let mut inside = Self::default();
        for (name, kind) in &model.machines {
            let Some(of) = near.get(name) else {
                inside.up_ps.push(0);
                inside.down_ps.push(0);
                continue;
            };
            let combine = if part.is_combining { byte_cost(name, kind, part.bytes, COMBINE)? } else { 0.0 };
            inside.combine_byte_ns = inside.combine_byte_ns.max(combine);
            inside.up_ps.push(of.up_ps(name, kind, part)?);
            inside.down_ps.push(of.down_ps(name, kind, part)?);
        }
        Ok(inside)
    }
}

impl Near {
    fn up_ps(&self, name: &str, kind: &MachineKind, part: Part) -> Result<u64, ClusterPlanError> {
        if self.members == 1 || !part.is_combining {
            return Ok(0);
        }
        let bytes = byte_cost(name, kind, part.bytes, REDUCE)? * beyond_line(part.bytes);
        Ok(ps(self.up_ns + bytes / f64::from(part.lanes)))
    }

    fn down_ps(&self, name: &str, kind: &MachineKind, part: Part) -> Result<u64, ClusterPlanError> {
        if self.members == 1 {
            return Ok(0);
        }
        Ok(ps(self.down_ns + byte_cost(name, kind, part.bytes, BROADCAST)? * beyond_line(part.bytes)))
    }
}

/// Bytes that do not go with the first cache line.
fn beyond_line(bytes: u64) -> f64 {
    bytes.saturating_sub(LINE_BYTES) as f64
}

/// A parameter of a kind, by its field.
type ByteCost = (&'static str, fn(&MachineKind) -> Option<&Parameter>);

const REDUCE: ByteCost = ("reduce_byte_ns", |kind| kind.reduce_byte_ns.as_ref());
const BROADCAST: ByteCost = ("broadcast_byte_ns", |kind| kind.broadcast_byte_ns.as_ref());
const COMBINE: ByteCost = ("combine_byte_ns", |kind| kind.combine_byte_ns.as_ref());

/// The cost of a byte; values of a cache line do without.
fn byte_cost(kind: &str, of: &MachineKind, bytes: u64, (field, get): ByteCost) -> Result<f64, ClusterPlanError> {
    match get(of) {
        Some(cost) => Ok(cost.value),
        None if bytes <= LINE_BYTES => Ok(0.0),
        None => Err(ClusterPlanError::NoByteCost { kind: kind.to_owned(), field, bytes }),
    }
}
