//! A table whose gets write nothing: they read a bucket between two looks at its number, and retry if a writer changed it.
//!
//! Writers of a bucket exclude each other by a lock, and make its number odd while they write, as in corecast's `Seq`, which
//! copies its value whole; here only the 64 bytes of the key are copied. A bucket has a place for every key that may come to it:
//! a chain would need nodes that outlive its readers.
//!
//! Source: the orderings are those of H. Boehm, Can Seqlocks Get Along with Programming Language Memory Models?, 2012.

use std::array;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering, fence};
use corecast::base::wait::Spinner;
use corecast::lock::{Mutex, Tas};

use super::guarded::bucket_of;
use super::host::{Client, Host, Setting, Words, Work, seats};
use super::section::Section;
use corecast_race::failure::Failure;

/// Keys and what belongs to them, the first `used` of which are there. Written by the writer whose turn it is, read by all.
struct Bucket {
    /// Odd while somebody writes.
    number: AtomicU64,
    used: AtomicU64,
    keys: Box<[AtomicU64]>,
    words: Box<[[AtomicU64; 8]]>,
    /// Held by the thread that writes.
    writers: Mutex<(), Tas>,
    section: Section,
}

impl Bucket {
    fn new(room: usize, section: Section) -> Self {
        Self {
            number: AtomicU64::new(0),
            used: AtomicU64::new(0),
            keys: (0..room).map(|_| AtomicU64::new(0)).collect(),
            words: (0..room).map(|_| array::from_fn(|_| AtomicU64::new(0))).collect(),
            writers: Mutex::from(()),
            section,
        }
    }

    /// Where the key is; for a reader perhaps where it was.
    #[inline]
    fn position(&self, key: u64) -> Option<usize> {
        // ORDERING: Relaxed, readers are told by the number whether it fits, and writers have their turn
        let used = self.used.load(Ordering::Relaxed) as usize;
        // ORDERING: Relaxed, readers are told by the number whether it fits, and writers have their turn
        self.keys.iter().take(used).position(|other| other.load(Ordering::Relaxed) == key)
    }

    /// The words at a place; for a reader perhaps a part of each of two writes.
    #[inline]
    fn copy(&self, at: usize) -> Words {
        // ORDERING: Relaxed, as in position
        array::from_fn(|word| self.words[at][word].load(Ordering::Relaxed))
    }

    fn set(&self, at: usize, key: u64, words: &Words) {
        // ORDERING: Relaxed, the number's fence orders it
        self.keys[at].store(key, Ordering::Relaxed);
        for (into, &word) in self.words[at].iter().zip(words) {
            // ORDERING: Relaxed, the number's fence orders it
            into.store(word, Ordering::Relaxed);
        }
    }

    /// The words of the key, `None` if it is not there; an error if a thread wrote meanwhile.
    #[inline]
    fn try_get(&self, key: u64) -> Result<Option<Words>, ()> {
        // ORDERING: Acquire, pairs with the Release in writing: what is read is at least as late as the number [bucket-even]
        let before = self.number.load(Ordering::Acquire);
        if before % 2 != 0 {
            return Err(());
        }
        let found = self.position(key).map(|at| self.copy(at));
        // ORDERING: Acquire, pairs with the Release fence in writing: the number is as late as what was read [bucket-odd]
        fence(Ordering::Acquire);
        // ORDERING: Relaxed, the fence orders it after what was read
        if self.number.load(Ordering::Relaxed) == before { Ok(found) } else { Err(()) }
    }

    /// For the writer whose turn it is.
    fn writing(&self, write: impl FnOnce()) {
        // ORDERING: Relaxed, the last writer's came with the turn
        let number = self.number.load(Ordering::Relaxed);
        // ORDERING: Relaxed, the fence orders it before what is written
        self.number.store(number + 1, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire fence in try_get: a reader of the new words sees it odd [bucket-odd]
        fence(Ordering::Release);
        write();
        // ORDERING: Release, pairs with the Acquire in try_get [bucket-even]
        self.number.store(number + 2, Ordering::Release);
    }

    fn put(&self, key: u64, words: &Words) -> bool {
        self.writers.with(|()| {
            let is_new = self.position(key).is_none();
            if is_new {
                // ORDERING: Relaxed, as in position
                let used = self.used.load(Ordering::Relaxed);
                self.writing(|| {
                    self.set(used as usize, key, words);
                    // ORDERING: Relaxed, the number's fence orders it
                    self.used.store(used + 1, Ordering::Relaxed);
                });
            }
            self.section.ending(is_new)
        })
    }

    /// The last key takes its place.
    fn remove(&self, key: u64) -> bool {
        self.writers.with(|()| {
            let found = self.position(key);
            if let Some(at) = found {
                // ORDERING: Relaxed, as in position
                let last = self.used.load(Ordering::Relaxed) - 1;
                // ORDERING: Relaxed, as in position
                let key = self.keys[last as usize].load(Ordering::Relaxed);
                let words = self.copy(last as usize);
                self.writing(|| {
                    self.set(at, key, &words);
                    // ORDERING: Relaxed, the number's fence orders it
                    self.used.store(last, Ordering::Relaxed);
                });
            }
            self.section.ending(found.is_some())
        })
    }
}

/// See the [module](self).
pub(super) struct Sequenced(Box<[CacheLine<Bucket>]>);

impl Host for Sequenced {
    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let room = setting.keys() as usize / setting.buckets + 1;
        let table = Self((0..setting.buckets).map(|_| CacheLine::new(Bucket::new(room, setting.section))).collect());
        work(seats(setting, || Reader(&table)))
    }
}

/// A thread's way to it.
pub(super) struct Reader<'a>(&'a Sequenced);

impl Reader<'_> {
    #[inline]
    fn bucket(&self, key: u64) -> &Bucket {
        let buckets = &self.0.0;
        &buckets[bucket_of(key, buckets.len())]
    }
}

impl Client for Reader<'_> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        let bucket = self.bucket(key);
        let mut spinner = Spinner::new();
        loop {
            if let Ok(found) = bucket.try_get(key) {
                return found.map(|words| *into = words).is_some();
            }
            spinner.pause();
        }
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        self.bucket(key).put(key, &words.copied().unwrap_or_default())
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.bucket(key).remove(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_does_not_keep_what_it_read_while_somebody_wrote() {
        let bucket = Bucket::new(2, Section { is_fenced: true });
        assert!(bucket.put(7, &[1; 8]));
        assert_eq!((bucket.try_get(7), bucket.try_get(8)), (Ok(Some([1; 8])), Ok(None)));
        bucket.writing(|| assert_eq!((bucket.try_get(7), bucket.try_get(8)), (Err(()), Err(()))));
        assert_eq!(bucket.try_get(7), Ok(Some([1; 8])));
    }
}
