//! Where the files of a group are, and how far those of each replica go.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use crate::error::OpenError;
use crate::snapshot::{Newest, SnapshotError, SnapshotReader, SnapshotStore};
use crate::wal::{Fsync, Wal, WalError, WalOptions};
use crate::{FileError, Index};

/// The name of the file with the group's number, and of the files that were set aside.
pub(super) const GROUP: &str = "group";
pub(super) const ORIGIN: &str = "replica-origin";

/// Where a node keeps its files, and when they are durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Durability {
    pub(crate) folder: PathBuf,
    pub(crate) fsync: Fsync,
}

/// Which files are those of a group, and from where they count. Found by the node that makes the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FilesOrigin {
    /// The number of the group, below 2^63.
    pub(crate) group: u64,
    /// The count in the files of the group's command 0.
    pub(crate) base: u64,
}

pub(super) fn new_number() -> u64 {
    let mut hasher = DefaultHasher::new();
    (std::process::id(), Instant::now(), SystemTime::now()).hash(&mut hasher);
    hasher.finish() >> 1
}

/// The number of the group whose files lie in the folder; a new one, which is written there, if there are none.
pub(super) fn group_number(folder: &Path, new: u64) -> Result<u64, OpenError> {
    fs::create_dir_all(folder).map_err(OpenError::Files)?;
    let path = folder.join(GROUP);
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map_err(|_| {
            let what = format!("{} holds '{}', expected the number of a group", path.display(), text.trim());
            OpenError::Files(io::Error::new(io::ErrorKind::InvalidData, what))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let temporary = folder.join("group.new");
            fs::write(&temporary, new.to_string()).map_err(OpenError::Files)?;
            File::open(&temporary).and_then(|file| file.sync_all()).map_err(OpenError::Files)?;
            fs::rename(&temporary, &path).map_err(OpenError::Files)?;
            sync_folder(folder)?;
            Ok(new)
        }
        Err(error) => Err(OpenError::Files(error)),
    }
}

/// Checks that a state that shows `applied` commands of the group may take the place of what the files of a slot hold.
///
/// # Errors
/// [`OpenError::Behind`] if it may not.
pub(crate) fn check_kept(
    durability: Option<&Durability>,
    files: FilesOrigin,
    slot: u16,
    applied: Index,
) -> Result<(), OpenError> {
    let Some(durability) = durability else { return Ok(()) };
    let (wal, mut snapshots) = open(&replica_folder(&durability.folder, slot), files.group, Fsync::Never)?;
    check_count(&wal, &mut snapshots, files.base + applied)
}

/// A result may have been handed out that only these files hold. Where they are damaged, the names of the snapshots still tell
/// how far they got.
pub(super) fn check_count(wal: &Wal, snapshots: &mut SnapshotStore, taken: Index) -> Result<(), OpenError> {
    let kept = count_in(wal, snapshots).unwrap_or_else(|_| snapshots.last().unwrap_or(0));
    if taken < kept { Err(OpenError::Behind { kept, taken }) } else { Ok(()) }
}

pub(super) fn count_in(wal: &Wal, snapshots: &mut SnapshotStore) -> Result<Index, OpenError> {
    let newest = newest_snapshot(wal, snapshots)?.map_or(0, |newest| newest.manifest().index);
    Ok(wal.next().max(newest))
}

/// The snapshot from which the log leads on; `None` if the log leads on from the beginning.
///
/// # Errors
/// Where an older one has to serve for a damaged one, and the log does not lead as far as that: a node that begins or comes back
/// takes a snapshot and begins its log anew there. To go on from the older one would lose results.
pub(super) fn newest_snapshot(wal: &Wal, snapshots: &mut SnapshotStore) -> Result<Option<SnapshotReader>, OpenError> {
    let (newest, damaged) = match snapshots.newest()? {
        Some(Newest { reader, damaged }) => (Some(reader), damaged),
        None => (None, Vec::new()),
    };
    let index = newest.as_ref().map_or(0, |newest| newest.manifest().index);
    let (first, next) = (wal.first(), wal.next().max(index));
    if first <= index && next >= snapshots.last().unwrap_or(0) {
        return Ok(newest);
    }
    Err(match damaged.into_iter().next() {
        Some(damage) => damage.into(),
        None => invalid(format!("the log begins at command {first}, and the newest snapshot is at {index}")),
    })
}

pub(super) fn open(replica: &Path, group: u64, fsync: Fsync) -> Result<(Wal, SnapshotStore), OpenError> {
    fs::create_dir_all(replica).map_err(OpenError::Files)?;
    let snapshots = SnapshotStore::open(&replica.join("snapshots"), group)?;
    let wal = Wal::open(&replica.join("log"), WalOptions { fsync, ..WalOptions::new(group) }, 0)?;
    Ok((wal, snapshots))
}

pub(super) fn replica_folder(folder: &Path, slot: u16) -> PathBuf {
    folder.join(format!("replica-{slot}"))
}

pub(super) fn replica_folders(folder: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(OpenError::Files)? {
        let entry = entry.map_err(OpenError::Files)?;
        if entry.file_name().to_string_lossy().starts_with("replica-") {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn sync_folder(folder: &Path) -> Result<(), OpenError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(OpenError::Files)
}

/// True if another process, or another node of this one, has the files.
pub(super) fn is_in_use(error: &OpenError) -> bool {
    let (OpenError::Wal(WalError::File(FileError { source, .. }))
    | OpenError::Snapshot(SnapshotError::File(FileError { source, .. }))) = error
    else {
        return false;
    };
    source.kind() == io::ErrorKind::ResourceBusy
}

pub(super) fn invalid(what: String) -> OpenError {
    OpenError::Files(io::Error::new(io::ErrorKind::InvalidData, what))
}
