//! A node at run time: it drives the protocol over the group's memory, applies the log, and serves sessions and readers.
//!
//! No thread owns a node. Whoever waits for something takes its driver, if no other thread has it, and does what there is to
//! do; the thread of the node does so when no caller waits.
//!
//! - [`Replicated`] (open): making and joining; [`Config`], [`Placement`];
//! - [`NodeProcess`]: the processes of a group;
//! - handle, [`Status`], [`Counters`]: what users have, beside `Node` and `Session` of `runtime/`;
//! - driver, apply, closing, watch, giving, leaving, panicked: what the thread with the driver does;
//! - [`Learning`]: who watches and wakes whom; role_moves: who leads and accepts, by plan;
//! - work: what a command costs two nodes beside its messages;
//! - inner: what its threads share; `runtime/` has the parts that nodes over messages use, too.

mod apply;
mod closing;
mod config;
mod cut;
mod direct;
mod driver;
mod gift;
mod giving;
mod handle;
mod inner;
mod learning;
mod leaving;
mod open;
#[cfg(test)]
mod order_tests;
mod panicked;
mod processes;
mod role_moves;
mod status;
mod thread;
mod watch;
mod work;

pub use config::{Config, Placement};
pub use learning::Learning;
pub use open::Replicated;
pub use processes::NodeProcess;
pub use status::{Counters, Status};
pub use work::WorkError;
