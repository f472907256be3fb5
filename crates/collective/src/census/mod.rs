//! Who is alive of a group of processes, as the region knows in which they meet.
//!
//! Threads end together, so a group of threads has none; and models know no regions.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(crate) use model::Census;
#[cfg(not(loom))]
pub(crate) use native::Census;
