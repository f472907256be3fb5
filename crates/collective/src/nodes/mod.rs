//! Groups over several machines: the trees of a group within each node, and an engine that carries messages between nodes.
//!
//! A node is a machine, or whatever else shares memory. One member of each node, its leader, holds the node's end of an
//! [`Engine`]; the others never see it.
//!
//! - [`Engine`]: the operations between nodes that a library such as an MPI offers, each started and then polled; [`Facts`]: its
//!   description of the nodes; [`Slot`] and [`Step`]: buffers and messages; [`Fault`]: why a step ends early;
//! - [`FaultWord`]: the message that tells all nodes why the group has failed;
//! - [`NodeSet`]: some of the nodes.

mod engine;
mod fault;
mod node_set;

pub use engine::{Engine, Facts, PredefinedOp, Slot, Step, Survival, Ticket, ValueKind};
pub use fault::{Fault, FaultKind, FaultWord};
pub use node_set::NodeSet;
