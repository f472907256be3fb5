//! The simulated machine, from outside.

mod contention;
mod faults;
mod memory;
mod orderings;
mod polls;
mod stops;
mod tables;
mod threads;
