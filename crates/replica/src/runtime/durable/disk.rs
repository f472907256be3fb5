//! The files of a node that runs.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_lock::{RwLock, RwSpread};

use super::folder::{Durability, FilesOrigin, check_count, is_in_use, open, replica_folder};
use super::snapshot_thread::{SnapshotThread, Snapshots, StateCopy};
use crate::error::OpenError;
use crate::runtime::mailbox::{Letter, Mailbox};
use crate::runtime::member::Applied;
use crate::wal::Wal;
use crate::{Index, StateMachine};

/// A snapshot is taken when the log has grown by this many bytes since the last one, unless the user says otherwise.
pub(crate) const SNAPSHOT_EVERY: u64 = 64 << 20;
/// Replicas in this many slots, one after another, take theirs after different lengths: each a quarter later.
const LENGTHS: u64 = 8;
/// Results or not, the log is written this often.
const WRITE_EVERY: Duration = Duration::from_millis(500);

/// The time between two looks for files that another node has.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

pub(super) const OPERATION: u8 = 1;
const OF_GROUP: u8 = 0;

/// The files of one replica.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(super) wal: Wal,
    snapshots: Snapshots,
    /// The snapshot that is being written.
    snapshot: Option<SnapshotThread>,
    /// The count in the files of the group's command 0.
    base: Index,
    /// Results that wait for the log.
    held: Vec<(Arc<Mailbox>, Letter)>,
    /// Bytes in the log since the last snapshot, and how many there are when the next one is taken.
    grown: u64,
    longest: u64,
    written: Instant,
    record: Vec<u8>,
}

impl Disk {
    /// The files of the replica in `slot`, whose state now shows `applied` commands of the group: no fewer than the files that a
    /// node before it has left there.
    pub(crate) fn begin<S: StateMachine>(
        durability: &Durability,
        files: FilesOrigin,
        slot: u16,
        snapshot_every: u64,
        (machine, applied): (&S, Index),
    ) -> Result<Self, OpenError> {
        let (wal, mut snapshots) = open(&replica_folder(&durability.folder, slot), files.group, durability.fsync)?;
        check_count(&wal, &mut snapshots, files.base + applied)?;
        let mut disk = Self {
            wal,
            snapshots: Snapshots::new(snapshots),
            snapshot: None,
            base: files.base,
            held: Vec::new(),
            grown: 0,
            longest: snapshot_every + snapshot_every / 4 * (u64::from(slot) % LENGTHS),
            written: Instant::now(),
            record: Vec::new(),
        };
        disk.restart(machine, applied)?;
        Ok(disk)
    }

    /// As [`begin`](Self::begin), waiting until then for the node that had the slot before to give its files up.
    pub(crate) fn begin_by<S: StateMachine>(
        durability: &Durability,
        files: FilesOrigin,
        slot: u16,
        snapshot_every: u64,
        state: (&S, Index),
        until: Instant,
    ) -> Result<Self, OpenError> {
        loop {
            match Self::begin(durability, files, slot, snapshot_every, state) {
                Err(error) if is_in_use(&error) && Instant::now() < until => std::thread::sleep(LOOK_AGAIN),
                begun => return begun,
            }
        }
    }

