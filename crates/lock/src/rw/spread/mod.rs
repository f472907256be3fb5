//! [`RwSpread`]: when to take it, how it works, and its code.

mod quiet;
#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::OnceLock;
use std::time::Instant;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU32, AtomicU64, Ordering, UnsafeCell, fence, fetch_add_and_fence};
use corecast_base::wait::Spinner;

#[cfg(not(loom))]
use super::raw::RawRwConst;
use super::raw::{RawRwLock, RawRwTimed, RawRwUpgrade};
use crate::auto::Auto;
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{RawLock, RawTimed, Setup};
use crate::seat;
use crate::three_states::IS_MODEL;
use quiet::Quiet;

/// Somebody writes, or waits until nobody reads. Set and cleared by the holder of the writers' lock.
const WRITER: u32 = 1 << 31;
/// Readers count themselves on lines. Set and cleared by the holder of the writers' lock.
const SPREAD: u32 = 1 << 30;
/// The other bits count readers.
const READERS: u32 = SPREAD - 1;
/// The most at a time, with room for that number again that come at once and are refused.
const MOST_READERS: u32 = READERS / 2;
/// The message for one reader too many.
const TOO_MANY: &str = "a lock has fewer than 2^29 readers";
/// One reader on a line: it reads, in the lower half, and has come, in the upper half.
const ON_LINE: u64 = 1 << 32 | 1;
/// The lines of a lock, at most.
const MOST_LINES: usize = 64;

/// The number of meeting readers that spreads the lock. In a model the first does; one that finds a writer waits at once.
const MEETINGS: u32 = if IS_MODEL { 1 } else { 32 };

/// Readers of one seat: the upper half how many have come, the lower how many read. Written by readers.
type Line = CacheLine<AtomicU64>;

/// Readers that count themselves in one word, and where they meet there, each on a line of its own.
///
/// Take it where reads are short and many, and writes rare: once it has spread, readers on different CPUs write to no common
/// line. A writer has to look at all those lines then, up to 64, and readers wait for it meanwhile. Not where writes are as
/// frequent as reads, or memory is dear: a lock takes a pair of lines, and once it has spread one more for each thread it is
/// made for.
///
/// **How it works.** Writers exclude each other by an [`Auto`]; its holder says so in a word, and waits until no reader is
/// counted. At first readers count themselves in that word. One that finds others there 32 times spreads the lock: from then on
/// readers count themselves on a line by their thread, and then look at the word once more. So reader and writer each write and
/// then look at what the other one writes, with a fence in between, and not both can miss the other. A writer that has seen
/// nobody come for a second folds the lock again; its lines stay for the next time.
///
/// A thread that reads must not read again: a writer that came in between waits for the first, and holds back the second. A
/// writer can become a reader, and the only reader a writer.
///
/// **Progress:** blocking; writers go before readers that wait, and may be overtaken by other writers. A thread that waits
/// for a writer sleeps after a while; a writer that waits for readers gives up its CPU, again and again. **Memory ordering:**
/// that of [`RawRwLock`].
/// Source: W. Hsieh, W. Weihl, Scalable Reader-Writer Locks for Parallel Systems, 1992, for a count per processor; D. Dice,
/// A. Kogan, BRAVO: Biased Locking for Reader-Writer Locks, 2019, for a lock that has one only while that pays.
///
/// ```
/// use corecast_lock::{RwLock, RwSpread};
///
/// let routes: RwLock<Vec<u32>, RwSpread> = RwLock::new(vec![7]);
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| (0..100).for_each(|_| assert_eq!(routes.read()[0], 7)));
///     }
/// });
/// routes.write().push(8);
/// assert_eq!(routes.with_read(|routes| routes.len()), 2);
/// ```
#[derive(Debug)]
#[repr(C, align(128))]
pub struct RwSpread {
    /// [`WRITER`], [`SPREAD`] and the readers that are counted here. Written by readers unless it is spread, and by writers.
    word: AtomicU32,
    /// How often a reader found another one in the word since the lock was folded. Written by readers.
    meetings: AtomicU32,
    /// How many lines there will be; 0 for as many as the usual number of threads needs.
    seats: usize,
    /// Made when it is spread for the first time.
    lines: OnceLock<Box<[Line]>>,
    /// Read and written by the holder of the writers' lock.
    quiet: UnsafeCell<Quiet>,
    /// The lock among writers.
    writers: Auto,
}

