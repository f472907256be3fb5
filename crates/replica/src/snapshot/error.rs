//! The reasons for which a snapshot is not taken or not read.

use std::io;
use std::path::PathBuf;

use super::manifest::VERSION;
use crate::{FileError, Index};

/// A snapshot cannot be taken or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The system refused an operation on a file: there is no space left, for example.
    #[error(transparent)]
    File(#[from] FileError),
    /// It was written by another version of this library.
    #[error("{} has version {found} of the format, this library reads version {VERSION}", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Its bytes are not those that were written.
    #[error("{}: the {part} is damaged", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The part whose checksum is wrong.
        part: &'static str,
    },
    /// It is shorter than it was written.
    #[error("{} has {found} bytes of {expected}", file.display())]
    Truncated {
        /// The file.
        file: PathBuf,
        /// Its length in bytes.
        found: u64,
        /// The length it was written with, or that of a manifest if not even that is left.
        expected: u64,
    },
    /// It belongs to another group.
    #[error("{} belongs to group {found:#018x} and not to {expected:#018x}", file.display())]
    OtherGroup {
        /// The file.
        file: PathBuf,
        /// Its group.
        found: u64,
        /// The group it was looked for.
        expected: u64,
    },
    /// A newer one is there.
    #[error("a snapshot at {index} is older than the one at {newest} that is there")]
    Older {
        /// The place of the snapshot that was to be taken.
        index: Index,
        /// The place of the newest one.
        newest: Index,
    },
}

impl SnapshotError {
    /// Whether another generation may be whole: the bytes of this one are lost, but they were ours.
    pub(super) fn is_loss(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Truncated { .. })
    }
}

impl From<SnapshotError> for io::Error {
    fn from(error: SnapshotError) -> Self {
        let kind = match &error {
            SnapshotError::File(file) => file.source.kind(),
            SnapshotError::Older { .. } => io::ErrorKind::InvalidInput,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
