//! The values that a participant is about to store, as words in shared memory: by them another one completes the commit of a
//! killed one.
//!
//! The first word is {epoch: 40, count: 24}, and each entry behind it two words, a variable and its value. All of it is written
//! before the status says that the attempt persists, and read by one that has seen that status, and that the owner is dead.

use corecast_base::sync::{AtomicU64, Ordering};

const COUNT_BITS: u32 = 24;
/// The count of an attempt that writes more than the log holds.
const TOO_MANY: u64 = (1 << COUNT_BITS) - 1;

/// The log of one participant.
#[derive(Debug, Clone, Copy)]
pub struct Log<'a> {
    first: &'a AtomicU64,
    entries: &'a [AtomicU64],
}

impl<'a> Log<'a> {
    /// The log that lies in these words: one, and two for each entry.
    ///
    /// # Panics
    /// If there is no word.
    #[must_use]
    pub fn of(words: &'a [AtomicU64]) -> Self {
        let (first, entries) = words.split_first().expect("a log has a word for its count");
        Self { first, entries }
    }

    /// Writes down the `count` words that an attempt is about to store, for its owner before it persists.
    pub fn write(self, epoch: u64, count: usize, writes: impl Iterator<Item = (u32, u64)>) {
        let fits = count <= self.entries.len() / 2;
        // ORDERING: Relaxed, as all of the log: released by the change of the status to PERSISTING
        self.first.store(epoch << COUNT_BITS | if fits { count as u64 } else { TOO_MANY }, Ordering::Relaxed);
        if !fits {
            return;
        }
        for (entry, (index, value)) in self.entries.chunks_exact(2).zip(writes) {
            // ORDERING: Relaxed, released by the change of the status
            entry[0].store(index.into(), Ordering::Relaxed);
            // ORDERING: Relaxed, released by the change of the status
            entry[1].store(value, Ordering::Relaxed);
        }
    }

    /// Says that all values of an attempt are stored, for its owner before it gives its locks back: the log of that epoch is
    /// whole, and has no entry.
    pub fn clear(self, epoch: u64) {
        // ORDERING: Relaxed, it is read after the kernel has told that its writer is dead; the Release of the locks keeps it
        // ORDERING: Relaxed before whatever others store under them
        self.first.store(epoch << COUNT_BITS, Ordering::Relaxed);
    }

    /// Variables and values that an attempt was about to store, for one that has seen its status; `None` if the log is not of
    /// that epoch, or does not have all of them.
    #[must_use]
    pub fn read(self, epoch: u64) -> Option<impl Iterator<Item = (u64, u64)>> {
        // ORDERING: Relaxed, as all of the log: acquired with the status
        let first = self.first.load(Ordering::Relaxed);
        let count = (first & TOO_MANY) as usize;
        let is_whole = first >> COUNT_BITS == epoch & (u64::MAX >> COUNT_BITS);
        if !is_whole || count > self.entries.len() / 2 {
            return None;
        }
        Some(self.entries.chunks_exact(2).take(count).map(|entry| {
            // ORDERING: Relaxed, acquired with the status
            let index = entry[0].load(Ordering::Relaxed);
            // ORDERING: Relaxed, acquired with the status
            (index, entry[1].load(Ordering::Relaxed))
        }))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_as_it_was_written_or_not_at_all() {
        let words: Vec<AtomicU64> = (0..5).map(|_| AtomicU64::new(0)).collect();
        let log = Log::of(&words);
        let read = |epoch| log.read(epoch).map(|entries| entries.collect::<Vec<_>>());
        log.write(7, 2, [(3, 30), (4, 40)].into_iter());
        assert_eq!((read(7), read(8)), (Some(vec![(3, 30), (4, 40)]), None));
        log.clear(7);
        assert_eq!(read(7), Some(Vec::new()));
        log.write(8, 3, [(1, 1), (2, 2), (3, 3)].into_iter());
        assert_eq!((read(8), read(7)), (None, None));
    }
}
