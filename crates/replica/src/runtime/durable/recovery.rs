//! The state that the files of a group hold, for a group that is made anew.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::disk::OPERATION;
use super::folder::{
    Durability, FilesOrigin, GROUP, ORIGIN, count_in, group_number, invalid, is_in_use, new_number, newest_snapshot,
    open, replica_folders, sync_folder,
};
use crate::error::OpenError;
use crate::wal::Fsync;
use crate::{Index, StateMachine, Wire};

/// A group that is made anew keeps the files of this many replicas, the furthest: one of them may turn out to be damaged.
const KEPT: usize = 2;

/// The state that the files of a group hold.
#[derive(Debug)]
struct Recovered<S> {
    machine: S,
    /// The count of commands that it shows, as the files count.
    count: Index,
}

/// The state that the files of a group hold, for the node that makes it anew; `initial` if there are none. Its replicas will have
/// other slots than before, so files that hold nothing more than those of others are removed: else those of all slots that were
/// ever used would be read at each start.
pub(crate) fn start_from_files<S: StateMachine>(
    durability: &Durability,
    initial: S,
) -> Result<(FilesOrigin, S), OpenError> {
    let group = group_number(&durability.folder, new_number())?;
    let replicas = by_progress(&durability.folder, group)?;
    let found = match replicas.first() {
        None => Recovered { machine: initial, count: 0 },
        Some((_, replica)) => read(replica, group, initial).map_err(of_replica(replica))?,
    };
    for (_, replica) in replicas.iter().skip(KEPT) {
        // Files that cannot be removed are found again by the next start.
        let _ = discard(&durability.folder, replica);
    }
    Ok((FilesOrigin { group, base: found.count }, found.machine))
}

/// Sets the files aside with which all nodes of a group begin that is made anew, and says which.
pub(crate) fn set_origin_aside(durability: &Durability) -> Result<FilesOrigin, OpenError> {
    let folder = &durability.folder;
    let group = group_number(folder, new_number())?;
    let Some((base, replica)) = by_progress(folder, group)?.into_iter().next().filter(|&(base, _)| base > 0) else {
        return Ok(FilesOrigin { group, base: 0 });
    };
    let origin = folder.join(ORIGIN);
    if replica != origin {
        // Where this ends early, the replica's files are still there, and further than those.
        discard(folder, &origin)?;
        fs::rename(&replica, &origin).map_err(OpenError::Files)?;
        sync_folder(folder)?;
    }
    Ok(FilesOrigin { group, base })
}

/// Removes the files of a replica, if there are any. A part of them is never taken for all: they lose their name first.
fn discard(folder: &Path, replica: &Path) -> Result<(), OpenError> {
    let replaced = folder.join("replaced");
    let remove = || if replaced.exists() { fs::remove_dir_all(&replaced).map_err(OpenError::Files) } else { Ok(()) };
    // Left by an attempt that ended early.
    remove()?;
    if replica.exists() {
        fs::rename(replica, &replaced).map_err(OpenError::Files)?;
        sync_folder(folder)?;
    }
    remove()
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
    let origin = durability.folder.join(ORIGIN);
    let found = read(&origin, files.group, initial).map_err(of_replica(&origin))?;
    if found.count == files.base {
        return Ok(found.machine);
    }
    Err(invalid(format!("the files hold {} commands where the group begins with {}", found.count, files.base)))
}

/// How far each replica got, the furthest first.
fn by_progress(folder: &Path, group: u64) -> Result<Vec<(Index, PathBuf)>, OpenError> {
    let mut found = Vec::new();
    for replica in replica_folders(folder)? {
        // Nobody knows how far one got whose files are damaged: to pass over it may lose results.
        let count = count_of(&replica, group).map_err(of_replica(&replica))?;
        found.push((count, replica));
    }
    found.sort_by_key(|&(count, _)| Reverse(count));
    Ok(found)
}

/// Says whose files could not be used, where others may do without them.
fn of_replica(folder: &Path) -> impl FnOnce(OpenError) -> OpenError {
    let folder = folder.to_owned();
    move |cause| match cause {
        cause @ OpenError::Panicked { .. } => cause,
        cause if is_in_use(&cause) => cause,
        cause => OpenError::Replica { folder, cause: Box::new(cause) },
    }
}

