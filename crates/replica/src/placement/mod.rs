//! The leader, the acceptor and the way on which the others learn, planned from a machine's model.
//!
//! In 1Paxos the processor time for messages limits throughput, not the way that one command takes: the busiest member decides.
//! So [`PlacementPlan`] does not look for the tree that informs the last member first, as a broadcast's plan does, but for one
//! whose busiest member has little to do for each command, without making answers much later. [`Load`] owns that arithmetic;
//! benchmarks and `corecast explain replica` take it from here. Where the members' [`Work`] beside their messages is known,
//! [`Costs`] has it, and plans are made and judged with it. [`LearnTree`] is the tree as nodes of a group use it: whichever
//! member accepts, it is walked from there.
//!
//! Take a plan where members are bound to CPUs whose costs were measured. Where they wander, or where only a topology is known,
//! costs between pairs say little, and learning directly from the acceptor is as good.
//!
//! ```
//! use corecast_machine::source::{DiscoveryRequest, discover};
//! use corecast_machine::Machine;
//! use corecast_plan::Problem;
//! use corecast_replica::placement::PlacementPlan;
//!
//! let request = DiscoveryRequest { synthetic: Some("pack:4 core:6 pu:1".into()), ..DiscoveryRequest::default() };
//! let machine = Machine::from_topology(&discover(&request)?);
//! let plan = PlacementPlan::separate(&Problem::of_machine(&machine)?);
//! assert_ne!(plan.roles.leader, plan.roles.acceptor);
//! assert_eq!(plan.tree.root(), plan.roles.acceptor);
//! assert!(plan.planned.busiest < plan.direct.busiest, "one sender of 23 messages is busier than any member of the tree");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, OSDI 2016, sections 5.6 and 5.7: 1Paxos whose
//! acceptor tells the learners over a tree. The objective and the search are ours.

mod costs;
mod growth;
mod learn_tree;
mod load;
mod plan;
mod roles;
mod search;
mod work;

pub use costs::Costs;
pub use learn_tree::{LearnTree, NoTree};
pub use load::Load;
pub use plan::PlacementPlan;
pub use roles::Roles;
pub(crate) use work::RUN;
pub use work::Work;
