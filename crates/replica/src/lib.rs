//! State machines kept identical in several threads or processes of one machine by 1Paxos.
//!
//! - [`StateMachine`], [`Wire`]: the state, and how operations become bytes;
//! - [`NodeId`], [`Command`], [`Configuration`]: the words of the protocol;
//! - [`kv`]: key-value stores to replicate;
//! - [`one_paxos`]: the protocol, as one function without threads, clocks or memory of its own.

#![forbid(unsafe_code)]

mod command;
mod configuration;
pub mod kv;
mod node_id;
pub mod one_paxos;
mod state_machine;

pub use command::{Command, LeaveReason, Op, SessionId};
pub use configuration::{Configuration, RoleChange};
pub use node_id::{MAX_SLOTS, NodeId};
pub use state_machine::{StateMachine, Wire};

/// The place of a command in the log. The first is 0.
pub type Index = u64;

/// The number of a configuration: unique, ordered, with one leader. 0 is the one that a group begins with.
pub type Epoch = u32;
