//! corecast's sorted list, hash table and map as sets of keys.

use corecast::tm::structures::{HashTable, Search, SkipListMap, SortedList};
use corecast::tm::{Abort, Participant, Tm, Tx};

use super::host::Setting;
use super::set::{Set, Worker, initial_keys};
use super::workload::{SetWork, Work};
use corecast_race::failure::Failure;

/// A set in transactional memory. A clone is the same set.
#[derive(Clone)]
enum Keys {
    List(SortedList),
    Table(HashTable),
    Map(SkipListMap),
}

impl Keys {
    fn contains(&self, tx: &mut Tx<'_>, key: u64) -> Result<bool, Abort> {
        match self {
            Self::List(list) => list.contains(tx, key),
            Self::Table(table) => table.contains(tx, key),
            Self::Map(map) => Ok(map.get(tx, key)?.is_some()),
        }
    }

    fn rename(&self, tx: &mut Tx<'_>, from: u64, to: u64) -> Result<bool, Abort> {
        if let Self::Table(table) = self {
            return table.rename(tx, from, to);
        }
        if !self.remove(tx, from)? {
            return Ok(false);
        }
        let is_done = self.insert(tx, to)?;
        if !is_done {
            self.insert(tx, from)?;
        }
        Ok(is_done)
    }

    fn insert(&self, tx: &mut Tx<'_>, key: u64) -> Result<bool, Abort> {
        match self {
            Self::List(list) => list.insert(tx, key, 0),
            Self::Table(table) => table.insert(tx, key, 0),
            Self::Map(map) => Ok(map.insert(tx, key, 0)?.is_none()),
        }
    }

    fn remove(&self, tx: &mut Tx<'_>, key: u64) -> Result<bool, Abort> {
        let removed = match self {
            Self::List(list) => list.remove(tx, key),
            Self::Table(table) => table.remove(tx, key),
            Self::Map(map) => map.remove(tx, key),
        };
        Ok(removed?.is_some())
    }
}

/// The set of an instance, and how it is used.
pub(super) struct Sets {
    keys: Keys,
    work: SetWork,
}

impl Sets {
    /// An empty one; its first client puts in the keys of the start.
    pub(super) fn new(tm: &Tm, work: Work, search: Search) -> Result<Self, Failure> {
        let set = work.set().ok_or_else(|| Failure::Refused("this work has no set".to_owned()))?;
        let keys = match work {
            Work::Table(_) => HashTable::new(tm, set.buckets(), search).map(Keys::Table),
            Work::Map(_) => SkipListMap::new(tm).map(Keys::Map),
            _ => SortedList::new(tm, search).map(Keys::List),
        };
        Ok(Self { keys: keys.map_err(Failure::refused)?, work: set })
    }

    /// The client of this number.
    pub(super) fn worker(&self, participant: Participant, setting: &Setting<'_>, rank: usize) -> Worker<SetClient> {
        let client = SetClient { participant, keys: self.keys.clone(), work: self.work, seed: setting.seed };
        Worker::new(client, self.work, setting, rank)
    }
}

/// A participant's way to the set.
pub(super) struct SetClient {
    participant: Participant,
    keys: Keys,
    work: SetWork,
    seed: u64,
}

impl Set for SetClient {
    /// From the largest key on, so that each is put in at the front.
    fn fill(&mut self) -> Result<(), Failure> {
        let mut keys = initial_keys(self.work, self.seed);
        keys.sort_unstable_by_key(|key| std::cmp::Reverse(*key));
        keys.into_iter().try_for_each(|key| self.insert(key).map(drop))
    }

    #[inline]
    fn contains(&mut self, key: u64) -> Result<bool, Failure> {
        let keys = &self.keys;
        self.participant.run(|tx| keys.contains(tx, key)).map_err(Failure::refused)
    }

    #[inline]
    fn insert(&mut self, key: u64) -> Result<bool, Failure> {
        let keys = &self.keys;
        self.participant.run(|tx| keys.insert(tx, key)).map_err(Failure::refused)
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Result<bool, Failure> {
        let keys = &self.keys;
        self.participant.run(|tx| keys.remove(tx, key)).map_err(Failure::refused)
    }

    fn rename(&mut self, from: u64, to: u64) -> Result<bool, Failure> {
        let keys = &self.keys;
        self.participant.run(|tx| keys.rename(tx, from, to)).map_err(Failure::refused)
    }

    fn snapshot(&mut self) -> Result<u64, Failure> {
        let Keys::Table(table) = &self.keys else {
            return Err(Failure::Refused("keys are counted in tables only".to_owned()));
        };
        let counted = self.participant.run(|tx| Ok(table.entries(tx)?.len() as u64));
        counted.map_err(Failure::refused)
    }

    fn aborts(&self) -> u64 {
        self.participant.counts().aborts()
    }
}
