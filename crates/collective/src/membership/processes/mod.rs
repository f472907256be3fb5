//! The live members of a group of processes, as known to the region in which they meet.
//!
//! Threads end together, so a group of threads has no census; and models know no regions.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(crate) use model::MemberProcesses;
#[cfg(not(loom))]
pub(crate) use native::MemberProcesses;
