//! A node at run time: it drives the protocol over the group's memory, applies the log, and serves sessions and readers.
//!
//! No thread owns a node. Whoever waits for something takes its driver, if no other thread has it, and does what there is to
//! do; the thread of the node does so when no caller waits.
//!
//! - [`Replicated`] (open): making and joining; [`Config`], [`Placement`];
//! - [`Node`] (handle), [`Session`], [`Level`], [`Status`], [`Counters`]: what users have;
//! - driver, apply, watch, giving, leaving, panicked: what the thread with the driver does;
//! - [`Learning`]: who watches and wakes whom;
//! - durable: the files of a replica that survives power loss;
//! - inner, mailbox, outstanding, submitted, waiters, patience, ending, state_bytes: what they keep.

mod apply;
mod config;
mod cut;
mod driver;
mod durable;
mod ending;
mod giving;
mod handle;
mod inner;
mod learning;
mod leaving;
mod level;
mod mailbox;
mod open;
mod outstanding;
mod panicked;
mod patience;
mod session;
mod state_bytes;
mod status;
mod submitted;
mod thread;
mod waiters;
mod watch;

pub(crate) use ending::{End, Ending};
pub(crate) use mailbox::{Content, Letter, Mailbox};
pub(crate) use outstanding::{Outstanding, decode};
pub(crate) use patience::Patience;
pub(crate) use state_bytes::GroupState;
pub(crate) use submitted::Submitted;
pub(crate) use waiters::Waiters;

pub use config::{Config, Placement};
pub use cut::{Checkpoint, CheckpointError};
pub use handle::Node;
pub use learning::Learning;
pub use level::Level;
pub use open::Replicated;
pub use outstanding::Rid;
pub use session::Session;
pub use status::{Counters, Status};
