//! Acknowledged broadcast: one member publishes events, and learns how far all others have got.
//!
//! **Take it** to replicate a log or to hand out work that must be known to be done everywhere: the root publishes up to a
//! window of events ahead, and `acked() >= n` says that *every* other member has processed event `n`, or received it.
//! **Not** for an occasional value that needs no answer: that is [`Member::broadcast`](crate::Member::broadcast).
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_collective::acknowledged::AckConfig;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let config = AckConfig::default();
//! let sums = group.run(|me| {
//!     if me.rank() == config.root {
//!         let mut root = me.ack_root::<u64>(config)?;
//!         for event in 1..=10 {
//!             root.publish(&event)?;
//!         }
//!         root.wait(10)?;
//!         root.close()?;
//!         return Ok(55);
//!     }
//!     let mut sum = 0;
//!     me.ack_follower::<u64>(config)?.serve(|event| sum += event.value)?;
//!     Ok::<u64, corecast_collective::acknowledged::AckError>(sum)
//! })?;
//! assert_eq!(sums, vec![Ok(55); 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Events go around a diamond ring, or down a tree and their acknowledgements up again ([`Variant`]), by [`Edges`] of counts,
//! messages or tasks. All members open it together, [`Member::ack_root`](crate::Member::ack_root) and
//! [`Member::ack_follower`](crate::Member::ack_follower), with the same [`AckConfig`].
//!
//! **Progress:** blocking. Publishing waits while the window is full; a member passes events on, and acknowledges them,
//! within its calls. More members than CPUs work. A member that panics, leaves or drops its end early makes the others'
//! calls fail.
//!
//! **Memory ordering:** what the root wrote before it published an event is visible to all members that process it. All that
//! a member did before it acknowledged is visible to the root once it has seen the acknowledgement.
//!
//! Source: the paper on diamond rings; `docs/design/acknowledged.md` lists the differences and their reasons.

mod config;
mod counters;
mod engine;
mod error;
mod follower;
mod in_order;
mod limits;
mod lines;
mod messages;

mod root;
mod route;
mod scheduler;
mod tasks;
mod wires;

pub use config::{AckConfig, AckOn, AckTuning, Edges, Variant};
pub use error::AckError;
pub use follower::AckFollower;
pub use limits::{MAX_EVENT_BYTES, MAX_WINDOW};
pub use root::AckRoot;
pub(crate) use route::Routes;
pub use scheduler::Discipline;

#[cfg(all(test, not(loom)))]
mod random_schedules;

/// An event that the root has published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<T> {
    /// Its number, from 1.
    pub number: u64,
    /// The event itself.
    pub value: T,
}
