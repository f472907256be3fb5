//! A hash table: buckets, each a sorted list.

use std::sync::Arc;

use crate::error::RunError;
use crate::participant::Participant;
use crate::structures::directory;
use crate::structures::sorted_list::{Search, SortedList};
use crate::tm::Tm;
use crate::tx::{Abort, Tx};

/// A hash table with a fixed number of buckets. A clone is the same table.
#[derive(Debug, Clone)]
pub struct HashTable {
    buckets: Arc<[SortedList]>,
    root: u32,
}

impl HashTable {
    /// An empty table with so many buckets.
    ///
    /// # Errors
    /// [`RunError::Full`].
    ///
    /// # Panics
    /// If there is no bucket.
    pub fn new(tm: &Tm, buckets: usize, search: Search) -> Result<Self, RunError> {
        assert!(buckets > 0, "a hash table has a bucket");
        let buckets = (0..buckets).map(|_| SortedList::new(tm, search)).collect::<Result<Arc<[_]>, _>>()?;
        let links: Vec<u64> = buckets.iter().map(|list| list.to_word()).collect();
        let root = directory::write(tm, &links)?;
        Ok(Self { buckets, root })
    }

    /// The table with this root, which has so many buckets; in another process than that which made it.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn open(
        tm: &Tm,
        participant: &mut Participant,
        root: u32,
        buckets: usize,
        search: Search,
    ) -> Result<Self, RunError> {
        let links = directory::read(tm, participant, root, buckets)?;
        Ok(Self { buckets: links.into_iter().map(|link| SortedList::from_word(link, search)).collect(), root })
    }

    /// By which another process [opens](Self::open) it.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.root
    }

    /// The value of a key.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn get(&self, tx: &mut Tx<'_>, key: u64) -> Result<Option<u64>, Abort> {
        self.bucket(key).get(tx, key)
    }

    /// Whether the key is there.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn contains(&self, tx: &mut Tx<'_>, key: u64) -> Result<bool, Abort> {
        self.bucket(key).contains(tx, key)
    }

    /// Adds a key; false, and the old value stays, if it was there.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn insert(&self, tx: &mut Tx<'_>, key: u64, value: u64) -> Result<bool, Abort> {
        self.bucket(key).insert(tx, key, value)
    }

    /// Takes a key out; its value, if it was there.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn remove(&self, tx: &mut Tx<'_>, key: u64) -> Result<Option<u64>, Abort> {
        self.bucket(key).remove(tx, key)
    }

    /// Gives the value of one key to another one: false, and nothing happens, if the first is not there, or the second is.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn rename(&self, tx: &mut Tx<'_>, from: u64, to: u64) -> Result<bool, Abort> {
        let Some(value) = self.remove(tx, from)? else { return Ok(false) };
        let is_done = self.insert(tx, to, value)?;
        if !is_done {
            self.insert(tx, from, value)?;
        }
        Ok(is_done)
    }

    /// All keys with their values, in no order, at one moment.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn entries(&self, tx: &mut Tx<'_>) -> Result<Vec<(u64, u64)>, Abort> {
        self.buckets.iter().try_fold(Vec::new(), |mut entries, list| {
            entries.extend(list.entries(tx)?);
            Ok(entries)
        })
    }

    fn bucket(&self, key: u64) -> &SortedList {
        &self.buckets[(key % self.buckets.len() as u64) as usize]
    }
}
