//! The files of a node: each command that it applies in a write-ahead log, and snapshots that shorten it.
//!
//! ```text
//! FOLDER/group                   the number of the group, as text
//! FOLDER/replica-SLOT/log/       the write-ahead log of that replica: 1 and the operation, or 0 for commands of the group
//! FOLDER/replica-SLOT/snapshots/ its snapshots
//! ```
//! A result is handed out when the log of the replica that hands it out is as durable as [`Fsync`] says; one sync serves all
//! results of a turn. If all processes died, the node that makes the group anew starts from the replica that got furthest: each
//! log is a prefix of the same commands, so it holds every result that was handed out anywhere. Sessions end with their
//! processes, and indexes begin anew. The files count on: the region of the group says from where.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::OpenError;
use crate::runtime::{Letter, Mailbox};
use crate::snapshot::SnapshotStore;
use crate::wal::{Fsync, Wal, WalOptions};
use crate::{Index, StateMachine, Wire};

/// A snapshot is taken when the log has grown by this many bytes since the last one.
const SNAPSHOT_EVERY: u64 = 64 << 20;
/// Results or not, the log is written this often.
const WRITE_EVERY: Duration = Duration::from_millis(500);

const OPERATION: u8 = 1;
const OF_GROUP: u8 = 0;

/// Where a node keeps its files, and when they are durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Durability {
    pub(crate) folder: PathBuf,
    pub(crate) fsync: Fsync,
}

/// The state that the files of a group hold.
#[derive(Debug)]
pub(super) struct Recovered<S> {
    pub(super) machine: S,
    /// The count of commands that it shows, as the files count.
    pub(super) count: Index,
}

/// The files of one replica.
#[derive(Debug)]
pub(super) struct Disk {
    wal: Wal,
    snapshots: SnapshotStore,
    /// The count in the files of the group's command 0.
    base: Index,
    /// Results that wait for the log.
    held: Vec<(Arc<Mailbox>, Letter)>,
    /// Bytes in the log since the last snapshot.
    grown: u64,
    written: Instant,
    record: Vec<u8>,
}

impl Disk {
    /// The files of the replica in `slot`, whose state now shows `applied` commands of the group.
    pub(super) fn begin<S: StateMachine>(
        durability: &Durability,
        group: u64,
        slot: u16,
        base: Index,
        (machine, applied): (&S, Index),
    ) -> Result<Self, OpenError> {
        let (wal, snapshots) = open(&replica_folder(&durability.folder, slot), group, durability.fsync)?;
        let (held, record, written) = (Vec::new(), Vec::new(), Instant::now());
        let mut disk = Self { wal, snapshots, base, held, grown: 0, written, record };
        disk.restart(machine, applied)?;
        Ok(disk)
    }

    /// The replica goes on from another state.
    pub(super) fn restart<S: StateMachine>(&mut self, machine: &S, applied: Index) -> Result<(), OpenError> {
        let at = self.base + applied;
        // The snapshot first: the log before it stays until the state that replaces it is durable.
        self.snapshot(machine, at)?;
        self.wal.reset(at)?;
        Ok(())
    }

    /// Keeps the command at an index, which is the next one.
    pub(super) fn keep(&mut self, index: Index, operation: Option<&[u8]>) -> io::Result<()> {
        self.record.clear();
        self.record.push(if operation.is_some() { OPERATION } else { OF_GROUP });
        self.record.extend_from_slice(operation.unwrap_or_default());
        self.grown += self.record.len() as u64;
        self.wal.append(self.base + index, &self.record).map_err(io::Error::other)
    }

    /// Holds a result back until the log is as durable as it should be.
    pub(super) fn hold(&mut self, mailbox: Arc<Mailbox>, letter: Letter) {
        self.held.push((mailbox, letter));
    }

    /// Syncs the log if results wait for it, and hands them out.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        let is_due = self.written.elapsed() >= WRITE_EVERY;
        if self.held.is_empty() && !is_due {
            return Ok(false);
        }
        self.wal.sync().map_err(io::Error::other)?;
        self.written = Instant::now();
        let has_results = !self.held.is_empty();
        self.held.drain(..).for_each(|(mailbox, letter)| mailbox.put(letter));
        Ok(has_results)
    }

    /// True if it is time for a snapshot.
    pub(super) fn wants_snapshot(&self) -> bool {
        self.grown >= SNAPSHOT_EVERY
    }

    /// Takes a snapshot of the state that shows `applied` commands of the group, and drops what it replaces.
    pub(super) fn shorten<S: StateMachine>(&mut self, machine: &S, applied: Index) -> Result<(), OpenError> {
        self.snapshot(machine, self.base + applied)?;
        if let Some(oldest) = self.snapshots.oldest() {
            self.wal.trim(oldest)?;
        }
        Ok(())
    }

    fn snapshot<S: StateMachine>(&mut self, machine: &S, at: Index) -> Result<(), OpenError> {
        let mut writer = self.snapshots.begin(at)?;
        machine.snapshot(&mut writer).map_err(OpenError::State)?;
        writer.finish(machine.digest())?;
        self.grown = 0;
        Ok(())
    }
}

