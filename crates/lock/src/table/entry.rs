//! One key of a table, while its bucket is locked.

use super::chain::Chain;
use super::tagged::{Sought, Tagged};

/// The entry of one key, present or absent. Made by [`Table::with`](super::Table::with).
#[derive(Debug)]
pub struct Entry<'a, V> {
    /// The key's own bucket.
    bucket: &'a mut Chain<Tagged<V>>,
    sought: Sought,
}

impl<'a, V: Default> Entry<'a, V> {
    pub(super) fn new(bucket: &'a mut Chain<Tagged<V>>, sought: Sought) -> Self {
        Self { bucket, sought }
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.sought.key
    }

    /// Its value; `None` if it has none.
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<&V> {
        self.bucket.get(self.sought)
    }

    /// As [`get`](Self::get), to change it.
    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut V> {
        self.bucket.get_mut(self.sought)
    }

    /// Gives it a value.
    ///
    /// # Errors
    /// The value, if it has one already, which stays.
    #[inline]
    pub fn put(&mut self, value: V) -> Result<(), V> {
        self.bucket.put(self.sought, value)
    }

    /// Takes its value out; `None` if it has none.
    #[inline]
    pub fn remove(&mut self) -> Option<V> {
        self.bucket.remove(self.sought)
    }
}
