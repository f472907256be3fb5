//! A hash table from whole numbers to values, with a lock of any kind on each bucket.
//!
//! **When to take it:** threads share a map whose size is known about, each operation is short, and the choice of the lock
//! matters, or is to be compared. **When not:** the number of keys is not known within a factor of some ten, as the table
//! never grows and its chains do; keys are not numbers; readers are many and writers few, as readers exclude each
//! other here.
//!
//! **How it works.** The key is multiplied by a constant, and the product says its bucket: keys in a row, and multiples of a
//! number, are dealt evenly, unless they were chosen against the constant, which is no secret. A bucket is two lines of its
//! own: its lock, and a byte of each key that says which keys may be the one its holder wants. With a lock of up to 8 bytes
//! all of a bucket of 39 keys is on the first line. Keys and values lie elsewhere, and grow with their number, up to 55; a
//! bucket of more keys is a chain, and a search goes through it.
//!
//! A value lies in its place, also where there is none yet, and places are made on the stack, up to 56 at once, before they are
//! moved: values of 35 KB would need the 2 MiB that a thread has unless it asks for more. So box large values.
//!
//! [`Bucket`] is the layout of the original, a sequential structure that a thread which owns its part of a table (a server, say)
//! can use without a lock.
//!
//! It lives beside the locks because it needs nothing but them: the layers above may all use it, and none has to.
//!
//! **Progress:** that of the lock. **Memory ordering:** what happened before an operation on a bucket is visible to later
//! operations on that bucket, as with Release and Acquire.
//! Source: the hash table `ssht` of SSYNC (David, Guerraoui, Trigonakis, Everything you always wanted to know about
//! synchronization but were afraid to ask, SOSP 2013). Of its layout the chain and the order of its keys are left.
//!
//! ```
//! use corecast_lock::{Table, Ticket};
//!
//! let ages: Table<u32, Ticket> = Table::new(512);
//! std::thread::scope(|scope| {
//!     for key in 0..4 {
//!         scope.spawn({ let ages = &ages; move || ages.put(key, 30 + key as u32) });
//!     }
//! });
//! assert_eq!(ages.get(3), Some(33));
//! assert_eq!(ages.put(3, 7), Err(7), "it is there, and stays");
//! ages.with(3, |mut entry| *entry.get_mut().expect("nobody removed it") += 1);
//! assert_eq!(ages.remove(3), Some(34));
//! assert_eq!(ages.get(3), None);
//! ```

mod bucket;
mod chain;
mod entry;
mod equal_bytes;
mod tagged;

use std::fmt;

use corecast_base::CacheLine;

pub use bucket::Bucket;
pub use entry::Entry;

use crate::mutex::Mutex;
use crate::raw::{RawLock, Setup};
use chain::Chain;
use tagged::{Sought, Tagged};

/// A lock and what it guards, which begin on a line together.
type Shelf<V, L> = CacheLine<Mutex<Chain<Tagged<V>>, L>>;

/// A hash table whose buckets have a lock each. See the [module](self).
pub struct Table<V, L: RawLock> {
    buckets: Box<[Shelf<V, L>]>,
}

impl<V: Default, L: RawLock> Table<V, L> {
    /// An empty table of this number of buckets, for as many threads as usual.
    ///
    /// # Panics
    /// If there are no buckets.
    #[must_use]
    #[track_caller]
    pub fn new(buckets: usize) -> Self {
        Self::for_setup(buckets, &Setup::default())
    }

    /// An empty table of this number of buckets, whose locks are made for this.
    ///
    /// # Panics
    /// If there are no buckets.
    #[must_use]
    #[track_caller]
    pub fn for_setup(buckets: usize, setup: &Setup) -> Self {
        assert!(buckets > 0, "a table has at least one bucket");
        Self { buckets: (0..buckets).map(|_| CacheLine::new(Mutex::for_setup(Chain::default(), setup))).collect() }
    }

    /// Calls `use_it` on the key's entry while its bucket is locked.
    ///
    /// # Panics
    /// If `use_it` does; the bucket is freed then. With debug assertions, if this thread holds the bucket: to reach for the
    /// table inside `use_it` waits for ever where the other key is of the same bucket.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, key: u64, use_it: impl FnOnce(Entry<'_, V>) -> R) -> R {
        let (bucket, sought) = Sought::new(key, self.buckets.len());
        self.buckets[bucket].with(|bucket| use_it(Entry::new(bucket, sought)))
    }

    /// A copy of the key's value; `None` if it has none.
    #[inline]
    #[must_use]
    pub fn get(&self, key: u64) -> Option<V>
    where
        V: Clone,
    {
        self.with(key, |entry| entry.get().cloned())
    }

    /// Gives the key a value.
    ///
    /// # Errors
    /// The value, if the key has one already, which stays.
    #[inline]
    pub fn put(&self, key: u64, value: V) -> Result<(), V> {
        self.with(key, |mut entry| entry.put(value))
    }

    /// Takes the key's value out; `None` if it has none.
    #[inline]
    pub fn remove(&self, key: u64) -> Option<V> {
        self.with(key, |mut entry| entry.remove())
    }

    /// The number of keys, counted bucket by bucket: other threads may change what was counted already.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.with(|bucket| bucket.len())).sum()
    }

    /// True if no bucket had a key when it was looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.iter().all(|bucket| bucket.with(|bucket| bucket.is_empty()))
    }
}

impl<V, L: RawLock> fmt::Debug for Table<V, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("buckets", &self.buckets.len()).finish_non_exhaustive()
    }
}

// A lock of up to 56 bytes has two lines with the tags of its bucket, and nothing of another bucket's.
#[cfg(any(simulated, not(any(loom, debug_assertions))))]
const _: () = assert!(
    size_of::<Shelf<u64, crate::Word>>() == 2 * corecast_base::LINE_BYTES
        && size_of::<Shelf<u64, crate::Auto>>() == 2 * corecast_base::LINE_BYTES
);
