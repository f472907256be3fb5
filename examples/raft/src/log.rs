//! The log and the vote of a voter, in memory.
//!
//! Both die with the process, so a voter that was killed must not come back under its number: it could vote twice in one term. A
//! service that restarts its voters keeps both in files, and flushes these before it answers.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openraft::storage::{LogFlushed, RaftLogStorage};
use openraft::{LogId, LogState, OptionalSend, RaftLogReader, StorageError, Vote};

use crate::state::{Entry, Types};

/// The log, which the voter's tasks share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    vote: Option<Vote<u64>>,
    entries: BTreeMap<u64, Entry>,
    /// The last entry that a snapshot has made unnecessary.
    purged: Option<LogId<u64>>,
}

impl Log {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<Entry>, StorageError<u64>> {
        Ok(self.kept().entries.range(range).map(|(_, entry)| entry.clone()).collect())
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<Types>, StorageError<u64>> {
        let kept = self.kept();
        let last = kept.entries.last_key_value().map(|(_, entry)| entry.log_id);
        Ok(LogState { last_purged_log_id: kept.purged, last_log_id: last.or(kept.purged) })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote<u64>) -> Result<(), StorageError<u64>> {
        self.kept().vote = Some(*vote);
        Ok(())
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<u64>>, StorageError<u64>> {
        Ok(self.kept().vote)
    }

    async fn append<I>(&mut self, entries: I, callback: LogFlushed<Types>) -> Result<(), StorageError<u64>>
    where
        I: IntoIterator<Item = Entry> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        self.kept().entries.extend(entries.into_iter().map(|entry| (entry.log_id.index, entry)));
        callback.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, from: LogId<u64>) -> Result<(), StorageError<u64>> {
        self.kept().entries.split_off(&from.index);
        Ok(())
    }

    async fn purge(&mut self, to: LogId<u64>) -> Result<(), StorageError<u64>> {
        let mut kept = self.kept();
        kept.entries = kept.entries.split_off(&(to.index + 1));
        kept.purged = Some(to);
        Ok(())
    }
}
