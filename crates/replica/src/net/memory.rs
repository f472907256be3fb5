//! The memory of a group, a node's share in it, and the memory of later nodes.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use corecast_base::region::{CreateError, RegionPlan, SharedRegion};

use crate::NodeId;
use crate::error::OpenError;
use crate::runtime::ChannelPlace;

/// New memory, which other processes can map.
pub(super) fn create(plan: &RegionPlan) -> Result<SharedRegion, CreateError> {
    SharedRegion::memfd(plan)
}

/// A participant of its own: others see when it is gone, also among the threads of one process.
pub(super) fn attach(region: &SharedRegion) -> Result<SharedRegion, OpenError> {
    let fd = region.share().map_err(OpenError::State)?;
    Ok(SharedRegion::from_fd(fd)?)
}

/// A region that other nodes find while this is there.
#[derive(Debug)]
pub(super) struct Announced {
    region: SharedRegion,
    /// Kept open, so that others find the region by its number.
    fd: OwnedFd,
}

impl Announced {
    pub(super) fn new(region: SharedRegion) -> Result<Self, OpenError> {
        let fd = region.share().map_err(OpenError::State)?;
        Ok(Self { region, fd })
    }

    /// Where `node`, which came as this one of all later nodes, has its channels: here.
    pub(super) fn place(&self, node: NodeId, serial: u64) -> ChannelPlace {
        let (pid, fd) = (std::process::id(), self.fd.as_raw_fd());
        ChannelPlace { node, serial, pid, fd, region: self.region.generation() }
    }
}

/// The region of a later node. The process may be gone, and another have its number.
pub(super) fn open(at: &ChannelPlace) -> Option<SharedRegion> {
    let path = PathBuf::from(format!("/proc/{}/fd/{}", at.pid, at.fd));
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let file = File::options().read(true).write(true).open(path).ok()?;
    let region = SharedRegion::from_fd(file.into()).ok()?;
    Some(region).filter(|region| region.generation() == at.region)
}
