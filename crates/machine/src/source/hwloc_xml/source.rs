//! The source `hwloc-xml`.

use super::parser;
use crate::source::error::DiscoverError;
use crate::source::file::{self, Form};
use crate::source::request::{DiscoveryRequest, Source};
use crate::topology::Topology;

/// A file of hwloc XML that the user names.
pub(in crate::source) struct HwlocXml;

impl Source for HwlocXml {
    fn name(&self) -> &'static str {
        "hwloc-xml"
    }

    fn discover(&self, request: &DiscoveryRequest) -> Result<Option<Topology>, DiscoverError> {
        let Some(path) = &request.file else { return Ok(None) };
        let Form::HwlocXml(text) = file::read(path)? else { return Ok(None) };
        parser::parse(&text, &path.display().to_string()).map(Some)
    }
}
