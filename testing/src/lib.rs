//! The shared parts of the tests of several crates; no crate depends on it outside its tests.
//!
//! - [`actor`]: other processes, which a test starts, stops and kills;
//! - [`skipped`]: how a test says that it cannot check something here;
//! - [`launched`]: other programs, of which a test finds out whether they hang;
//! - [`assert_no_mpi`]: a check that a program needs no MPI to start;
//! - [`preloads`]: allocators and sanitizers' runtimes that users preload;
//! - [`machines`]: the captured machines in the folder `machines/` of the repository;
//! - `stepped`: children that are run one machine instruction at a time, on x86-64.

pub mod actor;
pub mod launched;
pub mod machines;
mod needed;
pub mod preloads;
mod skip;
#[cfg(target_arch = "x86_64")]
pub mod stepped;

pub use needed::assert_no_mpi;
pub use skip::skipped;
