//! The simulated machine, from outside.

mod contention;
mod faults;
mod memory;
mod moves;
mod orderings;
mod overlap;
mod polls;
mod smt;
mod stops;
mod tables;
mod threads;
mod trace;