// SAFETY: only the holder of the writers' lock reaches `quiet`, which is made of numbers; the rest are atomics.
unsafe impl Sync for RwSpread {}

/// Where a reader is counted.
#[derive(Debug, Clone, Copy)]
pub struct SpreadReader(Place);

#[derive(Debug, Clone, Copy)]
enum Place {
    Word,
    Line(u8),
}

impl RwSpread {
    /// Whether readers count themselves on lines now.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        self.look() & SPREAD != 0
    }

    fn lines_to_make(&self) -> usize {
        if self.seats == 0 { lines_for(Setup::default().threads) } else { self.seats }
    }

    #[inline]
    fn look(&self) -> u32 {
        // ORDERING: Relaxed, an entering reader looks again
        self.word.load(Ordering::Relaxed)
    }

    /// Counts one more reader, unless somebody writes.
    #[inline]
    fn enter(&self) -> Option<SpreadReader> {
        loop {
            let word = self.look();
            if word & WRITER != 0 {
                return None;
            }
            let place = match self.lines.get() {
                Some(lines) if word & SPREAD != 0 => self.enter_line(lines),
                // Also where the lines are not to be seen here yet: the word always counts.
                _ => self.enter_word(),
            };
            if let Some(place) = place {
                return Some(SpreadReader(place));
            }
        }
    }

    /// # Panics
    /// If there are as many readers as can be counted.
    #[inline]
    fn enter_word(&self) -> Option<Place> {
        // ORDERING: Acquire, pairs with the Release in unlock_write and downgrade [rw-spread-written]
        let before = self.word.fetch_add(1, Ordering::Acquire);
        let readers = before & READERS;
        if before & WRITER != 0 || readers >= MOST_READERS {
            // ORDERING: Relaxed, it has read nothing
            self.word.fetch_sub(1, Ordering::Relaxed);
            assert!(readers < MOST_READERS, "{TOO_MANY}");
            return None;
        }
        if readers > 0 && before & SPREAD == 0 {
            self.meet();
        }
        Some(Place::Word)
    }

    /// # Panics
    /// If there are as many readers on this line as can be counted.
    #[inline]
    fn enter_line(&self, lines: &[Line]) -> Option<Place> {
        // There are as many as a power of two.
        let seat = seat::of_this_thread() & (lines.len() - 1);
        let before = fetch_add_and_fence(&lines[seat], ON_LINE);
        if before as u32 >= MOST_READERS {
            // ORDERING: Relaxed, it has read nothing
            lines[seat].fetch_sub(1, Ordering::Relaxed);
            panic!("{TOO_MANY}");
        }
        // ORDERING: Acquire, pairs with the Release in unlock_write and downgrade [rw-spread-written]; behind the fence of the
        // addition, which pairs with that in exclude: not both can miss the other [rw-spread]
        if self.word.load(Ordering::Acquire) & (WRITER | SPREAD) == SPREAD {
            return Some(Place::Line(seat as u8));
        }
        // ORDERING: Relaxed, it has read nothing
        lines[seat].fetch_sub(1, Ordering::Relaxed);
        None
    }

    /// A reader has found another one in the word: spreads the lock if that is so often, and nobody writes.
    #[cold]
    fn meet(&self) {
        // ORDERING: Relaxed, it publishes nothing
        let meetings = 1 + self.meetings.fetch_add(1, Ordering::Relaxed);
        // SAFETY: there is no node.
        if meetings < MEETINGS || !unsafe { self.writers.try_lock(&()) } {
            return;
        }
        self.lines.get_or_init(|| (0..self.lines_to_make()).map(|_| Line::default()).collect());
        // ORDERING: Relaxed, it publishes nothing: writers see it by their lock, and the lines are published by their cell
        self.word.fetch_or(SPREAD, Ordering::Relaxed);
        // SAFETY: locked above.
        unsafe { self.writers.unlock(&()) };
    }

    /// Ends a reader, for all threads that acquire its count.
    #[inline]
    fn leave(&self, reader: SpreadReader) {
        match reader.0 {
            Place::Word => {
                // ORDERING: Release, pairs with the Acquire in exclude [rw-spread-read]
                self.word.fetch_sub(1, Ordering::Release);
            }
            Place::Line(seat) => {
                // ORDERING: Release, pairs with the Acquire in exclude [rw-spread-read]
                self.lines()[usize::from(seat)].fetch_sub(1, Ordering::Release);
            }
        }
    }

    fn lines(&self) -> &[Line] {
        self.lines.get().map_or(&[], |lines| lines)
    }

    /// Waits behind the writers until nobody writes.
    #[cold]
    fn read_slow(&self, deadline: Option<Instant>) -> Option<SpreadReader> {
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut spinner = Spinner::new();
        while !IS_MODEL && !spinner.is_spent() {
            if is_over() {
                return None;
            }
            spinner.pause();
            if let Some(reader) = self.enter() {
                return Some(reader);
            }
        }
        if !self.lock_writers(deadline) {
            return None;
        }
        // ORDERING: Relaxed, writers' changes came with their lock, and this one goes with it
        self.word.fetch_add(1, Ordering::Relaxed);
        // SAFETY: locked above.
        unsafe { self.writers.unlock(&()) };
        Some(SpreadReader(Place::Word))
    }

    fn lock_writers(&self, deadline: Option<Instant>) -> bool {
        match deadline {
            // SAFETY: there is no node.
            Some(deadline) => unsafe { self.writers.lock_until(&(), deadline) },
            None => {
                // SAFETY: there is no node.
                unsafe { self.writers.lock(&()) };
                true
            }
        }
    }

    /// For the holder of the writers' lock: keeps readers out, and waits until those that are in have left. If that takes too
    /// long, lets them in again.
    fn exclude(&self, is_over: impl Fn() -> bool) -> bool {
        // ORDERING: Relaxed, a reader that is counted in the word sees it, or is seen; for the others there is the fence
        let word = self.word.fetch_or(WRITER, Ordering::Relaxed);
        let is_spread = word & SPREAD != 0;
        let lines = if is_spread { self.lines() } else { &[] };
        if is_spread {
            // ORDERING: SeqCst, pairs with the fence of the addition in enter_line; forbids that this writer sees no reader, and
            // that one no writer [rw-spread]
            fence(Ordering::SeqCst);
        }
        // ORDERING: Acquire, pairs with the Release in leave [rw-spread-read]
        let mut have_left = await_zero(&is_over, || self.word.load(Ordering::Acquire) & READERS);
        let mut arrivals = 0u32;
        for line in lines {
            have_left = have_left
                && await_zero(&is_over, || {
                    // ORDERING: Acquire, pairs with the Release in leave [rw-spread-read]
                    let count = line.load(Ordering::Acquire);
                    arrivals = if count as u32 == 0 { arrivals.wrapping_add((count >> 32) as u32) } else { arrivals };
                    count as u32
                });
        }
        if !have_left {
            // ORDERING: Relaxed, it has written nothing
            self.word.fetch_and(!WRITER, Ordering::Relaxed);
        } else if is_spread {
            self.fold_if_quiet(arrivals);
        }
        have_left
    }

    /// For a writer that has seen this number of readers come and all of them leave.
    fn fold_if_quiet(&self, arrivals: u32) {
        // SAFETY: the caller holds the lock among writers.
        if !self.quiet.with_mut(|quiet| unsafe { &mut *quiet }.is_over(arrivals)) {
            return;
        }
        // A reader that counts itself on a line later sees the writer's bit, or that the lock is folded, and leaves the line.
        // ORDERING: Relaxed, writers see it by their lock, and readers once they look at what a writer has published
        self.word.fetch_and(!SPREAD, Ordering::Relaxed);
        // ORDERING: Relaxed, it publishes nothing
        self.meetings.store(0, Ordering::Relaxed);
    }
}

