//! [`RwTtas`]: when to take it, how it works, and its code.

use std::time::Instant;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;

#[cfg(not(loom))]
use super::raw::RawRwConst;
use super::raw::{RawRwLock, RawRwTimed, RawRwUpgrade};
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::raw::Setup;

const FREE: u32 = 0;
/// Somebody writes.
const WRITER: u32 = 1 << 31;
/// Somebody waits to write: new readers stay out.
const WRITER_WAITS: u32 = 1 << 30;
/// The other bits count readers, so that many at most.
const MOST_READERS: u32 = WRITER_WAITS - 1;

/// Readers and writers at one word of 4 bytes, writers first.
///
/// Take it where locks have to be small, and two threads seldom want one at once. Not under contention: each reader takes
/// the word's line away from all others, twice. A writer that waits holds newcomers back, so readers cannot starve it; writers
/// that follow each other closely starve readers.
///
/// A thread that reads must not read again: a writer that came in between waits for the first, and holds back the second. A
/// writer can become a reader, and the only reader a writer.
///
/// **Progress:** blocking; a waiter may be overtaken. It never sleeps: a waiter that has spun for long gives up its CPU, again
/// and again.
/// **Memory ordering:** that of [`RawRwLock`].
/// Source: the reader-writer lock of libslock, the library of T. David, R. Guerraoui, V. Trigonakis, Everything you always
/// wanted to know about synchronization but were afraid to ask, 2013: that there is one of a writer's bit and a count. That of a
/// waiting writer is as old as P. Courtois, F. Heymans, D. Parnas, Concurrent Control with Readers and Writers, 1971.
///
/// ```
/// use corecast_lock::{RwLock, RwTtas};
///
/// let ages: RwLock<Vec<u32>, RwTtas> = RwLock::from(vec![33]);
/// let first = ages.read();
/// assert_eq!((first[0], ages.with_read(|ages| ages.len())), (33, 1));
/// let Ok(mut only) = first.try_upgrade() else { panic!("nobody else reads") };
/// only.push(34);
/// let again = only.downgrade();
/// assert_eq!(again[1], 34);
/// ```
#[derive(Debug)]
pub struct RwTtas {
    /// [`WRITER`], [`WRITER_WAITS`] and the number of readers. Written by newcomers, readers and writers.
    word: AtomicU32,
}

impl RwTtas {
    /// Counts one more reader in the word if nobody writes or waits to; `Err` is the word that was found otherwise.
    ///
    /// # Panics
    /// If there are as many readers as can be counted.
    fn enter(&self, mut word: u32) -> Result<(), u32> {
        while word & (WRITER | WRITER_WAITS) == 0 {
            assert!(word < MOST_READERS, "a lock of one word has fewer than 2^30 readers");
            // ORDERING: Acquire, pairs with the Release in unlock_write and downgrade; Relaxed where it fails, as nothing was
            // taken [rw-ttas-written]
            match self.word.compare_exchange(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(found) => word = found,
            }
        }
        Err(word)
    }

    fn look(&self) -> u32 {
        // ORDERING: Relaxed, the exchanges look again
        self.word.load(Ordering::Relaxed)
    }

