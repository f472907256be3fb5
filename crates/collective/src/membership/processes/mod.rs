//! The processes behind the members of a group, as known to the region in which they meet.
//!
//! Threads end together, so a group of threads has none of this; and models know no regions.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(crate) use model::MemberProcesses;
#[cfg(not(loom))]
pub(crate) use native::MemberProcesses;
