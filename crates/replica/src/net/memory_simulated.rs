//! The memory of a group whose nodes are simulated: each line has one address, and nobody sees that a node is dead.

use corecast_base::region::{CreateError, RegionPlan, SharedRegion};

use crate::error::OpenError;

/// New memory, of this process alone.
pub(super) fn create(plan: &RegionPlan) -> Result<SharedRegion, CreateError> {
    SharedRegion::heap(plan)
}

/// The same mapping: all nodes are one participant, which lives.
pub(super) fn attach(region: &SharedRegion) -> Result<SharedRegion, OpenError> {
    Ok(region.clone())
}
