//! Plans for clusters: trees between nodes, and what an operation of all their members should cost.
mod check;
mod events;
mod far_tree;
mod field;
mod file;
mod layout;
mod model;
mod parameter;
#[cfg(test)]
mod planted;
mod postal;
mod read;
mod write;

pub use far_tree::Neighbours;
pub use field::FieldError;
pub use file::{ClusterFileError, ClusterTextError, MAX_LEN_BYTES, SCHEMA};
pub use model::{Arrival, ClusterModel, MOST_MEMBERS, MOST_NODES, MachineKind, MachineSource, Nic, NodeRun, Tier};
pub use parameter::{Parameter, Provenance};
pub use read::{parse, read};
pub use write::{render, write};
