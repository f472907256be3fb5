//! State machines kept identical in several threads or processes of one machine by 1Paxos.
//!
//! - [`StateMachine`], [`Wire`]: the state, and how operations become bytes;
//! - [`NodeId`], [`Command`], [`Configuration`]: the words of the protocol;
//! - [`one_paxos`]: the protocol, as one function without threads, clocks or memory of its own;
//! - [`wal`], [`snapshot`]: files that survive power loss;
//! - [`linearizability`], [`crash_point`]: for tests of what is built on this crate.

#![forbid(unsafe_code)]

mod command;
mod configuration;
pub mod crash_point;
mod crc32c;
mod directory;
pub mod linearizability;
mod node_id;
pub mod one_paxos;
pub mod snapshot;
mod state_machine;
pub mod wal;

pub use command::{Command, LeaveReason, Op, SessionId};
pub use configuration::{Configuration, RoleChange};
pub use directory::FileError;
pub use node_id::{MAX_SLOTS, NodeId};
pub use state_machine::{StateMachine, Wire};

/// The place of a command in the log. The first is 0.
pub type Index = u64;

/// The number of a configuration: unique, ordered, with one leader. 0 is the one that a group begins with.
pub type Epoch = u32;
