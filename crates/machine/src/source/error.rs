//! Why no topology was found.

use std::path::PathBuf;

use crate::bounded_file::BoundedReadError;
use crate::model_file::ModelFileError;

/// Why discovery failed; each names the input and what was expected of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// The input describes a machine without a usable CPU.
    #[error("no usable CPU in {input}: {why}")]
    NoUsableCpu {
        /// The input that was read.
        input: String,
        /// The sets that had no CPU in common.
        why: String,
    },
    /// A file that the user named cannot be read.
    #[error("cannot read machine file {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: BoundedReadError,
    },
    /// A file that the user named is of no known kind.
    #[error("{} is neither a corecast-machine/1 model (JSON) nor hwloc XML: it begins with {begin:?}", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its first characters.
        begin: String,
    },
    /// A model file cannot be used.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// The XML is malformed, or not hwloc's.
    #[error("{input} is not hwloc XML that describes a machine: {reason}")]
    HwlocXml {
        /// The file, or the library that wrote the text.
        input: String,
        /// The fault in it.
        reason: String,
    },
    /// The hwloc library does not work here.
    #[error("the hwloc library cannot describe this machine: {reason}")]
    HwlocLibrary {
        /// The library's error.
        reason: String,
    },
    /// The directory is not the root of a Linux machine.
    #[error("{} is not the root of a Linux machine: expected CPUs in sys/devices/system/cpu below it", root.display())]
    NotARoot {
        /// The directory.
        root: PathBuf,
    },
    /// The synthetic notation is wrong.
    #[error("synthetic topology '{text}': {reason}")]
    Synthetic {
        /// The notation as given.
        text: String,
        /// The fault in it.
        reason: String,
    },
    /// No source applied.
    #[error("no source can describe the machine asked for")]
    NoSource,
}
