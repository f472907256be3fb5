//! State machines kept identical in several threads or processes of one machine by 1Paxos.
//!
//! - [`Replicated`]: makes a group and joins one; [`Config`], [`Placement`], [`Learning`]: its layout;
//! - [`Node`]: a member with its replica, [`Session`]: requests that are done exactly once, [`Level`]: how fresh a read is,
//!   [`Status`], [`NodeProcess`]: how the group is; [`Medium`]: how nodes reach each other;
//! - [`StateMachine`], [`Wire`]: the state, and how operations become bytes; [`Batched`]: several operations as one command;
//! - [`OpenError`], [`ExecuteError`], [`ReadError`]: the errors;
//! - [`NodeId`], [`Command`], [`Configuration`]: the words of the protocol;
//! - [`net`]: the same among nodes that share no state, by messages;
//! - [`kv`]: key-value stores to replicate;
//! - [`one_paxos`]: the protocol, as one function without threads, clocks or memory of its own;
//! - [`system`]: the replicated part of the group itself;
//! - [`placement`]: roles and the learn tree, planned from a machine's model;
//! - [`segment`]: the shared memory of the nodes of one machine;
//! - [`wal`], [`snapshot`]: files that survive power loss;
//! - [`linearizability`], [`crash_point`]: for tests of what is built on this crate.

#![forbid(unsafe_code)]

mod batch;
mod command;
mod configuration;
mod crc32c;
mod directory;
#[cfg(not(loom))]
mod error;
mod key_hasher;
#[cfg(not(simulated))]
pub mod kv;
#[cfg(not(simulated))]
pub mod linearizability;
#[cfg(not(loom))]
pub mod net;
#[cfg(not(loom))]
mod node;
mod node_id;
pub mod one_paxos;
#[cfg(not(loom))]
pub mod placement;
/// Public for the models of `tests/loom`.
#[doc(hidden)]
pub mod runtime;
pub mod segment;
#[cfg(not(loom))]
mod shm;
pub mod snapshot;
mod state_machine;
pub mod system;
pub mod wal;

pub use batch::{Batch, Batched};
pub use command::{Command, LeaveReason, Op, SessionId};
pub use configuration::{Configuration, RoleChange};
pub use corecast_base::crash_point;
pub use directory::FileError;
#[cfg(not(loom))]
pub use error::{ExecuteError, ForkedNode, OpenError, ReadError};
#[cfg(not(loom))]
pub use node::{Config, Counters, Learning, NodeProcess, Placement, Replicated, Status, WorkError};
pub use node_id::{MAX_SLOTS, NodeId};
#[cfg(not(loom))]
pub use runtime::{Checkpoint, CheckpointError, Level, Medium, Node, Rid, Session, SharedMemory, WaitCalls};
pub use state_machine::{StateMachine, Wire};

/// The place of a command in the log. The first is 0.
pub type Index = u64;

/// The number of a configuration: unique, ordered, with one leader. 0 is the one that a group begins with.
pub type Epoch = u32;

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
