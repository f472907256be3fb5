//! The snapshots of one replica: a directory with two generations.
//!
//! Take it to start a replica again after all processes died, or faster than by replaying the whole log. A snapshot appears
//! whole or not at all. The one before stays until the next but one, so that a damaged file costs a longer replay and not the
//! state, where the log leads on from [`SnapshotStore::oldest`]. Where it begins later, the one before is an older state: compare
//! [`Newest::damaged`] with the log.
//!
//! ```
//! use std::io::{Read, Write};
//! use corecast_replica::snapshot::SnapshotStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path();
//! let mut store = SnapshotStore::open(path, 17)?;
//! let mut to = store.begin(1000)?;
//! to.write_all(b"the state after 1000 commands")?;
//! to.finish(0xd16e57)?;
//!
//! let mut newest = store.newest()?.expect("there is one");
//! assert_eq!(newest.reader.manifest().index, 1000);
//! let mut state = String::new();
//! newest.reader.read_to_string(&mut state)?;
//! assert!(newest.damaged.is_empty());
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeSet;
use std::path::Path;

use super::error::SnapshotError;
use super::reader::SnapshotReader;
use super::writer::SnapshotWriter;
use crate::Index;
use crate::directory::Directory;

const PREFIX: &str = "snapshot-";

/// How many snapshots are kept.
const GENERATIONS: usize = 2;

/// The snapshots of one replica. One process at a time has them open.
#[derive(Debug)]
pub struct SnapshotStore {
    pub(super) directory: Directory,
    pub(super) group: u64,
    /// Where the snapshots are.
    indexes: BTreeSet<Index>,
    /// Those among them that were found damaged.
    damaged: BTreeSet<Index>,
}

/// The newest snapshot that is whole.
#[derive(Debug)]
pub struct Newest {
    /// Its content.
    pub reader: SnapshotReader,
    /// The reason for which each newer one was passed over, from the newest on.
    pub damaged: Vec<SnapshotError>,
}

impl SnapshotStore {
    /// Opens the directory, which is created if it is missing.
    ///
    /// # Errors
    /// [`SnapshotError::File`]; of the kind [`ResourceBusy`](std::io::ErrorKind::ResourceBusy) where a process has it open.
    pub fn open(directory: &Path, group: u64) -> Result<Self, SnapshotError> {
        let directory = Directory::open(directory)?;
        let indexes = directory.names()?.iter().filter_map(|name| index_of(name)).collect();
        Ok(Self { directory, group, indexes, damaged: BTreeSet::new() })
    }

    /// Begins the snapshot of the state after `index` commands. One of the same place is replaced.
    ///
    /// # Errors
    /// [`SnapshotError::Older`] and [`SnapshotError::File`].
    pub fn begin(&mut self, index: Index) -> Result<SnapshotWriter<'_>, SnapshotError> {
        match self.indexes.last() {
            Some(&newest) if newest > index => Err(SnapshotError::Older { index, newest }),
            _ => SnapshotWriter::new(self, index),
        }
    }

    /// The newest snapshot that is whole; `None` if none was ever taken.
    ///
    /// # Errors
    /// [`SnapshotError::Version`], [`SnapshotError::OtherGroup`] and [`SnapshotError::File`] of the first one that has them,
    /// and the loss of the newest if all are damaged: an empty state is not taken for a lost one.
    pub fn newest(&mut self) -> Result<Option<Newest>, SnapshotError> {
        let mut damaged = Vec::new();
        for &index in self.indexes.iter().rev() {
            match SnapshotReader::open(&self.directory.path_of(&name_of(index)), self.group) {
                Ok(reader) => return Ok(Some(Newest { reader, damaged })),
                Err(error) if error.is_loss() => {
                    self.damaged.insert(index);
                    damaged.push(error);
                }
                Err(error) => return Err(error),
            }
        }
        damaged.into_iter().next().map_or(Ok(None), Err)
    }

    /// The place of the oldest snapshot: the log from here on leads from each snapshot to the present.
    #[must_use]
    pub fn oldest(&self) -> Option<Index> {
        self.indexes.first().copied()
    }

    /// The place of the newest snapshot, which may be damaged.
    #[cfg(not(loom))]
    pub(crate) fn last(&self) -> Option<Index> {
        self.indexes.last().copied()
    }

    /// Takes the new snapshot in, and removes the others but the newest that is not known to be damaged.
    pub(super) fn retire(&mut self, taken: Index) -> Result<(), SnapshotError> {
        self.indexes.insert(taken);
        self.damaged.remove(&taken);
        let whole = self.indexes.iter().rev().filter(|index| !self.damaged.contains(index));
        let kept: BTreeSet<Index> = whole.take(GENERATIONS).copied().collect();
        for index in Vec::from_iter(self.indexes.difference(&kept).copied()) {
            self.directory.remove(&name_of(index))?;
            self.indexes.remove(&index);
            self.damaged.remove(&index);
        }
        Ok(self.directory.sync()?)
    }
}

/// The name of the snapshot after `index` commands.
pub(super) fn name_of(index: Index) -> String {
    format!("{PREFIX}{index:016x}")
}

/// The place of the snapshot of this name; `None` for other files.
fn index_of(name: &str) -> Option<Index> {
    let digits = name.strip_prefix(PREFIX)?;
    Index::from_str_radix(digits, 16).ok().filter(|index| name_of(*index) == name)
}
