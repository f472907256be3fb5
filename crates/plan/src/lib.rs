//! Plans who talks to whom in which order on a machine whose message costs are known.
//!
//! A [`Problem`] is the set of members with the costs between them. A [`shape::Shape`] turns it into a [`Tree`];
//! [`simulate`] says what a collective over that tree costs, and [`Schedule`] when everybody does what.
//!
//! | module | what |
//! |---|---|
//! | [`Problem`] | members and costs, cut out of a machine model |
//! | [`Tree`] | a checked tree with children in send order |
//! | [`shape`] | the rules that make trees, in one list |
//! | [`simulate`], [`Schedule`] | what a tree costs; every message's start and end |
//! | [`Operation`] | the collectives |

#![forbid(unsafe_code)]

mod operation;
mod problem;
mod schedule;
pub mod shape;
pub mod simulate;
mod tree;

pub use operation::{Operation, UnknownOperation};
pub use problem::{Problem, ProblemError};
pub use schedule::{Direction, Schedule, Transfer};
pub use shape::{SHAPES, Shape};
pub use tree::{Tree, TreeError};
