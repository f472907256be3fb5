//! The reasons for which a write-ahead log is not opened or written.

use std::io;
use std::path::PathBuf;

use super::format::{MAX_RECORD_BYTES, VERSION};
use crate::{FileError, Index};

/// The write-ahead log cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WalError {
    /// The system refused an operation on a file: there is no space left, for example.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file was written by another version of this library.
    #[error("{} has version {found} of the format, this library reads version {VERSION}", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A file belongs to another group.
    #[error("{} belongs to group {found:#018x} and not to {expected:#018x}", file.display())]
    OtherGroup {
        /// The file.
        file: PathBuf,
        /// Its group.
        found: u64,
        /// The group of the log that was opened.
        expected: u64,
    },
    /// A file holds damage that no interrupted write explains.
    #[error("{} is damaged at byte {offset}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The first byte of the header or record that does not hold together.
        offset: u64,
    },
    /// Records between two files are missing.
    #[error("{} begins with record {found} where record {expected} is next", file.display())]
    Missing {
        /// The later file.
        file: PathBuf,
        /// The record after the last one of the file before.
        expected: Index,
        /// The first record of the file.
        found: Index,
    },
    /// A record is longer than [`MAX_RECORD_BYTES`](super::format::MAX_RECORD_BYTES).
    #[error("a record of {bytes} bytes is longer than the limit of {MAX_RECORD_BYTES} bytes")]
    TooLarge {
        /// The length of the record.
        bytes: usize,
    },
    /// An earlier write failed, and nobody knows how much of it is in the file. The log has to be opened again.
    #[error("an earlier write to the log failed: it has to be opened again")]
    Failed,
}

impl From<WalError> for io::Error {
    fn from(error: WalError) -> Self {
        let kind = match &error {
            WalError::File(file) => file.source.kind(),
            WalError::TooLarge { .. } => io::ErrorKind::InvalidInput,
            WalError::Failed => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
