//! Broadcast, reduce and barriers among the members of a group, over trees planned for the machine they run on.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(4).build()?;
//! let sums = group.run(|me| {
//!     me.barrier()?;
//!     me.allreduce(me.rank() as u64, |a, b| a + b)
//! })?;
//! assert!(sums.into_iter().all(|sum| sum == Ok(6)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Group`]: the members, their CPUs, trees and barrier; [`Builder`] puts it together, [`Choice`] records what was
//!   chosen and why;
//! - [`processes`]: the same for members that are processes;
//! - [`Member`]: one participant, with the operations;
//! - [`Member::split`], [`Group::subgroup`]: groups of some of the members;
//! - [`Member::shrink`], [`Shrunk`]: a group of the members that are left after one has failed;
//! - [`Member::start`], [`Started`]: an operation started now and finished later, or within a limit; [`Missing`]: the
//!   members that were late;
//! - [`Call`], [`CallKind`]: the calls that an error names when members do not all call the same operation;
//! - [`Coordinator`] and [`Participant`]: two-phase commit; [`Proposal`]: a value or a slice that is put to the vote;
//! - [`AtomicStream`]: events from any member, delivered to all members in one order;
//! - [`Barrier`]: the registry of barrier families;
//! - [`op`]: operations to combine with, and their properties;
//! - [`Member::race`], [`Races`]: a live race between barriers, trees and forms of an allreduce, and its result;
//! - [`AllreduceForm`], [`SizeClass`]: the ways in which an allreduce can go, and the sizes that are raced as one;
//! - [`Order`]: the order in which a reduction combines; [`Member::reduce_records`]: values whose size is known only at run
//!   time;
//! - [`nodes`]: groups over several machines;
//! - [`acknowledged`]: a broadcast whose root learns how far all other members have got;
//! - [`Plain`]: the types that values may have.
//!
//! A group may have more members than CPUs: a waiting member never keeps a CPU from the one it waits for. When a member
//! panics, the operations of the others fail with an error that names it. When members call different operations, all of
//! them fail: [`Error::Mismatched`].

#![forbid(unsafe_code)]

pub mod acknowledged;
mod atomic_stream;
pub mod barrier;
mod call;
mod choice;
mod core;
mod error;
mod group;
mod link;
mod member;
mod membership;
mod missing;
#[cfg(not(loom))]
pub mod nodes;
pub mod op;
mod operation;
#[cfg(not(loom))]
pub mod processes;
mod race;
mod stamp;
mod tree;
mod two_phase_commit;
mod wait_hook;

pub use atomic_stream::AtomicStream;
pub use barrier::Barrier;
pub use call::{Call, CallKind};
pub use choice::{AllreduceForm, Choice, Entry, Race, Races, SizeClass};
pub use corecast_channel::Plain;
pub use error::{BuildError, Error, Loss, RunError};
pub use group::{Builder, Group};
pub use member::{Member, Shrunk, Start, Started};
pub use missing::Missing;
pub use operation::Order;
pub use two_phase_commit::{Coordinator, Participant, Proposal};

/// The largest group.
pub const MAX_MEMBERS: usize = 4096;

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
