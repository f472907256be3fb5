//! The owners of a channel's ends: threads of one process, or participants of a region, and whether they are alive.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(super) use model::Owners;
#[cfg(not(loom))]
pub(super) use native::Owners;
