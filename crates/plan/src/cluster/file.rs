//! Cluster files: the schema, its limits, and why a text is not one.

use std::io;
use std::path::PathBuf;

use corecast_machine::BoundedReadError;

use super::field::FieldError;

/// The schema that this version reads and writes.
pub const SCHEMA: &str = "corecast-cluster/1";

/// The largest file that is read or written, in bytes: room for some 10^5 runs of nodes.
pub const MAX_LEN_BYTES: u64 = 8 << 20;

/// Why a text is not a cluster model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterTextError {
    /// It ends in the middle.
    #[error("the JSON ends too early, the file looks truncated ({0})")]
    Truncated(serde_json::Error),
    /// It is not JSON.
    #[error("this is not JSON, expected a cluster model of schema {SCHEMA} ({0})")]
    NotJson(serde_json::Error),
    /// It is JSON about something else.
    #[error("this JSON is not a cluster model: expected an object with \"schema\": \"{SCHEMA}\", found {found}")]
    Foreign {
        /// The value that was found instead.
        found: String,
    },
    /// A field is missing, of the wrong kind, or breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The text is larger than [`MAX_LEN_BYTES`].
    #[error("{len_bytes} bytes are too much for a cluster model, at most {MAX_LEN_BYTES} are accepted")]
    TooLarge {
        /// Its length.
        len_bytes: usize,
    },
    /// The file is not read.
    #[error("{0}, expected a cluster model of schema {SCHEMA}")]
    NotRead(BoundedReadError),
    /// The file is not written.
    #[error("{0}")]
    NotWritten(io::Error),
}

/// Why a cluster file cannot be read or written: which file, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("cluster model {}: {problem}", path.display())]
pub struct ClusterFileError {
    /// The file.
    pub path: PathBuf,
    /// The fault in it.
    pub problem: ClusterTextError,
}
