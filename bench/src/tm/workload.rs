//! The work that transactional memories are put to, and how much of each kind a run does.

use std::fmt;
use std::str::FromStr;

/// The work of all clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TmWorkload {
    /// Transfers between accounts, sums of two accounts, and sums of all of them.
    Bank,
    /// A hash table of sorted buckets.
    Table,
    /// A sorted list.
    List,
    /// A map of sorted keys.
    Map,
    /// A queue.
    Queue,
    /// A histogram of the letters of a file, whose chunks are handed out and whose counts are added up by transactions.
    MapReduce,
    /// Transactions that write eight variables which they have not read.
    Writes,
    /// Empty round trips to servers.
    Mp,
}

impl TmWorkload {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Bank, Self::Table, Self::List, Self::Map, Self::Queue, Self::MapReduce, Self::Writes, Self::Mp];

    /// The name, which [`from_str`](Self::from_str) knows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bank => "bank",
            Self::Table => "table",
            Self::List => "list",
            Self::Map => "map",
            Self::Queue => "queue",
            Self::MapReduce => "map-reduce",
            Self::Writes => "writes",
            Self::Mp => "mp",
        }
    }
}

impl fmt::Display for TmWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No workload has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no workload '{0}'; there are bank, table, list, map, queue, map-reduce, writes, mp")]
pub struct NoWorkload(String);

impl FromStr for TmWorkload {
    type Err = NoWorkload;

    fn from_str(name: &str) -> Result<Self, NoWorkload> {
        Self::ALL.into_iter().find(|workload| workload.name() == name).ok_or_else(|| NoWorkload(name.to_owned()))
    }
}

/// One workload with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    Bank(BankWork),
    Table(SetWork),
    List(SetWork),
    Map(SetWork),
    Queue,
    MapReduce,
    Writes,
    Mp,
}

impl Work {
    pub(super) fn workload(self) -> TmWorkload {
        match self {
            Self::Bank(_) => TmWorkload::Bank,
            Self::Table(_) => TmWorkload::Table,
            Self::List(_) => TmWorkload::List,
            Self::Map(_) => TmWorkload::Map,
            Self::Queue => TmWorkload::Queue,
            Self::MapReduce => TmWorkload::MapReduce,
            Self::Writes => TmWorkload::Writes,
            Self::Mp => TmWorkload::Mp,
        }
    }

    pub(super) fn bank(self) -> Option<BankWork> {
        if let Self::Bank(work) = self { Some(work) } else { None }
    }

    pub(super) fn set(self) -> Option<SetWork> {
        if let Self::Table(work) | Self::List(work) | Self::Map(work) = self { Some(work) } else { None }
    }
}

/// How a bank is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BankWork {
    /// Transactions in 100 that sum two accounts; the others transfer.
    pub(super) checks_percent: u32,
    /// Clients that only sum all accounts.
    pub(super) readers: usize,
    /// Transactions in 100 of the other clients that sum all accounts.
    pub(super) scans_percent: u32,
}

/// How a set of keys is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetWork {
    /// Keys in it at the start, of twice as many.
    pub(super) initial: u64,
    /// Keys of a bucket on average, of a table; 0 of a list and a map.
    pub(super) load: u64,
    /// Operations in 100 that change it.
    pub(super) updates_percent: u32,
    /// Operations in 100, of a table, that move a value from one key to another.
    pub(super) moves_percent: u32,
    /// Operations in 100, of a table, that look at all keys at one moment.
    pub(super) snapshots_percent: u32,
}

impl SetWork {
    /// A set without buckets, with keys looked for, put in and taken out.
    pub(super) fn plain(initial: u64, updates_percent: u32) -> Self {
        Self { initial, load: 0, updates_percent, moves_percent: 0, snapshots_percent: 0 }
    }

    /// Keys are 0 to below this.
    pub(super) fn range(self) -> u64 {
        2 * self.initial
    }

    pub(super) fn buckets(self) -> usize {
        (self.initial / self.load.max(1)).max(1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_known_by_their_names() {
        for workload in TmWorkload::ALL {
            assert_eq!(workload.to_string().parse(), Ok(workload));
        }
        let error = "tree".parse::<TmWorkload>().expect_err("there is none");
        assert!(error.to_string().contains("'tree'") && error.to_string().contains("map-reduce"));
        let work = SetWork { load: 4, ..SetWork::plain(1024, 10) };
        assert_eq!((work.range(), work.buckets()), (2048, 256));
    }
}
