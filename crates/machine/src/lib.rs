//! A machine: its CPUs, what they share, and what messages between them cost.
//!
//! ```
//! use corecast_machine::source::{DiscoveryRequest, discover};
//! use corecast_machine::Machine;
//!
//! let request = DiscoveryRequest { synthetic: Some("pack:2 core:4 pu:2".into()), ..DiscoveryRequest::default() };
//! let machine = Machine::from_topology(&discover(&request)?); // costs assumed from the topology
//! assert_eq!(machine.cpus.len(), 16);
//! assert!(machine.send.get(0, 15) > machine.send.get(0, 1), "another package is farther than a sibling");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`source`]: discovery of a [`Topology`] from a file, hwloc, the system's files or a notation;
//! - [`pin`]: binding a thread to one of its CPUs;
//! - [`measure`]: what messages cost between them, sent through any [`Probe`], such as [`LineProbe`];
//! - [`TopologyJson`]: the stable form for other programs;
//! - [`Machine`]: the CPUs with their costs, in memory; [`CostMatrix`] holds the costs;
//!   [`Extended`] what is known beyond pairs, [`Coherence`] of single accesses to lines, [`RaceCheck`] how well predictions held;
//! - [`model_file`]: the same as a file, read strictly and written atomically;
//! - [`clusters`]: which CPUs are near each other by cost, level by level; [`distance_classes`]: by what they share;
//! - [`Cache`]: models of machines by [`Fingerprint`].

mod assumed;
mod atomic_file;
mod bounded_file;
mod cache;
pub mod clusters;
mod coherence;
mod cost_matrix;
mod curve;
mod distance;
mod extended;
mod fingerprint;
mod line_probe;
mod machine;
mod machine_error;
pub mod measure;
pub mod model_file;
pub mod pin;
mod probe;
mod race;
pub mod source;
mod topology;
mod topology_json;
mod unit;
pub use atomic_file::write_atomically;
pub use bounded_file::{BoundedReadError, read_bounded};
pub use cache::{Cache, CacheMiss, user_cache_folder};
pub use coherence::{
    ByDistance, Coherence, CoherenceProtocol, Contended, MOST_AHEAD, Origin, Parameter, SmtCosts, StateCosts,
    SystemCosts,
};
pub use cost_matrix::{CostMatrix, CostMatrixError, MAX_COST};
pub use curve::Curve;
pub use distance::{DistanceClass, distance_classes};
pub use extended::Extended;
pub use fingerprint::Fingerprint;
pub use line_probe::{LineProbe, LineReceiver, LineSender};
pub use machine::{Machine, Provenance};
pub use machine_error::MachineError;
pub use model_file::{ModelError, ModelFileError};
pub use probe::{Probe, ProbeReceiver, ProbeSender};
pub use race::{MOST_RACES, RaceCheck};
pub use topology::{CoreKind, Cpu, NumaDistances, Topology};
pub use topology_json::TopologyJson;
pub use unit::Unit;

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