    /// Writes if nobody else does, and leaves the bits of `kept`. That a writer waits is left out by one that has waited: others
    /// say it again.
    fn take(&self, word: u32, kept: u32) -> bool {
        let others = word & !WRITER_WAITS;
        // ORDERING: Acquire, pairs with the Release of unlock_write and unlock_read; Relaxed where it fails, as nothing was
        // taken [rw-ttas-written] [rw-ttas-read]
        others == FREE
            && self.word.compare_exchange(word, word & kept | WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn read_slow(&self, is_over: impl Fn() -> bool) -> bool {
        let mut spinner = Spinner::new();
        while self.enter(self.look()).is_err() {
            if is_over() {
                return false;
            }
            spinner.pause();
        }
        true
    }

    #[cold]
    fn write_slow(&self, is_over: impl Fn() -> bool) -> bool {
        let mut spinner = Spinner::new();
        loop {
            let word = self.look();
            if self.take(word, 0) {
                return true;
            }
            if is_over() {
                // Others that wait say so again, and the readers that this one held back may come.
                // ORDERING: Relaxed, it publishes nothing
                self.word.fetch_and(!WRITER_WAITS, Ordering::Relaxed);
                return false;
            }
            if word & WRITER_WAITS == 0 {
                // ORDERING: Relaxed, it publishes nothing
                self.word.fetch_or(WRITER_WAITS, Ordering::Relaxed);
            }
            spinner.pause();
        }
    }
}

// SAFETY: exactly one exchange sets WRITER, where nobody reads or writes; a reader is counted where nobody writes.
unsafe impl RawRwLock for RwTtas {
    type Reader = ();

    const FACTS: Facts = Facts {
        name: "rw_ttas",
        about: "one word: a writer, that one waits, the number of readers",
        order: AcquisitionOrder::WritersFirst,
        node: NodeKind::Nothing,
        parks: false,
        source: "David, Guerraoui, Trigonakis 2013",
    };

    fn new(_setup: &Setup) -> Self {
        Self { word: AtomicU32::new(FREE) }
    }

    #[inline]
    fn read(&self) {
        if self.enter(FREE).is_err() {
            self.read_slow(|| false);
        }
    }

    #[inline]
    fn try_read(&self) -> Option<()> {
        self.enter(FREE).ok()
    }

    #[inline]
    unsafe fn unlock_read(&self, (): ()) {
        // ORDERING: Release, pairs with the Acquire in take and try_upgrade [rw-ttas-read]
        self.word.fetch_sub(1, Ordering::Release);
    }

    #[inline]
    fn write(&self) {
        if !self.take(FREE, 0) {
            self.write_slow(|| false);
        }
    }

    #[inline]
    fn try_write(&self) -> bool {
        self.take(FREE, 0) || self.take(self.look(), WRITER_WAITS)
    }

    #[inline]
    unsafe fn unlock_write(&self) {
        // ORDERING: Release, pairs with the Acquire in enter and take [rw-ttas-written]
        self.word.fetch_and(!WRITER, Ordering::Release);
    }

    #[inline]
    unsafe fn downgrade(&self) {
        // ORDERING: Release, pairs with the Acquire in enter [rw-ttas-written]
        self.word.fetch_sub(WRITER - 1, Ordering::Release);
    }
}

// SAFETY: they enter and take as read and write do.
unsafe impl RawRwTimed for RwTtas {
    fn read_until(&self, deadline: Instant) -> Option<()> {
        self.read_slow(|| Instant::now() >= deadline).then_some(())
    }

    /// Holds readers back while it waits, as `write` does.
    fn write_until(&self, deadline: Instant) -> bool {
        self.write_slow(|| Instant::now() >= deadline)
    }
}

// SAFETY: one exchange puts a writer in the place of the only reader.
unsafe impl RawRwUpgrade for RwTtas {
    unsafe fn try_upgrade(&self, (): ()) -> bool {
        let word = self.look();
        // ORDERING: Acquire, pairs with the Release in unlock_read; Relaxed where it fails, as nothing was taken [rw-ttas-read]
        word & !WRITER_WAITS == 1
            && self.word.compare_exchange(word, word - 1 + WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<RwTtas>() == 4);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "a lock of one word has fewer than 2^30 readers")]
    fn more_readers_than_can_be_counted_are_refused() {
        let lock = RwTtas { word: AtomicU32::new(MOST_READERS - 1) };
        lock.read();
        assert_eq!(lock.look(), MOST_READERS);
        lock.read();
    }

    #[test]
    fn a_writer_that_gives_up_holds_nobody_back() {
        let lock = RwTtas::new(&Setup::of_threads(2));
        lock.read();
        assert!(!lock.write_until(Instant::now()));
        assert_eq!(lock.look(), 1);
        assert!(lock.try_read().is_some() && !lock.try_write());
    }

    #[test]
    fn a_try_leaves_the_bit_of_one_that_waits() {
        let lock = RwTtas { word: AtomicU32::new(WRITER_WAITS) };
        assert!(lock.try_read().is_none());
        assert!(lock.try_write() && !lock.try_write());
        // SAFETY: a try has just taken it.
        unsafe { lock.unlock_write() };
        assert_eq!(lock.look(), WRITER_WAITS);
    }
}

#[cfg(not(loom))]
impl RawRwConst for RwTtas {
    const INIT: Self = Self { word: AtomicU32::new(FREE) };
}
