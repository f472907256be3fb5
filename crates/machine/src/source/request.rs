//! The request for a topology, and the trait of the sources that answer it.

use std::path::{Path, PathBuf};

use super::error::DiscoverError;
use crate::topology::Topology;

/// The user's request. If it names nothing, it asks for the machine this runs on.
///
/// If several are set, the first of `file`, `sysfs_root`, `synthetic` is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscoveryRequest {
    /// A file that describes a machine: a `corecast-machine/1` model or hwloc XML.
    pub file: Option<PathBuf>,
    /// The root directory of a Linux machine, such as a captured tree; `/` is this machine.
    pub sysfs_root: Option<PathBuf>,
    /// A machine in hwloc's synthetic notation, such as `pack:2 core:8 pu:2`.
    pub synthetic: Option<String>,
}

impl DiscoveryRequest {
    /// The root directory to read, if the request is for a Linux machine, this one or a captured one.
    pub(super) fn root(&self) -> Option<&Path> {
        match (&self.file, &self.sysfs_root, &self.synthetic) {
            (Some(_), ..) | (None, None, Some(_)) => None,
            (None, Some(root), _) => Some(root),
            (None, None, None) => Some(Path::new("/")),
        }
    }

    /// The notation, if the request is for a made-up machine.
    pub(super) fn notation(&self) -> Option<&str> {
        match (&self.file, &self.sysfs_root) {
            (None, None) => self.synthetic.as_deref(),
            _ => None,
        }
    }
}

/// A source of topologies.
pub trait Source: Sync {
    /// The name that [`Topology::source`] gets.
    fn name(&self) -> &'static str;

    /// The topology asked for, or `None` if this source is not the one to ask.
    ///
    /// # Errors
    ///
    /// The source is the one to ask, and its input cannot be used; the error names the input and what was expected.
    fn discover(&self, request: &DiscoveryRequest) -> Result<Option<Topology>, DiscoverError>;
}
