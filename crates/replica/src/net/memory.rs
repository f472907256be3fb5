//! The memory of a group, and a node's share in it.

use corecast_base::region::{CreateError, RegionPlan, SharedRegion};

use crate::error::OpenError;

/// New memory, which other processes can map.
pub(super) fn create(plan: &RegionPlan) -> Result<SharedRegion, CreateError> {
    SharedRegion::memfd(plan)
}

/// A participant of its own: others see when it is gone, also among the threads of one process.
pub(super) fn attach(region: &SharedRegion) -> Result<SharedRegion, OpenError> {
    let fd = region.share().map_err(OpenError::State)?;
    Ok(SharedRegion::from_fd(fd)?)
}
