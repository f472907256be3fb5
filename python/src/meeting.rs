//! The memory of a channel: made by one process, found by others through a name or an inherited descriptor.

use std::os::fd::{IntoRawFd, RawFd};

use corecast::channel::Spec;
use corecast::region::{RegionPlan, SharedRegion};
use corecast::rendezvous::{self, HostedRegion, RendezvousError, SocketDir};
use pyo3::prelude::*;

use crate::error;
use crate::waiting::{Limit, detached};

/// The name of the only channel in its region.
pub(crate) const CHANNEL: &str = "channel";

/// A region, and what keeps its name alive.
pub(crate) struct Meeting {
    pub(crate) region: SharedRegion,
    #[expect(dead_code, reason = "the name is hosted until it is dropped")]
    hosted: Option<HostedRegion>,
}

impl Meeting {
    /// A new channel, hosted under a name if there is one.
    pub(crate) fn found(name: Option<&str>, spec: Spec) -> PyResult<Self> {
        let plan = spec.declare(RegionPlan::new(), CHANNEL).map_err(error::value)?;
        let plan = plan.limit_bytes(u64::MAX);
        let region = SharedRegion::memfd(&plan).map_err(|error| error::named("Error", error))?;
        let hosted = name.map(|name| rendezvous::host(&SocketDir::of_user(), name, region.clone())).transpose();
        Ok(Self { region, hosted: hosted.map_err(error::meet)? })
    }

    /// The channel that is hosted under a name, waiting until there is one.
    pub(crate) fn find(py: Python<'_>, name: &str, limit: Limit) -> PyResult<Self> {
        let dir = SocketDir::of_user();
        loop {
            let part = limit.part();
            match detached(py, || rendezvous::connect_timeout(&dir, name, part.unwrap_or_default())) {
                Err(RendezvousError::NotFound(_) | RendezvousError::TimedOut(_)) if part.is_some() => {
                    py.check_signals()?
                }
                Ok(hosted) => return Ok(Self { region: hosted.region().clone(), hosted: Some(hosted) }),
                Err(error) => return Err(error::meet(error)),
            }
        }
    }

    /// The channel that this process inherited a descriptor of, or was sent one.
    pub(crate) fn of_fd(fd: RawFd) -> PyResult<Self> {
        let region = SharedRegion::inherited(fd).map_err(|error| error::named("Error", error))?;
        Ok(Self { region, hosted: None })
    }

    /// A descriptor for another process; it is inherited by children that are told to keep it.
    pub(crate) fn share(&self) -> PyResult<RawFd> {
        self.check_fork()?;
        Ok(self.region.share()?.into_raw_fd())
    }

    pub(crate) fn check_fork(&self) -> PyResult<()> {
        self.region.check_fork().map_err(|_| error::forked("channel"))
    }
}
