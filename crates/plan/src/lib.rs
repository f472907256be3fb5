//! Plans trees and schedules for collectives on a machine whose message costs are known.
//!
//! A [`Problem`] is the set of members with the costs between them. A [`shape::Shape`] turns it into a [`Tree`];
//! [`simulate`] computes the cost of a collective over that tree, and [`Schedule`] the time of each message.
//!
//! ```
//! use corecast_machine::source::{DiscoveryRequest, discover};
//! use corecast_machine::Machine;
//! use corecast_plan::{Operation, Problem, Request};
//!
//! let request = DiscoveryRequest { synthetic: Some("pack:2 core:4 pu:1".into()), ..DiscoveryRequest::default() };
//! let machine = Machine::from_topology(&discover(&request)?);
//! let plan = Request::new(Operation::Broadcast).plan(&Problem::of_machine(&machine)?)?;
//! assert_eq!(plan.tree.len(), 8);
//! assert!(plan.predicted > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`Problem`] | members and costs, cut out of a machine model |
//! | [`Tree`] | a checked tree with children in send order |
//! | [`shape`] | the rules that make trees, in one list |
//! | [`simulate`], [`Schedule`] | the cost of a tree; every message's start and end |
//! | [`Operation`] | the collectives |
//! | [`Request`], [`Plan`] | the operation, its members and the search effort; the trees and their cost |
//! | [`Tightness`] | lower bounds: how far from the best a plan can be |
//! | [`Effort`], [`Limits`], [`Terms`] | how long to search, what a tree may look like, costs beyond pairs |
//! | [`PlanJson`], [`tree_file`] | plans as JSON; trees read from files |
//! | [`PlanStore`] | plans kept in files |
//! | [`cluster`] | plans for the nodes of a cluster, and what an operation of all of them should cost |
//! | [`diamond`] | rings for broadcasts that are acknowledged |
//! | [`explain()`] | a plan in words |
//! | [`service`] | plans over a local socket, for many programs |
//!
//! Everything is deterministic: the same machine model gives the same bytes everywhere.
//!
//! Source: S. Kaestle, R. Achermann, R. Haecki, M. Hoffmann, S. Ramos, T. Roscoe, Machine-Aware Atomic Broadcast Trees
//! for Multicores, OSDI 2016. How their trees are built, and where ours deviate, is in
//! `docs/design/seed-trees.md`.

#![forbid(unsafe_code)]

mod background;
mod bounding;
pub mod cluster;
pub mod diamond;
mod effort;
mod explain;
mod levels;
mod limits;
mod meeting;
mod noise;
mod operation;
mod parallel;
mod plan;
mod plan_json;
mod plan_store;
mod planner;
mod problem;
mod request;
mod robust;
mod schedule;
mod schedule_meeting;
mod search;
pub mod service;
mod settings;
pub mod shape;
pub mod simulate;
mod terms;
mod tree;
pub mod tree_file;

pub use bounding::Tightness;
pub use effort::{Effort, UnknownEffort};
pub use explain::explain;
pub use limits::Limits;
pub use operation::{Direction, Operation, UnknownOperation};
pub use plan::{Plan, PlanError, Scheme};
pub use plan_json::{PlanJson, SharedCpu, TreeJson};
pub use plan_store::PlanStore;
pub use planner::planners;
pub use problem::{Problem, ProblemError};
pub use request::{AUTO, Request};
pub use schedule::{Schedule, Transfer};
pub use shape::{SHAPES, Shape};
pub use terms::Terms;
pub use tree::{Tree, TreeError};
pub use tree_file::{TreeFileError, TreeTextError};

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
