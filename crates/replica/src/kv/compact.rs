//! [`Compact`]: when to take it, how it works, and its code.

use std::io;

use corecast_base::sync::Arc;

use super::compact_snapshot;
use super::fingerprint;
use super::table::{NoMemory, Table, Taken};
use crate::{Index, StateMachine, Wire};

/// The largest number of entries: 2^26.
pub const MAX_CAPACITY: usize = 1 << 26;

/// The number of entries that [`Compact::default`] has room for.
pub const DEFAULT_CAPACITY: usize = 1 << 16;

/// Keys of 8 bytes with values of 16, in a table of fixed capacity: get and set.
///
/// Take it for small facts that are read far more often than written, by many threads: any thread of the process reads
/// through a [`CompactReader`] beside the thread that applies, without locks, and writes nothing doing so. Keys are not removed,
/// and a new key that has no room is refused. [`Store`](super::Store) has keys and values of any length, and more operations.
///
/// **How it works.** The table is an array of lines of 64 bytes with two entries each; the lines of keys with equal hashes form a
/// chain. A line is a sequence lock: one thread writes it, readers copy the value and copy it again if the line changed
/// meanwhile. A key that exists is found in its first line in most cases, so a get is one line read. All lines are set aside at
/// creation: 96 to 160 bytes for an entry.
///
/// **Progress:** reads are lock-free but for a key that is being written at this moment; their thread yields if that takes long.
/// Writes never wait. **Memory ordering:** what happened before a set is visible to a thread that has read its value.
/// Source: S. Kaestle et al., Machine-Aware Atomic Broadcast Trees for Multicores, 2016, for keys and values of this size.
///
/// ```
/// use corecast_replica::StateMachine;
/// use corecast_replica::kv::{Compact, CompactOut, CompactSet};
///
/// let mut table = Compact::with_capacity(1000)?;
/// let reader = table.reader();
/// let set = CompactSet { key: *b"celsius\0", value: *b"21.5 at 14:30:00" };
/// assert_eq!(table.apply(0, &set), CompactOut::Done);
/// std::thread::spawn(move || assert_eq!(reader.get(set.key), Some(set.value))).join().expect("read");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Compact {
    table: Arc<Table>,
    taken: Taken,
    capacity: usize,
    /// The sum of the fingerprints of all entries.
    digest: u128,
}

/// Gives a key a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactSet {
    /// The key.
    pub key: [u8; 8],
    /// Its new value.
    pub value: [u8; 16],
}

/// The result of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CompactOut {
    /// It is done.
    Done = 0,
    /// The key is new and there is no room for it; nothing has changed.
    Full = 1,
}

/// Reads a [`Compact`] in any thread, beside the one that changes it. It belongs to this state: of one that was restored from a
/// snapshot, ask for another reader.
#[derive(Debug, Clone)]
pub struct CompactReader(Arc<Table>);

impl CompactReader {
    /// The value of a key.
    #[must_use]
    #[inline]
    pub fn get(&self, key: [u8; 8]) -> Option<[u8; 16]> {
        get(&self.0, key)
    }
}

#[inline]
fn get(table: &Table, key: [u8; 8]) -> Option<[u8; 16]> {
    table.get(u64::from_le_bytes(key)).map(value_of)
}

#[inline]
fn value_of([low, high]: [u64; 2]) -> [u8; 16] {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

impl Compact {
    /// An empty table with room for this many entries.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if that is 0 or more than [`MAX_CAPACITY`]; [`io::ErrorKind::OutOfMemory`].
    pub fn with_capacity(capacity: usize) -> io::Result<Self> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            let words = format!("a compact store has room for 1 to {MAX_CAPACITY} entries, not {capacity}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        let no_memory = |NoMemory| io::Error::new(io::ErrorKind::OutOfMemory, "no memory for a compact store");
        let table = Arc::new(Table::with_capacity(capacity).map_err(no_memory)?);
        Ok(Self { table, taken: Taken::default(), capacity, digest: 0 })
    }

    /// A reader of this table for any thread.
    #[must_use]
    pub fn reader(&self) -> CompactReader {
        CompactReader(Arc::clone(&self.table))
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.taken.entries
    }

    /// True if there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys that there is room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Sets a value. Whether a key is new has to be known first only once the table is full.
    fn set(&mut self, set: &CompactSet) -> CompactOut {
        let key = u64::from_le_bytes(set.key);
        if self.len() == self.capacity && self.table.get(key).is_none() {
            return CompactOut::Full;
        }
        let (low, high) = set.value.split_at(8);
        let word = |half: &[u8]| u64::from_le_bytes(half.try_into().expect("16 bytes are two words"));
        let old = self.table.set(key, [word(low), word(high)], &mut self.taken);
        let old = old.map_or(0, |words| fingerprint::of_entry(&set.key, &value_of(words)));
        let new = fingerprint::of_entry(&set.key, &set.value);
        self.digest = self.digest.wrapping_add(new).wrapping_sub(old);
        CompactOut::Done
    }
}

impl Default for Compact {
    /// With room for [`DEFAULT_CAPACITY`] entries.
    ///
    /// # Panics
    /// Without memory for them, about 6 MiB.
    fn default() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY).expect("memory for the default capacity")
    }
}

impl StateMachine for Compact {
    type Op = CompactSet;
    type Out = CompactOut;
    type Query = [u8; 8];
    type Answer = Option<[u8; 16]>;

    fn apply(&mut self, _at: Index, op: &CompactSet) -> CompactOut {
        self.set(op)
    }

    #[inline]
    fn query(&self, key: &[u8; 8]) -> Option<[u8; 16]> {
        get(&self.table, *key)
    }

    fn digest(&self) -> u128 {
        self.digest
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let entries = self.table.entries().map(|(key, words)| (key.to_le_bytes(), value_of(words)));
        compact_snapshot::write((self.capacity, self.len()), entries, self.digest, to)
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let (capacity, entries) = compact_snapshot::read_head(from)?;
        let mut restored = Self::with_capacity(capacity)?;
        for _ in 0..entries {
            let (key, value) = compact_snapshot::read_entry(from)?;
            restored.set(&CompactSet { key, value });
        }
        // A key that comes twice leaves the count behind.
        let is_whole = restored.len() == entries && compact_snapshot::read_digest(from)? == restored.digest;
        if is_whole { Ok(restored) } else { Err(compact_snapshot::damaged("its digest is that of another state")) }
    }
}

impl Wire for CompactSet {
    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.key);
        to.extend_from_slice(&self.value);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (key, value) = bytes.split_at_checked(8)?;
        Some(Self { key: key.try_into().ok()?, value: value.try_into().ok()? })
    }
}

impl Wire for CompactOut {
    fn encode(&self, to: &mut Vec<u8>) {
        to.push(*self as u8);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0] => Some(Self::Done),
            [1] => Some(Self::Full),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
