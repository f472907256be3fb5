//! Groups over several nodes, whose nodes are threads of this process with groups of threads.
#![cfg(not(loom))]

mod candidates;
mod cluster;
mod conformance;
mod lanes;
mod limits;
mod losses;
mod misuse;
mod processes;
