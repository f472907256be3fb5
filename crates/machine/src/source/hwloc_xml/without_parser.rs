//! The answer to hwloc XML of a build without the parser.

use crate::source::error::DiscoverError;
use crate::topology::Topology;

/// Always an error that names the cargo feature.
pub(super) fn parse(_text: &str, input: &str) -> Result<Topology, DiscoverError> {
    let reason = "this build cannot read XML: it lacks the cargo feature `hwloc-xml`".to_owned();
    Err(DiscoverError::HwlocXml { input: input.to_owned(), reason })
}
