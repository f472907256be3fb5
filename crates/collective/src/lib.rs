//! Broadcast, reduce and barriers among the members of a group, over trees planned for the machine they run on.
//!
//! - [`Group`]: the members, their CPUs, trees and barrier; [`Builder`] puts it together, [`Choice`] says what and why;
//! - [`processes`]: the same for members that are processes;
//! - [`Member`]: one participant, with the operations;
//! - [`Member::split`], [`Group::subgroup`]: groups of some of the members;
//! - [`Member::shrink`], [`Shrunk`]: a group of those who are left when one has failed;
//! - [`Started`]: an operation started now and finished later, or given a limit; [`Missing`]: who had not come by then;
//! - [`Call`], [`Operation`]: what members call, as they are told when they do not all call the same;
//! - [`Coordinator`] and [`Participant`]: two-phase commit;
//! - [`AtomicStream`]: events from any member, in one order at all;
//! - [`Barrier`]: the registry of barrier families;
//! - [`op`]: operations to combine with, and what is known of them;
//! - [`Member::race`], [`Races`]: a live race, and what it found;
//! - [`Order`]: in which order a reduction combines; [`Member::reduce_records`]: values whose size is known at run time only;
//! - [`acknowledged`]: a broadcast whose root learns how far all others are;
//! - [`Plain`]: what may be a value.
//!
//! More members than CPUs work: waiting never keeps a CPU from the member that is waited for. A member that panics makes
//! the operations of the others fail with an error that names it. So do those of all members when they call different
//! operations: [`Error::Mismatched`].

#![forbid(unsafe_code)]

pub mod acknowledged;
mod all_read;
mod allreduce;
mod atomic_stream;
pub mod barrier;
mod basis;
mod broadcast;
mod builder;
mod call;
mod call_log;
mod census;
mod choose;
mod chunks;
mod commons;
mod core;
mod error;
mod exchange;
mod gather;
mod group;
mod layout;
mod member;
mod missing;
pub mod op;
mod origin;
#[cfg(not(loom))]
pub mod processes;
mod race;
mod records;
mod reduce;
mod roll;
mod searcher;
mod shrink;
mod slice_exchange;
mod slice_gather;
mod slice_steps;
mod slices;
mod split;
mod stamp;
mod started;
mod survivors;
mod two_phase_commit;
mod web;

pub use atomic_stream::AtomicStream;
pub use barrier::Barrier;
pub use builder::Builder;
pub use call::{Call, Operation};
pub use choose::Choice;
pub use corecast_channel::Plain;
pub use error::{BuildError, Error, Loss, RunError};
pub use group::{Group, MAX_MEMBERS};
pub use member::Member;
pub use missing::Missing;
pub use race::{Entry, Race, Races};
pub use reduce::Order;
pub use shrink::Shrunk;
pub use started::Started;
pub use two_phase_commit::{Coordinator, Participant};