/// The count of commands that a replica's files show.
fn count_of(replica: &Path, group: u64) -> Result<Index, OpenError> {
    let (wal, mut snapshots) = open(replica, group, Fsync::Never)?;
    count_in(&wal, &mut snapshots)
}

fn read<S: StateMachine>(replica: &Path, group: u64, initial: S) -> Result<Recovered<S>, OpenError> {
    let (mut wal, mut snapshots) = open(replica, group, Fsync::Never)?;
    let (mut machine, mut count) = match newest_snapshot(&wal, &mut snapshots)? {
        None => (initial, 0),
        Some(mut newest) => {
            let manifest = *newest.manifest();
            let machine = initial.restore_anew(&mut newest).map_err(OpenError::State)?;
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
    for record in wal.replay(count)? {
        let record = record?;
        if let Some((&OPERATION, operation)) = record.bytes.split_first() {
            let panicked = || OpenError::Panicked { folder: replica.to_owned(), index: record.index };
            // Its checksum is right: another version of the program has written it.
            let op = S::Op::decode(operation).ok_or_else(panicked)?;
            let applied = catch_unwind(AssertUnwindSafe(|| machine.apply(record.index, &op)));
            applied.map_err(|_| panicked())?;
        }
        count = record.index + 1;
    }
    Ok(Recovered { machine, count })
}

#[cfg(test)]
mod tests {
    use super::super::disk::{Disk, SNAPSHOT_EVERY};
    use super::super::folder::check_kept;
    use super::*;
    use crate::kv::{Compact, CompactSet};

    const GROUP_NUMBER: u64 = 7;

    fn origin(base: Index) -> FilesOrigin {
        FilesOrigin { group: GROUP_NUMBER, base }
    }

    fn store() -> Compact {
        Compact::with_capacity(10).expect("small")
    }

    /// Files of a slot that hold this many commands.
    fn write(durability: &Durability, slot: u16, count: u8) {
        let mut disk =
            Disk::begin(durability, origin(0), slot, SNAPSHOT_EVERY, (&store(), 0)).expect("nobody has them");
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
            assert_eq!(files, origin(5));
            let state = read_origin(&durability, files, store()).expect("whole");
            assert_eq!((state.query(&[4; 8]), state.query(&[5; 8])), (Some([4; 16]), None));
        }
        let error =
            Disk::begin(&durability, origin(0), 2, SNAPSHOT_EVERY, (&store(), 3)).expect_err("the slot holds four");
        assert!(matches!(error, OpenError::Behind { kept: 4, taken: 3 }), "{error}");
        Disk::begin(&durability, origin(5), 2, SNAPSHOT_EVERY, (&store(), 0)).expect("five are more");
    }

    /// Flips a bit in the snapshot at this place.
    fn damage(replica: &Path, index: Index) {
        let file = replica.join(format!("snapshots/snapshot-{index:016x}"));
        let mut bytes = fs::read(&file).expect("a snapshot");
        *bytes.last_mut().expect("a state") ^= 1;
        fs::write(file, bytes).expect("room");
    }

    /// A node that begins takes a snapshot and begins its log anew behind it, so nothing leads there from the one before.
    #[test]
    fn an_older_snapshot_does_not_stand_for_a_damaged_one_behind_which_the_log_begins() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let durability = Durability { folder: folder.path().to_owned(), fsync: Fsync::Never };
        fs::write(folder.path().join(GROUP), GROUP_NUMBER.to_string()).expect("room");
        [(0, 3), (1, 5)].into_iter().for_each(|(slot, count)| write(&durability, slot, count));
        Disk::begin(&durability, origin(5), 1, SNAPSHOT_EVERY, (&store(), 0)).expect("nobody has them");
        let damaged = folder.path().join("replica-1");
        damage(&damaged, 5);
        let error = start_from_files(&durability, store()).expect_err("five were acknowledged");
        let words = error.to_string();
        assert!(matches!(&error, OpenError::Replica { folder, .. } if *folder == damaged), "{words}");
        assert!(words.contains("snapshot-0000000000000005: the content is damaged"), "{words}");
        assert!(matches!(set_origin_aside(&durability), Err(OpenError::Replica { .. })));
        let error = check_kept(Some(&durability), origin(0), 1, 4).expect_err("the slot held five");
        assert!(matches!(error, OpenError::Behind { kept: 5, taken: 4 }), "{error}");
        check_kept(Some(&durability), origin(0), 1, 5).expect("five are as many");
        // Without that snapshot nothing says that the beginning of the log is the beginning of the state.
        fs::remove_file(damaged.join("snapshots/snapshot-0000000000000005")).expect("it is there");
        let words = start_from_files(&durability, store()).expect_err("five were acknowledged").to_string();
        assert!(words.contains("the log begins at command 5, and the newest snapshot is at 0"), "{words}");
        fs::rename(&damaged, folder.path().join("damaged-1")).expect("it is moved away");
        assert_eq!(start_from_files(&durability, store()).expect("the other is whole").0, origin(3));
    }

    #[test]
    fn an_older_snapshot_and_the_log_behind_it_stand_for_a_damaged_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let durability = Durability { folder: folder.path().to_owned(), fsync: Fsync::Never };
        fs::write(folder.path().join(GROUP), GROUP_NUMBER.to_string()).expect("room");
        write(&durability, 0, 5);
        let replica = folder.path().join("replica-0");
        let state = read(&replica, GROUP_NUMBER, store()).expect("whole").machine;
        let (wal, mut snapshots) = open(&replica, GROUP_NUMBER, Fsync::Never).expect("nobody has them");
        let mut to = snapshots.begin(4).expect("it is newer");
        state.snapshot(&mut to).expect("room");
        to.finish(state.digest()).expect("room");
        drop((wal, snapshots));
        damage(&replica, 4);
        let found = read(&replica, GROUP_NUMBER, store()).expect("the log leads from the older one to the end");
        assert_eq!((found.count, found.machine.digest()), (5, state.digest()));
    }

    /// A store whose processes come and go uses other slots each time.
    #[test]
    fn a_group_that_is_made_anew_keeps_the_files_of_the_two_furthest() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let durability = Durability { folder: folder.path().to_owned(), fsync: Fsync::Never };
        fs::write(folder.path().join(GROUP), GROUP_NUMBER.to_string()).expect("room");
        let written = [(0, 3), (1, 5), (2, 1), (3, 5), (4, 6), (5, 2)];
        written.into_iter().for_each(|(slot, count)| write(&durability, slot, count));
        fs::create_dir_all(folder.path().join("replaced/log")).expect("room");
        for _ in 0..2 {
            let (files, state) = start_from_files(&durability, store()).expect("whole");
            assert_eq!((files, state.query(&[5; 8])), (origin(6), Some([5; 16])));
            let left = replica_folders(folder.path()).expect("a folder");
            assert_eq!(left, ["replica-1", "replica-4"].map(|name| folder.path().join(name)));
            assert!(!folder.path().join("replaced").exists());
        }
    }

    #[test]
    fn a_damaged_replica_is_named_and_the_others_do_without_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let durability = Durability { folder: folder.path().to_owned(), fsync: Fsync::Never };
        fs::write(folder.path().join(GROUP), GROUP_NUMBER.to_string()).expect("room");
        [(0, 3), (1, 5)].into_iter().for_each(|(slot, count)| write(&durability, slot, count));
        let damaged = folder.path().join("replica-1");
        for entry in fs::read_dir(damaged.join("log")).expect("a log") {
            fs::write(entry.expect("a file").path(), "no log").expect("room");
        }
        let start = || start_from_files(&durability, store()).map(|(files, _)| files);
        let error = start().expect_err("nobody knows how far it got");
        assert!(matches!(&error, OpenError::Replica { folder, .. } if *folder == damaged), "{error}");
        assert!(error.to_string().contains("replica-1"), "{error}");
        assert!(matches!(set_origin_aside(&durability), Err(OpenError::Replica { .. })));
        fs::rename(&damaged, folder.path().join("damaged-1")).expect("it is moved away");
        assert_eq!(start().expect("the other is whole"), origin(3));
    }
}
