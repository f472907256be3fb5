//! The memory of a group whose nodes are simulated: each line has one address, and nobody sees that a node is dead.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use corecast_base::region::{CreateError, RegionPlan, SharedRegion};

use crate::NodeId;
use crate::error::OpenError;
use crate::runtime::ChannelPlace;

/// The regions of later nodes, by their numbers. No thread accesses simulated memory while it holds this.
static ANNOUNCED: LazyLock<Mutex<HashMap<u64, SharedRegion>>> = LazyLock::new(Mutex::default);

/// New memory, of this process alone.
pub(super) fn create(plan: &RegionPlan) -> Result<SharedRegion, CreateError> {
    SharedRegion::heap(plan)
}

/// The same mapping: all nodes are one participant, which lives.
pub(super) fn attach(region: &SharedRegion) -> Result<SharedRegion, OpenError> {
    Ok(region.clone())
}

/// A region that other nodes find while this is there.
#[derive(Debug)]
pub(super) struct Announced(u64);

impl Announced {
    pub(super) fn new(region: SharedRegion) -> Result<Self, OpenError> {
        let number = region.generation();
        announced().insert(number, region);
        Ok(Self(number))
    }

    /// Where `node`, which came as this one of all later nodes, has its channels: here.
    pub(super) fn place(&self, node: NodeId, serial: u64) -> ChannelPlace {
        ChannelPlace { node, serial, pid: std::process::id(), fd: 0, region: self.0 }
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        let region = announced().remove(&self.0);
        drop(region);
    }
}

/// The region of a later node, while that announces it.
pub(super) fn open(at: &ChannelPlace) -> Option<SharedRegion> {
    announced().get(&at.region).cloned()
}

fn announced() -> MutexGuard<'static, HashMap<u64, SharedRegion>> {
    ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner)
}
