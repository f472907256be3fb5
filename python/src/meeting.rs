//! The memory of a channel: made by one process, found by others through a name or an inherited descriptor.

use std::os::fd::{IntoRawFd, RawFd};
use std::sync::Once;

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
    hosted: Option<HostedRegion>,
}

impl Meeting {
    /// A new channel, which has no name yet.
    pub(crate) fn found(spec: Spec) -> PyResult<Self> {
        let plan = spec.declare(RegionPlan::new(), CHANNEL).map_err(error::value)?;
        let plan = plan.limit_bytes(u64::MAX);
        let region = SharedRegion::memfd(&plan).map_err(|error| error::named("Error", error))?;
        Ok(Self { region, hosted: None })
    }

    /// Hosts a new channel under its name, if it has one. Its first end is opened before: a process that finds the channel is
    /// told of the death of that end, whenever its founder is killed.
    pub(crate) fn host(mut self, name: Option<&str>) -> PyResult<Self> {
        if let (Some(name), None) = (name, &self.hosted) {
            let dir = SocketDir::of_user();
            remove_dead_names(&dir);
            self.hosted = Some(rendezvous::host(&dir, name, self.region.clone()).map_err(error::meet)?);
        }
        Ok(self)
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

/// Removes the files of names whose processes were all killed: once for each process, as that looks at each name.
fn remove_dead_names(dir: &SocketDir) {
    static ONCE: Once = Once::new();
    // Files that cannot be removed do no harm.
    ONCE.call_once(|| drop(rendezvous::gc(dir)));
}
