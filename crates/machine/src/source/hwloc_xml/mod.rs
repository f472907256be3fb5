//! A machine as hwloc exports it (`lstopo machine.xml`), of hwloc 1 or 2.
//!
//! Take it for machines that are not at hand, and where hwloc knows more than the system's files.
//!
//! How it works: `document` bounds and opens the text, `objects` walks the tree of packages, caches, cores and PUs,
//! `extras` reads the data beside the tree: NUMA nodes with their distances, and kinds of cores; `source` is the
//! entry in the list of sources. CPUs outside the machine's allowed set are left out. Without the cargo feature
//! `hwloc-xml`, which brings the XML parser, `without_parser` refuses such files and names the feature.

#[cfg(feature = "hwloc-xml")]
mod document;
#[cfg(feature = "hwloc-xml")]
mod extras;
#[cfg(feature = "hwloc-xml")]
mod objects;
mod source;
#[cfg(not(feature = "hwloc-xml"))]
mod without_parser;

#[cfg(feature = "hwloc")]
pub(super) use document::parse;
pub(super) use source::HwlocXml;

#[cfg(feature = "hwloc-xml")]
use document as parser;
#[cfg(not(feature = "hwloc-xml"))]
use without_parser as parser;
