//! Words of a segment that this thread may only load.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub use model::ReadWords;
#[cfg(not(loom))]
pub use native::ReadWords;
