//! The sources of topologies.
//!
//! [`discover`] asks the entries of [`SOURCES`] in order of priority; the first that applies to the [`DiscoveryRequest`]
//! answers, and its error is the answer too. To add a source, write a file with an `impl Source` and add it to that
//! list.
//!
//! - `file`: a model file that the user names;
//! - `hwloc_xml`: a machine as hwloc exports it, in a file that the user names;
//! - `hwloc_library`: this machine through the hwloc library (cargo feature `hwloc`);
//! - `sysfs`: this machine, or the captured tree of another, through the files of Linux;
//! - `synthetic`: a made-up machine in hwloc's notation.
//!
//! Shared by several: `place` numbers groups, `mask` reads bitmaps, `core_kind` separates fast from thrifty cores.

mod core_kind;
mod discover;
mod error;
mod file;
#[cfg(feature = "hwloc")]
mod hwloc_library;
mod hwloc_xml;
mod mask;
mod place;
mod request;
mod synthetic;
mod sysfs;

pub use discover::{SOURCES, discover};
pub use error::DiscoverError;
pub use request::{DiscoveryRequest, Source};
