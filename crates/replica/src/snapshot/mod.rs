//! Snapshots: the whole state of a replica at one place of the log.
//!
//! - [`SnapshotStore`], [`SnapshotWriter`], [`SnapshotReader`]: checkpoints in files that survive power loss, two generations;
//! - [`Manifest`]: the header of such a file;
//! - [`Descriptor`]: the answer of 64 bytes to a request for a checkpoint, whatever the size of the state;
//! - [`compare()`]: whether all replicas were in the same state;
//! - [`Checksummed`]: a writer that counts and checks as it goes.

mod agreement;
mod checksummed;
mod descriptor;
mod error;
mod fields;
mod manifest;
mod reader;
mod store;
mod writer;

pub use agreement::{Agreement, compare};
pub use checksummed::Checksummed;
pub use descriptor::{DESCRIPTOR_BYTES, Descriptor};
pub use error::SnapshotError;
pub use manifest::{MANIFEST_BYTES, Manifest};
pub use reader::SnapshotReader;
pub use store::{Newest, SnapshotStore};
pub use writer::SnapshotWriter;
