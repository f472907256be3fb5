//! The files of a node: each command that it applies in a write-ahead log, and snapshots that shorten it.
//!
//! ```text
//! FOLDER/group                   the number of the group, as text
//! FOLDER/replica-SLOT/log/       the write-ahead log of that replica: 1 and the operation, or 0 for commands of the group
//! FOLDER/replica-SLOT/snapshots/ its snapshots
//! FOLDER/replica-origin/         messages: the files that all nodes of a group begin with, those of a replica of the one before
//! ```
//! A result is handed out when the log of the replica that hands it out is as durable as [`Fsync`] says; one sync serves all
//! results of a turn. A command is kept once it is applied, so one at which all replicas panic is in no log. If all processes
//! died, the node that makes the group anew starts from the replica that got furthest: each log is a prefix of the same commands,
//! so it holds every result that was handed out anywhere. Sessions end with their processes, and indexes begin anew. The files
//! count on: the region of the group says from where.
//!
//! Where nodes share no memory, all that a group begins with read the same files, one after another: the process that makes the
//! group has no state machine yet, so it sets those of the furthest replica aside.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, flock};

use super::mailbox::{Letter, Mailbox};
use crate::error::OpenError;
use crate::snapshot::{SnapshotError, SnapshotStore};
use crate::wal::{Fsync, Wal, WalError, WalOptions};
use crate::{FileError, Index, StateMachine, Wire};

/// A snapshot is taken when the log has grown by this many bytes since the last one.
const SNAPSHOT_EVERY: u64 = 64 << 20;
/// Results or not, the log is written this often.
const WRITE_EVERY: Duration = Duration::from_millis(500);

/// The time between two looks for files that another node has.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The name of the file with the group's number, and of the files that were set aside.
const GROUP: &str = "group";
const ORIGIN: &str = "replica-origin";

const OPERATION: u8 = 1;
const OF_GROUP: u8 = 0;

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

/// The state that the files of a group hold.
#[derive(Debug)]
struct Recovered<S> {
    machine: S,
    /// The count of commands that it shows, as the files count.
    count: Index,
}

/// The files of one replica.
#[derive(Debug)]
pub(crate) struct Disk {
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
    /// The files of the replica in `slot`, whose state now shows `applied` commands of the group: no fewer than the files that a
    /// node before it has left there.
    pub(crate) fn begin<S: StateMachine>(
        durability: &Durability,
        group: u64,
        slot: u16,
        base: Index,
        (machine, applied): (&S, Index),
    ) -> Result<Self, OpenError> {
        let (wal, mut snapshots) = open(&replica_folder(&durability.folder, slot), group, durability.fsync)?;
        check_count(&wal, &mut snapshots, base + applied)?;
        let (held, record, written) = (Vec::new(), Vec::new(), Instant::now());
        let mut disk = Self { wal, snapshots, base, held, grown: 0, written, record };
        disk.restart(machine, applied)?;
        Ok(disk)
    }

    /// As [`begin`](Self::begin), waiting until then for the node that had the slot before to give its files up.
    pub(crate) fn begin_by<S: StateMachine>(
        durability: &Durability,
        group: u64,
        slot: u16,
        base: Index,
        state: (&S, Index),
        until: Instant,
    ) -> Result<Self, OpenError> {
        loop {
            match Self::begin(durability, group, slot, base, state) {
                Err(error) if is_in_use(&error) && Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
                begun => return begun,
            }
        }
    }

    /// The replica goes on from another state.
    pub(crate) fn restart<S: StateMachine>(&mut self, machine: &S, applied: Index) -> Result<(), OpenError> {
        let at = self.base + applied;
        // The snapshot first: the log before it stays until the state that replaces it is durable.
        self.snapshot(machine, at)?;
        self.wal.reset(at)?;
        Ok(())
    }

    /// Keeps the command at an index, which is the next one.
    pub(crate) fn keep(&mut self, index: Index, operation: Option<&[u8]>) -> io::Result<()> {
        self.record.clear();
        self.record.push(if operation.is_some() { OPERATION } else { OF_GROUP });
        self.record.extend_from_slice(operation.unwrap_or_default());
        self.grown += self.record.len() as u64;
        self.wal.append(self.base + index, &self.record).map_err(io::Error::other)
    }

