//! Snapshots that are written to the disk while their node goes on.
//!
//! The state is copied to memory while it stands still. A thread copies it from there into a file and syncs that, which takes as
//! long as the disk does.

use std::io::{self, BufReader, BufWriter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use corecast_base::region::{GrowingFile, GrowingFileReader};

use crate::error::OpenError;
use crate::snapshot::SnapshotStore;
use crate::{Index, StateMachine};

/// A buffer, for states that are written a few bytes at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// The snapshots of a replica. Its node has them, or the thread that writes one.
#[derive(Debug, Clone)]
pub(super) struct Snapshots(Arc<Mutex<SnapshotStore>>);

impl Snapshots {
    pub(super) fn new(store: SnapshotStore) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }

    /// Waits until nobody else has them.
    pub(super) fn lock(&self) -> MutexGuard<'_, SnapshotStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A state in memory.
#[derive(Debug)]
pub(super) struct StateCopy {
    from: GrowingFileReader,
    len: u64,
    at: Index,
    digest: u128,
}

impl StateCopy {
    /// The state after `at` commands, as the files count.
    pub(super) fn of<S: StateMachine>(machine: &S, at: Index) -> io::Result<Self> {
        let file = GrowingFile::create().map_err(io::Error::other)?;
        let mut to = BufWriter::with_capacity(BUFFER_BYTES, file);
        machine.snapshot(&mut to)?;
        let file = to.into_inner()?;
        let from = GrowingFileReader::open_announced(file.announcement()).map_err(io::Error::other)?;
        Ok(Self { from, len: file.len(), at, digest: machine.digest() })
    }

    fn write(self, snapshots: &Snapshots) -> Result<(), OpenError> {
        let mut store = snapshots.lock();
        let mut to = store.begin(self.at)?;
        let mut from = BufReader::with_capacity(BUFFER_BYTES, self.from);
        let copied = io::copy(&mut from, &mut to).map_err(OpenError::Files)?;
        if copied != self.len {
            let what = format!("{copied} bytes of a state that has {}", self.len);
            return Err(OpenError::Files(io::Error::other(what)));
        }
        to.finish(self.digest)?;
        Ok(())
    }
}

/// The thread that writes one snapshot.
#[derive(Debug)]
pub(super) struct SnapshotThread(JoinHandle<Result<(), OpenError>>);

impl SnapshotThread {
    pub(super) fn start(copy: StateCopy, snapshots: &Snapshots) -> io::Result<Self> {
        let snapshots = snapshots.clone();
        thread::Builder::new().name("replica-files".to_owned()).spawn(move || copy.write(&snapshots)).map(Self)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits until the snapshot is written.
    pub(super) fn join(self) -> Result<(), OpenError> {
        let panicked = || OpenError::Files(io::Error::other("the thread that writes a snapshot panicked"));
        self.0.join().unwrap_or_else(|_| Err(panicked()))
    }
}
