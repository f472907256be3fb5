//! Groups over several machines: the trees of a group within each node, and an engine that carries messages between nodes.
//!
//! **When to take it:** a program has outgrown one machine. **When not:** on one machine a [`Group`](crate::Group) is the same
//! without an engine.
//!
//! A node is a machine, or whatever else shares memory. One member of each node, its leader, holds the node's end of an
//! [`Engine`]; the others never see it. Values are combined within each node, then between the leaders, and the result goes from
//! each leader to the members of its node, as it does in the hierarchical collectives of MPI libraries.
//!
//! - [`Builder`], [`Group`]: a group whose members at each node are threads; [`Invitation`]: members that are processes;
//!   [`Connection`]: what either is given to reach the other nodes;
//! - [`Member`]: one participant, with the operations; [`Start`], [`Started`]: operations with a limit;
//! - [`Lanes`]: members of each node that share the messages of long slices;
//! - [`Shrunk`]: a group of those that are left after a member or a node was lost;
//! - [`FarForm`]: the ways of values between nodes; [`FarRaces`]: the results of a race between them;
//!   [`Member::plan_between_nodes`]: trees from a model of the cluster;
//! - [`Engine`]: the operations between nodes that a library such as an MPI offers, each started and then polled; [`Facts`]: its
//!   description of the nodes; [`Slot`] and [`Step`]: buffers and messages; [`Fault`]: why a step ends early;
//! - [`Candidate`]: a process that can lead its node when the leader is lost; [`Standing`] and [`Remade`]: the state of its node,
//!   and what it gets;
//! - [`FaultWord`]: the message that tells all nodes why the group has failed; [`NodeSet`]: some of the nodes;
//! - [`local`]: an engine whose nodes are threads of one process;
//! - [`network_costs`]: measures what messages between nodes cost, for plans of clusters.
//!
//! Members are numbered node by node: the ranks of a node lie side by side, and its leader has the lowest.
//!
//! **Waiting:** members that do not lead wait as in any group. A leader polls its engine and gives up its CPU from time to time,
//! but does not sleep: it takes up to one CPU while it waits.
//!
//! **Progress:** blocking. **Memory ordering:** within a node that of the group's operations; between nodes nothing is shared.
//!
//! ```
//! use corecast_collective::nodes::{Group, local::Network};
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! // Two nodes of two members each. On a cluster each of them is a process on a host of its own.
//! let nodes: Vec<_> = Network::of(2).engines().into_iter().map(|engine| {
//!     let machine = machine.clone();
//!     std::thread::spawn(move || {
//!         let group = corecast_collective::Group::builder(&machine).members(2).over(engine).build().unwrap();
//!         group.run(|me| me.allreduce(me.rank() as u64, |a, b| a + b)).unwrap()
//!     })
//! }).collect();
//! for node in nodes {
//!     assert_eq!(node.join().unwrap(), [Ok(6), Ok(6)]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod candidate;
mod connection;
mod ends;
mod engine;
mod error;
mod exchange;
mod far_plan;
mod fault;
mod few;
mod forms;
mod gather;
mod group;
mod invitation;
mod lanes;
mod leader;
pub mod local;
mod member;
mod message;
pub mod network_costs;
mod news;
mod node_set;
mod numbering;
mod operation;
mod parts;
mod prepared;
mod race;
mod schedule;
mod setup;
mod shrink;
mod start;
mod stop;
mod ways;

pub use crate::op::PredefinedOp;
pub use candidate::{Candidate, Remade, Standing};
pub use connection::Connection;
pub use engine::{Engine, Facts, Slot, Step, Survival, Ticket, ValueKind};
pub use error::{Error, Late, SetupError};
pub use fault::{Fault, FaultKind, FaultWord};
pub use forms::FarForm;
pub use group::{Builder, Group};
pub use invitation::Invitation;
pub use lanes::Lanes;
pub use member::Member;
pub use node_set::NodeSet;
pub use race::{FarRace, FarRaces};
pub use shrink::Shrunk;
pub use start::{Start, Started};
