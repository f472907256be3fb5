//! Writing a snapshot file.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

use super::checksummed::Checksummed;
use super::error::SnapshotError;
use super::manifest::{MANIFEST_BYTES, Manifest};
use super::store::{SnapshotStore, name_of};
use crate::{FileError, Index, crash_point};

/// Takes the content of a snapshot. Nothing of it is there until [`finish`](Self::finish); if it is dropped before, the
/// snapshots of the store stay as they were.
#[derive(Debug)]
pub struct SnapshotWriter<'a> {
    store: &'a mut SnapshotStore,
    index: Index,
    to: Checksummed<BufWriter<File>>,
    is_finished: bool,
}

impl<'a> SnapshotWriter<'a> {
    pub(super) fn new(store: &'a mut SnapshotStore, index: Index) -> Result<Self, SnapshotError> {
        let name = name_of(index);
        let mut file = store.directory.create_temporary(&name)?;
        let seek = file.seek(SeekFrom::Start(MANIFEST_BYTES as u64));
        seek.map_err(FileError::at("seek", store.directory.path_of(&name)))?;
        let to = Checksummed::new(BufWriter::with_capacity(1 << 16, file));
        Ok(Self { store, index, to, is_finished: false })
    }

    /// Makes the snapshot durable, under its name, and removes generations that are no longer needed. `digest` is that of the
    /// state that was written.
    ///
    /// # Errors
    /// [`SnapshotError::File`]. The snapshots that were there still are, and the new one is not there or whole.
    pub fn finish(mut self, digest: u128) -> Result<Manifest, SnapshotError> {
        let (group, index) = (self.store.group, self.index);
        let manifest = Manifest { group, index, digest, len_bytes: self.to.len_bytes(), crc: self.to.crc() };
        let name = name_of(self.index);
        let written = self.to.flush().and_then(|()| self.to.get_ref().get_ref().write_all_at(&manifest.encode(), 0));
        written.map_err(FileError::at("write", self.store.directory.path_of(&name)))?;
        crash_point::here("snapshot-written");
        self.store.directory.publish(&name, self.to.get_ref().get_ref())?;
        self.is_finished = true;
        self.store.retire(self.index)?;
        Ok(manifest)
    }
}

impl Write for SnapshotWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Drop for SnapshotWriter<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.store.directory.discard_temporary(&name_of(self.index));
        }
    }
}
