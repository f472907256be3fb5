//! Reading a snapshot file, all of which is checked before the first byte of content is given out.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::error::SnapshotError;
use super::manifest::{MANIFEST_BYTES, Manifest, ManifestFault};
use crate::FileError;
use crate::crc32c::Crc32c;

/// The content of a snapshot that was found whole.
#[derive(Debug)]
pub struct SnapshotReader {
    manifest: Manifest,
    content: io::Take<BufReader<File>>,
}

impl SnapshotReader {
    /// Opens a snapshot of the group and reads all of it once.
    ///
    /// # Errors
    /// All of [`SnapshotError`] but [`SnapshotError::Older`].
    pub fn open(path: &Path, group: u64) -> Result<Self, SnapshotError> {
        let mut file = File::open(path).map_err(FileError::at("open", path))?;
        let found = file.metadata().map_err(FileError::at("examine", path))?.len();
        let truncated = |expected| SnapshotError::Truncated { file: path.to_owned(), found, expected };
        if found < MANIFEST_BYTES as u64 {
            return Err(truncated(MANIFEST_BYTES as u64));
        }
        let mut head = [0; MANIFEST_BYTES];
        file.read_exact(&mut head).map_err(FileError::at("read", path))?;
        let manifest = manifest_of(&head, path, group)?;
        let expected = (MANIFEST_BYTES as u64).saturating_add(manifest.len_bytes);
        if found < expected {
            return Err(truncated(expected));
        }
        let crc = checksum(&mut file, path)?;
        if found > expected || crc != manifest.crc {
            return Err(SnapshotError::Damaged { file: path.to_owned(), part: "content" });
        }
        file.seek(SeekFrom::Start(MANIFEST_BYTES as u64)).map_err(FileError::at("seek", path))?;
        let content = BufReader::with_capacity(1 << 16, file).take(manifest.len_bytes);
        Ok(Self { manifest, content })
    }

    /// Which state it is.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }
}

impl Read for SnapshotReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.content.read(to)
    }
}

fn manifest_of(head: &[u8; MANIFEST_BYTES], path: &Path, group: u64) -> Result<Manifest, SnapshotError> {
    let file = path.to_owned();
    match Manifest::read(head) {
        Err(ManifestFault::Damaged) => Err(SnapshotError::Damaged { file, part: "manifest" }),
        Err(ManifestFault::Version(found)) => Err(SnapshotError::Version { file, found }),
        Ok(manifest) if manifest.group != group => {
            Err(SnapshotError::OtherGroup { file, found: manifest.group, expected: group })
        }
        Ok(manifest) => Ok(manifest),
    }
}

/// The CRC-32C of the rest of the file.
fn checksum(file: &mut File, path: &Path) -> Result<u32, SnapshotError> {
    let mut crc = Crc32c::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).map_err(FileError::at("read", path))? {
            0 => return Ok(crc.value()),
            len => crc.update(&piece[..len]),
        }
    }
}