    /// The replica goes on from another state.
    pub(crate) fn restart<S: StateMachine>(&mut self, machine: &S, applied: Index) -> Result<(), OpenError> {
        let at = self.base + applied;
        if let Some(thread) = self.snapshot.take() {
            thread.join()?;
        }
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

    /// Takes a snapshot when the log has grown long, so that it does not grow for ever, and drops what one replaces that has been
    /// written. Nobody changes the state while it is copied to memory; it is written to the disk later.
    pub(crate) fn shorten<S: StateMachine>(&mut self, state: &RwLock<Applied<S>, RwSpread>) -> Result<(), OpenError> {
        if let Some(written) = self.snapshot.take_if(|thread| thread.is_finished()) {
            written.join()?;
            self.trim()?;
        }
        if self.snapshot.is_some() || self.grown < self.longest {
            return Ok(());
        }
        let state = state.read();
        self.begin_snapshot(&state.machine, self.base + state.count)
    }

    /// Begins a snapshot; where there is no memory or no thread for that, takes it here and now.
    fn begin_snapshot<S: StateMachine>(&mut self, machine: &S, at: Index) -> Result<(), OpenError> {
        match StateCopy::of(machine, at).and_then(|copy| SnapshotThread::start(copy, &self.snapshots)) {
            Ok(thread) => {
                self.snapshot = Some(thread);
                self.grown = 0;
                Ok(())
            }
            Err(_) => {
                self.snapshot(machine, at)?;
                self.trim()
            }
        }
    }

    fn snapshot<S: StateMachine>(&mut self, machine: &S, at: Index) -> Result<(), OpenError> {
        let mut snapshots = self.snapshots.lock();
        let mut writer = snapshots.begin(at)?;
        machine.snapshot(&mut writer).map_err(OpenError::State)?;
        writer.finish(machine.digest())?;
        self.grown = 0;
        Ok(())
    }

    /// Drops the part of the log that no snapshot needs.
    fn trim(&mut self) -> Result<(), OpenError> {
        let oldest = self.snapshots.lock().oldest();
        Ok(oldest.map_or(Ok(()), |oldest| self.wal.trim(oldest))?)
    }
}

impl Drop for Disk {
    /// Another node may have the files from here on.
    fn drop(&mut self) {
        // The node of one that could not be written is gone, and starts from the one before and the log.
        let _ = self.snapshot.take().map(SnapshotThread::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;
    use crate::kv::{Compact, CompactSet};
    use crate::wal::Fsync;

    const FILES: FilesOrigin = FilesOrigin { group: 7, base: 100 };
    const EVERY: u64 = 1000;

    /// Applies and keeps one operation more.
    fn apply(disk: &mut Disk, state: &RwLock<Applied<Compact>, RwSpread>) {
        let mut state = state.write();
        let op = CompactSet { key: [state.count as u8; 8], value: [7; 16] };
        let mut bytes = Vec::new();
        op.encode(&mut bytes);
        let at = state.count;
        state.machine.apply(disk.base + at, &op);
        disk.keep(at, Some(&bytes)).expect("room");
        state.count += 1;
    }

    #[test]
    fn a_node_goes_on_while_its_snapshot_is_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let durability = Durability { folder: folder.path().to_owned(), fsync: Fsync::Never };
        let machine = Compact::with_capacity(255).expect("small");
        let mut disk = Disk::begin(&durability, FILES, 0, EVERY, (&machine, 0)).expect("nobody has them");
        let state = RwLock::new(Applied { machine, count: 0 });
        // A disk that takes its time.
        let snapshots = disk.snapshots.clone();
        let busy = snapshots.lock();
        while disk.snapshot.is_none() {
            apply(&mut disk, &state);
            disk.shorten(&state).expect("memory");
        }
        let (count, digest) = { (state.read().count, state.read().machine.digest()) };
        for _ in 0..100 {
            apply(&mut disk, &state);
            disk.shorten(&state).expect("one at a time");
        }
        disk.flush().expect("room");
        drop(busy);
        while disk.snapshot.as_ref().is_some_and(|thread| !thread.is_finished()) {
            std::thread::yield_now();
        }
        let newest = disk.snapshots.lock().newest().expect("whole").expect("it is written");
        assert_eq!((newest.reader.manifest().index, newest.reader.manifest().digest), (FILES.base + count, digest));
        disk.shorten(&state).expect("it was written");
    }

    #[test]
    fn replicas_take_their_snapshots_after_different_lengths() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let durability = Durability { folder: folder.path().to_owned(), fsync: Fsync::Never };
        let machine = Compact::with_capacity(1).expect("small");
        let begin = |slot| Disk::begin(&durability, FILES, slot, EVERY, (&machine, 0)).expect("nobody has them");
        assert_eq!([0, 1, 7, 8].map(|slot| begin(slot).longest), [EVERY, EVERY / 4 * 5, EVERY / 4 * 11, EVERY]);
    }
}
