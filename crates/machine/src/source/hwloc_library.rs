//! This machine through the hwloc library.
//!
//! Take it where hwloc knows more than the system's files: other systems than Linux, or quirks that its authors have
//! worked around. The library writes XML and `hwloc_xml` reads it, so that there is one translation of its objects.

use hwlocality::Topology as Library;
use hwlocality::topology::export::xml::XMLExportFlags;

use super::error::DiscoverError;
use super::request::{DiscoveryRequest, Source};
use super::{hwloc_xml, sysfs};
use crate::topology::Topology;

/// The source `hwloc`.
pub(super) struct HwlocLibrary;

impl Source for HwlocLibrary {
    fn name(&self) -> &'static str {
        "hwloc"
    }

    /// Answers for this machine only: a request that names anything is not for it.
    fn discover(&self, request: &DiscoveryRequest) -> Result<Option<Topology>, DiscoverError> {
        if *request != DiscoveryRequest::default() {
            return Ok(None);
        }
        let mut topology = hwloc_xml::parse(&export()?, "the hwloc library")?;
        sysfs::limit_to_this_process(&mut topology)?;
        Ok(Some(topology))
    }
}

fn export() -> Result<String, DiscoverError> {
    let wrong = |reason: String| DiscoverError::HwlocLibrary { reason };
    let library = Library::new().map_err(|error| wrong(error.to_string()))?;
    let xml = library.export_xml(XMLExportFlags::empty()).map_err(|error| wrong(error.to_string()))?;
    Ok(xml.as_str().to_owned())
}