/// Whether `count` has come to zero before it is over.
fn await_zero(is_over: &impl Fn() -> bool, mut count: impl FnMut() -> u32) -> bool {
    let mut spinner = Spinner::new();
    while count() != 0 {
        if is_over() {
            return false;
        }
        spinner.pause();
    }
    true
}

// SAFETY: the holder of the writers' lock goes in once it has seen all counts zero, after it has said so; a reader is
// counted and has looked after that whether somebody writes, or holds that lock itself.
unsafe impl RawRwLock for RwSpread {
    type Reader = SpreadReader;

    const FACTS: Facts = Facts {
        name: "rw_spread",
        about: "readers count themselves in one word, or on lines of their own",
        order: AcquisitionOrder::WritersFirst,
        node: NodeKind::Value,
        parks: true,
        source: "Hsieh, Weihl 1992; Dice, Kogan 2019",
    };

    fn new(setup: &Setup) -> Self {
        Self {
            word: AtomicU32::new(0),
            meetings: AtomicU32::new(0),
            seats: lines_for(setup.threads),
            lines: OnceLock::new(),
            quiet: UnsafeCell::new(Quiet::default()),
            writers: Auto::new(setup),
        }
    }

    #[inline]
    fn read(&self) -> SpreadReader {
        self.enter().unwrap_or_else(|| self.read_slow(None).expect("it waits without a limit"))
    }

