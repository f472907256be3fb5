//! Snapshots: the whole state of a replica at one place of the log.
//!
//! - [`SnapshotStore`], [`SnapshotWriter`], [`SnapshotReader`]: checkpoints in files that survive power loss, two generations;
//! - [`Manifest`]: the header of such a file;
//! - [`Checksummed`]: a writer that counts and checks as it goes.

mod checksummed;
mod error;
mod fields;
mod manifest;
mod reader;
mod store;
mod writer;

pub use checksummed::Checksummed;
pub use error::SnapshotError;
pub use manifest::{MANIFEST_BYTES, Manifest};
pub use reader::SnapshotReader;
pub use store::{Newest, SnapshotStore};
pub use writer::SnapshotWriter;
