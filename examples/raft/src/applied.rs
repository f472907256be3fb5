//! The state machine of Raft: it hands what is committed to the replicas of its host, many entries as one command.
#![allow(clippy::result_large_err, reason = "the error is openraft's, and its traits ask for it")]

use std::io::Cursor;
use std::sync::{Mutex, PoisonError};

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::replica::{Batch, Batched, ExecuteError, Level, Session};
use openraft::storage::RaftStateMachine;
use openraft::{
    AnyError, BasicNode, LogId, OptionalSend, RaftSnapshotBuilder, Snapshot, SnapshotMeta, StorageError,
    StorageIOError, StoredMembership,
};

use crate::Outcome;
use crate::state::{Change, Entry, Previous, Replica, State, Types};

/// The most entries of a command, whose bytes have to fit the room for operations.
const MOST_ENTRIES: usize = 256;

/// Snapshots that this voter has made.
static MADE: AtomicU64 = AtomicU64::new(0);
/// Snapshots of other hosts that have taken the place of this host's state.
static INSTALLED: AtomicU64 = AtomicU64::new(0);

/// The numbers of snapshots that this voter has made and installed.
pub(crate) fn snapshots() -> (u64, u64) {
    // ORDERING: Relaxed, as the numbers are told for themselves.
    (MADE.load(Ordering::Relaxed), INSTALLED.load(Ordering::Relaxed))
}

/// The state of a host, as its voter sees it.
pub(crate) struct Applied {
    replica: Replica,
    /// Only the voter's task of this state machine takes it; the lock tells the compiler so.
    session: Mutex<Session<Batched<State>>>,
}

impl Applied {
    /// Takes part in the state by this replica.
    pub(crate) fn new(replica: Replica) -> Outcome<Self> {
        let session = Mutex::new(replica.session()?);
        Ok(Self { replica, session })
    }

    /// Has all replicas of the host apply these changes, each once. It blocks for some microseconds, and longer where a replica
    /// stands still, while other tasks of the runtime run on other threads.
    fn execute(&mut self, changes: &[Change]) -> Result<Vec<Previous>, ExecuteError> {
        let mut batch = Batch::new();
        changes.iter().for_each(|change| batch.push(change));
        let session = self.session.get_mut().unwrap_or_else(PoisonError::into_inner);
        let outcome = tokio::task::block_in_place(|| session.execute(&batch));
        outcome.map(|(previous, _)| previous.iter().collect())
    }

    /// A copy of the state that shows all that this voter has applied.
    fn state(&self) -> Result<State, StorageError<u64>> {
        let copy = |state: &Batched<State>| state.machine().clone();
        let read = self.replica.read_with(Level::Linearizable, copy);
        read.map(|(state, _)| state).map_err(|error| StorageIOError::read_state_machine(AnyError::new(&error)).into())
    }
}

impl RaftStateMachine<Types> for Applied {
    type SnapshotBuilder = Copied;

    async fn applied_state(
        &mut self,
    ) -> Result<(Option<LogId<u64>>, StoredMembership<u64, BasicNode>), StorageError<u64>> {
        let state = self.state()?;
        Ok((state.applied, state.voters))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Previous>, StorageError<u64>>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let changes: Vec<Change> = entries.into_iter().map(Change::Entry).collect();
        let parts = changes.chunks(MOST_ENTRIES).map(|changes| self.execute(changes));
        let previous: Result<Vec<Vec<Previous>>, ExecuteError> = parts.collect();
        match previous {
            Ok(previous) => Ok(previous.into_iter().flatten().collect()),
            Err(error) => Err(StorageIOError::write_state_machine(AnyError::new(&error)).into()),
        }
    }

    async fn get_snapshot_builder(&mut self) -> Copied {
        Copied(self.state())
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Cursor<Vec<u8>>>, StorageError<u64>> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta<u64, BasicNode>,
        snapshot: Box<Cursor<Vec<u8>>>,
    ) -> Result<(), StorageError<u64>> {
        let refused = |error| StorageError::from(StorageIOError::write_snapshot(Some(meta.signature()), error));
        let state = serde_json::from_slice(snapshot.get_ref()).map_err(|error| refused(AnyError::new(&error)))?;
        self.execute(&[Change::Install(state)]).map_err(|error| refused(AnyError::new(&error)))?;
        // ORDERING: Relaxed, as above.
        INSTALLED.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<Types>>, StorageError<u64>> {
        let state = self.state()?;
        if state.applied.is_none() { Ok(None) } else { snapshot_of(&state).map(Some) }
    }
}

/// A copy of the state, to become a snapshot beside further changes.
pub(crate) struct Copied(Result<State, StorageError<u64>>);

impl RaftSnapshotBuilder<Types> for Copied {
    async fn build_snapshot(&mut self) -> Result<Snapshot<Types>, StorageError<u64>> {
        let made = snapshot_of(self.0.as_ref().map_err(Clone::clone)?)?;
        // ORDERING: Relaxed, as above.
        MADE.fetch_add(1, Ordering::Relaxed);
        Ok(made)
    }
}

fn snapshot_of(state: &State) -> Result<Snapshot<Types>, StorageError<u64>> {
    let bytes = serde_json::to_vec(state).map_err(|error| StorageIOError::read_state_machine(AnyError::new(&error)))?;
    let meta = SnapshotMeta {
        last_log_id: state.applied,
        last_membership: state.voters.clone(),
        snapshot_id: state.applied.map(|applied| applied.to_string()).unwrap_or_default(),
    };
    Ok(Snapshot { meta, snapshot: Box::new(Cursor::new(bytes)) })
}
