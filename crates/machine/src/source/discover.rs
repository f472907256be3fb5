//! The sources in the order in which they are asked for a topology.

use super::error::DiscoverError;
use super::file::ModelFile;
use super::hwloc_xml::HwlocXml;
use super::request::{DiscoveryRequest, Source};
use super::synthetic::Synthetic;
use super::sysfs::Sysfs;
use crate::topology::Topology;

/// All sources, highest priority first.
pub const SOURCES: &[&dyn Source] = &[
    &ModelFile,
    &HwlocXml,
    #[cfg(feature = "hwloc")]
    &super::hwloc_library::HwlocLibrary,
    &Sysfs,
    &Synthetic,
];

/// Asks [`SOURCES`] in order.
///
/// ```
/// use corecast_machine::source::{DiscoveryRequest, discover};
/// let made_up = DiscoveryRequest { synthetic: Some("pack:2 core:4 pu:2".into()), ..DiscoveryRequest::default() };
/// let topology = discover(&made_up)?;
/// assert_eq!(topology.cpus.len(), 16);
/// assert_eq!(topology.cpus[0].core, topology.cpus[1].core);
/// assert_eq!(topology.source, "synthetic");
/// # Ok::<(), corecast_machine::source::DiscoverError>(())
/// ```
///
/// # Errors
///
/// The error of the first applicable source, or [`DiscoverError::NoUsableCpu`] if it finds a machine without CPUs.
pub fn discover(request: &DiscoveryRequest) -> Result<Topology, DiscoverError> {
    for source in SOURCES {
        if let Some(mut topology) = source.discover(request)? {
            topology.source = source.name().to_owned();
            topology.cpus.sort_by_key(|cpu| cpu.id);
            return if topology.cpus.is_empty() {
                Err(DiscoverError::NoUsableCpu { input: source.name().to_owned(), why: "it lists none".to_owned() })
            } else {
                Ok(topology)
            };
        }
    }
    Err(DiscoverError::NoSource)
}