    #[inline]
    fn try_read(&self) -> Option<SpreadReader> {
        self.enter()
    }

    #[inline]
    unsafe fn unlock_read(&self, reader: SpreadReader) {
        self.leave(reader);
    }

    fn write(&self) {
        self.lock_writers(None);
        self.exclude(|| false);
    }

    fn try_write(&self) -> bool {
        // SAFETY: there is no node.
        if self.look() & READERS != 0 || !unsafe { self.writers.try_lock(&()) } {
            return false;
        }
        let is_in = self.exclude(|| true);
        if !is_in {
            // SAFETY: locked above.
            unsafe { self.writers.unlock(&()) };
        }
        is_in
    }

    #[inline]
    unsafe fn unlock_write(&self) {
        // ORDERING: Release, pairs with the Acquire in enter_word and enter_line [rw-spread-written]
        self.word.fetch_and(!WRITER, Ordering::Release);
        // SAFETY: a writer holds this lock.
        unsafe { self.writers.unlock(&()) };
    }

    unsafe fn downgrade(&self) -> SpreadReader {
        // ORDERING: Release, pairs with the Acquire in enter_word and enter_line [rw-spread-written]
        self.word.fetch_sub(WRITER - 1, Ordering::Release);
        // SAFETY: a writer holds this lock.
        unsafe { self.writers.unlock(&()) };
        SpreadReader(Place::Word)
    }
}

// SAFETY: they enter and exclude as read and write do, or leave nothing behind.
unsafe impl RawRwTimed for RwSpread {
    fn read_until(&self, deadline: Instant) -> Option<SpreadReader> {
        self.enter().or_else(|| self.read_slow(Some(deadline)))
    }

    fn write_until(&self, deadline: Instant) -> bool {
        if !self.lock_writers(Some(deadline)) {
            return false;
        }
        let is_in = self.exclude(|| Instant::now() >= deadline);
        if !is_in {
            // SAFETY: locked above.
            unsafe { self.writers.unlock(&()) };
        }
        is_in
    }
}

// SAFETY: nobody else writes from before the reader leaves its count, as this thread holds the lock among writers.
unsafe impl RawRwUpgrade for RwSpread {
    unsafe fn try_upgrade(&self, reader: SpreadReader) -> bool {
        // SAFETY: there is no node.
        if !unsafe { self.writers.try_lock(&()) } {
            return false;
        }
        self.leave(reader);
        if self.exclude(|| true) {
            return true;
        }
        match reader.0 {
            // ORDERING: Relaxed, nobody else wrote meanwhile, and the next writer sees it by the lock among writers
            Place::Word => drop(self.word.fetch_add(1, Ordering::Relaxed)),
            // ORDERING: Relaxed, as above for the word
            Place::Line(seat) => drop(self.lines()[usize::from(seat)].fetch_add(1, Ordering::Relaxed)),
        }
        // SAFETY: locked above.
        unsafe { self.writers.unlock(&()) };
        false
    }
}

/// The lines for this number of threads.
fn lines_for(threads: usize) -> usize {
    threads.clamp(1, MOST_LINES).next_power_of_two()
}

#[cfg(not(loom))]
impl RawRwConst for RwSpread {
    const INIT: Self = Self {
        word: AtomicU32::new(0),
        meetings: AtomicU32::new(0),
        seats: 0,
        lines: OnceLock::new(),
        quiet: UnsafeCell::new(Quiet::EMPTY),
        writers: Auto::INIT,
    };
}
