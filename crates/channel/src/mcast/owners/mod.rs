//! Whether the ends of a channel are threads of one process or participants of a region, and who of them has died.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(super) use model::Owners;
#[cfg(not(loom))]
pub(super) use native::Owners;