/// The number of the group whose files lie in the folder; a new one, which is written there, if there are none.
pub(super) fn group_number(folder: &Path, new: u64) -> Result<u64, OpenError> {
    fs::create_dir_all(folder).map_err(OpenError::Files)?;
    let path = folder.join("group");
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map_err(|_| {
            let what = format!("{} holds '{}', expected the number of a group", path.display(), text.trim());
            OpenError::Files(io::Error::new(io::ErrorKind::InvalidData, what))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let temporary = folder.join("group.new");
            fs::write(&temporary, new.to_string()).map_err(OpenError::Files)?;
            fs::File::open(&temporary).and_then(|file| file.sync_all()).map_err(OpenError::Files)?;
            fs::rename(&temporary, &path).map_err(OpenError::Files)?;
            fs::File::open(folder).and_then(|file| file.sync_all()).map_err(OpenError::Files)?;
            Ok(new)
        }
        Err(error) => Err(OpenError::Files(error)),
    }
}

/// The state of the replica that got furthest; `initial` if there are no files.
pub(super) fn recover<S: StateMachine>(folder: &Path, group: u64, initial: S) -> Result<Recovered<S>, OpenError> {
    let mut furthest: Option<(Index, PathBuf)> = None;
    for replica in replica_folders(folder)? {
        let count = count_of(&replica, group)?;
        if furthest.as_ref().is_none_or(|(most, _)| count > *most) {
            furthest = Some((count, replica));
        }
    }
    match furthest {
        None => Ok(Recovered { machine: initial, count: 0 }),
        Some((_, replica)) => read(&replica, group, initial),
    }
}

/// The count of commands that a replica's files show.
fn count_of(replica: &Path, group: u64) -> Result<Index, OpenError> {
    let (wal, mut snapshots) = open(replica, group, Fsync::Never)?;
    let newest = snapshots.newest()?.map_or(0, |newest| newest.reader.manifest().index);
    Ok(if wal.first() <= newest { wal.next().max(newest) } else { newest })
}

fn read<S: StateMachine>(replica: &Path, group: u64, initial: S) -> Result<Recovered<S>, OpenError> {
    let (mut wal, mut snapshots) = open(replica, group, Fsync::Never)?;
    let (mut machine, mut count) = match snapshots.newest()? {
        None => (initial, 0),
        Some(mut newest) => {
            let manifest = *newest.reader.manifest();
            let machine = initial.restore_anew(&mut newest.reader).map_err(OpenError::State)?;
            if machine.digest() != manifest.digest {
                return Err(invalid(format!(
                    "the snapshot at {} in {} is of another state",
                    manifest.index,
                    replica.display()
                )));
            }
            (machine, manifest.index)
        }
    };
    if wal.first() <= count {
        for record in wal.replay(count)? {
            let record = record?;
            if let Some((&OPERATION, operation)) = record.bytes.split_first() {
                let what = || invalid(format!("command {} in {} is no operation", record.index, replica.display()));
                machine.apply(record.index, &S::Op::decode(operation).ok_or_else(what)?);
            }
            count = record.index + 1;
        }
    }
    Ok(Recovered { machine, count })
}

fn open(replica: &Path, group: u64, fsync: Fsync) -> Result<(Wal, SnapshotStore), OpenError> {
    fs::create_dir_all(replica).map_err(OpenError::Files)?;
    let snapshots = SnapshotStore::open(&replica.join("snapshots"), group)?;
    let wal = Wal::open(&replica.join("log"), WalOptions { fsync, ..WalOptions::new(group) }, 0)?;
    Ok((wal, snapshots))
}

fn replica_folder(folder: &Path, slot: u16) -> PathBuf {
    folder.join(format!("replica-{slot}"))
}

fn replica_folders(folder: &Path) -> Result<Vec<PathBuf>, OpenError> {
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

fn invalid(what: String) -> OpenError {
    OpenError::Files(io::Error::new(io::ErrorKind::InvalidData, what))
}
