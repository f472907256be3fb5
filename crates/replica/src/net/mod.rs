//! Replicas that share no state: the protocol by messages, among threads or processes.
//!
//! **When to take it:** the memory of a node may die with its process, or the channels of this library are to carry the
//! protocol. **When not:** usually [`Replicated`](crate::Replicated) is better: it goes on when leader and acceptor are
//! dead, reads without a message, and takes in members at any time.
//!
//! **How it works.** A [`Group`] is a region with a channel from each node to each other. Requests go to the leader, proposals
//! to the acceptor, and its word about what is decided to all, as [`Spread`] says: one after another, along a tree, or through
//! one ring. A role changes hands when a majority of the voters agrees: the nodes that the group began with, and others in the
//! places of those that are gone. A linearizable read is a
//! barrier in the log.
//!
//! | gone or stopped | the group |
//! |---|---|
//! | any but leader and acceptor | goes on |
//! | the leader, or the acceptor | goes on, if a majority lives |
//! | both | does nothing wrong, and nothing at all until one goes on; `NoMajority` if both are dead |
//! | a majority of the voters at once | goes on while leader and acceptor live; `NoMajority` when one of them is dead |
//!
//! A leader accepts itself only while no other member is well: its death is that of both.
//!
//! Nodes join later, and in the place of one that is gone: see [`Group::join`]. They take a state over the channels. Voters that
//! are dead or out are replaced by members that live, up to the number that the group began with; with fewer, an odd number of
//! them votes. A node that slept until the group put it out comes back by itself, with its sessions ([`Counters::rejoins`]), or
//! fails with `Expelled` if nobody gives it a state. So any number of deaths is survived one after another, as long as nodes come
//! back: [`Status::voters`] has the voters.
//!
//! ```
//! use corecast_replica::net::{Config, Group, Spread};
//! use corecast_replica::kv::{Compact, CompactSet};
//! use corecast_replica::Level;
//!
//! let group = Group::create(&Config::new(3).spread(Spread::Ring))?;
//! let mut nodes = Vec::new();
//! for slot in 0..group.nodes() {
//!     // Usually each process joins as one of them, in the group that came by `Group::attach`.
//!     nodes.push(group.join(slot, Compact::with_capacity(100)?)?);
//! }
//! let mut session = nodes[2].session()?;
//! session.execute(&CompactSet { key: *b"colour  ", value: *b"blue            " })?;
//! let (value, _) = nodes[1].read(Level::Linearizable, b"colour  ")?;
//! assert_eq!(value, Some(*b"blue            "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod barriers;
mod beginning;
mod config;
mod counters;
mod cut;
mod driver;
mod group;
mod handle;
mod inner;
mod links;
mod membership;
#[cfg_attr(simulated, path = "memory_simulated.rs")]
mod memory;
mod peers;
mod pieces;
mod returning;
mod ring;
mod routes;
mod states;
mod status;
mod table;
mod thread;
mod transport;
mod watch;
mod wire;

pub use config::{Config, MAX_NODES, Spread};
pub use counters::Counters;
pub use group::Group;
pub use status::Status;

/// Decodes a message of a group of `nodes` nodes and encodes it again; `None` if the bytes are no such message. For fuzz targets.
#[doc(hidden)]
#[must_use]
pub fn rewritten(bytes: &[u8], nodes: usize) -> Option<Vec<u8>> {
    wire::rewritten(bytes, nodes)
}

/// The nodes send each other messages.
#[derive(Debug, Clone, Copy)]
pub enum Messages {}

/// A node over messages.
pub type Node<S> = crate::Node<S, Messages>;

/// A session of a node over messages.
pub type Session<S> = crate::Session<S, Messages>;
