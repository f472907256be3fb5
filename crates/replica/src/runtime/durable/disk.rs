//! The files of a node that runs.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folder::{Durability, check_count, is_in_use, open, replica_folder};
use crate::error::OpenError;
use crate::runtime::mailbox::{Letter, Mailbox};
use crate::snapshot::SnapshotStore;
use crate::wal::Wal;
use crate::{Index, StateMachine};

/// A snapshot is taken when the log has grown by this many bytes since the last one.
const SNAPSHOT_EVERY: u64 = 64 << 20;
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