    /// Puts a result into its mailbox: once the log is as durable as it should be, if there is one.
    pub(crate) fn hand_out(disk: Option<&mut Self>, mailbox: &Arc<Mailbox>, letter: Letter) {
        match disk {
            None => mailbox.put(letter),
            Some(disk) => disk.held.push((Arc::clone(mailbox), letter)),
        }
    }

    /// Syncs the log if results wait for it, and hands them out.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
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

    /// True if it is time for a snapshot, by [`shorten`](Self::shorten).
    pub(crate) fn wants_snapshot(&self) -> bool {
        self.grown >= SNAPSHOT_EVERY
    }

    /// Takes a snapshot of the state that shows `applied` commands of the group, and drops what it replaces.
    pub(crate) fn shorten<S: StateMachine>(&mut self, machine: &S, applied: Index) -> Result<(), OpenError> {
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

/// The state that the files of a group hold, for the node that makes it anew; `initial` if there are none.
pub(crate) fn start_from_files<S: StateMachine>(
    durability: &Durability,
    initial: S,
) -> Result<(FilesOrigin, S), OpenError> {
    let group = group_number(&durability.folder, new_number())?;
    let found = match furthest(&durability.folder, group)? {
        None => Recovered { machine: initial, count: 0 },
        Some((_, replica)) => read(&replica, group, initial)?,
    };
    Ok((FilesOrigin { group, base: found.count }, found.machine))
}

/// Sets the files aside with which all nodes of a group begin that is made anew, and says which.
pub(crate) fn set_origin_aside(durability: &Durability) -> Result<FilesOrigin, OpenError> {
    let folder = &durability.folder;
    let group = group_number(folder, new_number())?;
    let Some((base, replica)) = furthest(folder, group)?.filter(|&(base, _)| base > 0) else {
        return Ok(FilesOrigin { group, base: 0 });
    };
    let (origin, replaced) = (folder.join(ORIGIN), folder.join("replaced"));
    if replaced.exists() {
        fs::remove_dir_all(&replaced).map_err(OpenError::Files)?;
    }
    if replica != origin {
        // Where this ends early, the replica's files are still there, and further than those.
        if origin.exists() {
            fs::rename(&origin, &replaced).map_err(OpenError::Files)?;
        }
        fs::rename(&replica, &origin).map_err(OpenError::Files)?;
        sync_folder(folder)?;
    }
    if replaced.exists() {
        fs::remove_dir_all(&replaced).map_err(OpenError::Files)?;
    }
    Ok(FilesOrigin { group, base })
}

/// The state in the files that were set aside, for each node that the group begins with; `initial` if there are none.
pub(crate) fn read_origin<S: StateMachine>(
    durability: &Durability,
    files: FilesOrigin,
    initial: S,
) -> Result<S, OpenError> {
    if files.base == 0 {
        return Ok(initial);
    }
    // Others wait meanwhile: the files have one reader at a time.
    let turn = File::open(durability.folder.join(GROUP)).map_err(OpenError::Files)?;
    flock(&turn, FlockOperation::LockExclusive).map_err(|error| OpenError::Files(error.into()))?;
    let found = read(&durability.folder.join(ORIGIN), files.group, initial)?;
    if found.count == files.base {
        return Ok(found.machine);
    }
    Err(invalid(format!("the files hold {} commands where the group begins with {}", found.count, files.base)))
}

fn new_number() -> u64 {
    let mut hasher = DefaultHasher::new();
    (std::process::id(), Instant::now(), SystemTime::now()).hash(&mut hasher);
    hasher.finish() >> 1
}

/// The number of the group whose files lie in the folder; a new one, which is written there, if there are none.
fn group_number(folder: &Path, new: u64) -> Result<u64, OpenError> {
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

/// The replica that got furthest, and how far; `None` if there are no files.
fn furthest(folder: &Path, group: u64) -> Result<Option<(Index, PathBuf)>, OpenError> {
    let mut furthest: Option<(Index, PathBuf)> = None;
    for replica in replica_folders(folder)? {
        let count = count_of(&replica, group)?;
        if furthest.as_ref().is_none_or(|(most, _)| count > *most) {
            furthest = Some((count, replica));
        }
    }
    Ok(furthest)
}

/// The count of commands that a replica's files show.
fn count_of(replica: &Path, group: u64) -> Result<Index, OpenError> {
    let (wal, mut snapshots) = open(replica, group, Fsync::Never)?;
    count_in(&wal, &mut snapshots)
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

/// A result may have been handed out that only these files hold. Damaged ones hold nothing.
fn check_count(wal: &Wal, snapshots: &mut SnapshotStore, taken: Index) -> Result<(), OpenError> {
    let kept = count_in(wal, snapshots).unwrap_or(0);
    if taken < kept { Err(OpenError::Behind { kept, taken }) } else { Ok(()) }
}

fn count_in(wal: &Wal, snapshots: &mut SnapshotStore) -> Result<Index, OpenError> {
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
                let op = S::Op::decode(operation).ok_or_else(what)?;
                let applied = catch_unwind(AssertUnwindSafe(|| machine.apply(record.index, &op)));
                applied.map_err(|_| OpenError::Panicked { folder: replica.to_owned(), index: record.index })?;
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

fn sync_folder(folder: &Path) -> Result<(), OpenError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(OpenError::Files)
}

/// True if another process, or another node of this one, has the files.
fn is_in_use(error: &OpenError) -> bool {
    let (OpenError::Wal(WalError::File(FileError { source, .. }))
    | OpenError::Snapshot(SnapshotError::File(FileError { source, .. }))) = error
    else {
        return false;
    };
    source.kind() == io::ErrorKind::ResourceBusy
}

fn invalid(what: String) -> OpenError {
    OpenError::Files(io::Error::new(io::ErrorKind::InvalidData, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::{Compact, CompactSet};

    const GROUP_NUMBER: u64 = 7;

    fn store() -> Compact {
        Compact::with_capacity(10).expect("small")
    }

    /// Files of a slot that hold this many commands.
    fn write(durability: &Durability, slot: u16, count: u8) {
        let mut disk = Disk::begin(durability, GROUP_NUMBER, slot, 0, (&store(), 0)).expect("nobody has them");
        for at in 0..count {
            let mut operation = Vec::new();
            CompactSet { key: [at; 8], value: [at; 16] }.encode(&mut operation);
            disk.keep(at.into(), Some(&operation)).expect("room");
        }
        disk.wal.sync().expect("room");
    }

    #[test]
    fn files_of_the_furthest_are_set_aside_and_never_overwritten_by_an_older_state() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let durability = Durability { folder: folder.path().to_owned(), fsync: Fsync::Never };
        fs::write(folder.path().join(GROUP), GROUP_NUMBER.to_string()).expect("room");
        assert_eq!(set_origin_aside(&durability).expect("no files").base, 0);
        [(0, 3), (1, 5), (2, 4)].into_iter().for_each(|(slot, count)| write(&durability, slot, count));
        // An earlier attempt ended in the middle.
        fs::create_dir_all(folder.path().join("replaced/log")).expect("room");
        for _ in 0..2 {
            let files = set_origin_aside(&durability).expect("nobody has them");
            assert_eq!(files, FilesOrigin { group: GROUP_NUMBER, base: 5 });
            let state = read_origin(&durability, files, store()).expect("whole");
            assert_eq!((state.query(&[4; 8]), state.query(&[5; 8])), (Some([4; 16]), None));
        }
        let error = Disk::begin(&durability, GROUP_NUMBER, 2, 0, (&store(), 3)).expect_err("the slot holds four");
        assert!(matches!(error, OpenError::Behind { kept: 4, taken: 3 }), "{error}");
        Disk::begin(&durability, GROUP_NUMBER, 2, 5, (&store(), 0)).expect("five are more");
    }
}
