//! [`RwWord`]: when to take it, how it works, and its code.

use std::cell::Cell;
use std::time::Instant;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;

#[cfg(not(loom))]
use super::raw::RawRwConst;
use super::raw::{RawRwLock, RawRwTimed, RawRwUpgradable};
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::parking::{Awakening, Choice, enter, wake_chosen};
use crate::raw::Setup;
use crate::three_states::{IS_MODEL, time_until};

const FREE: u32 = 0;
/// A thread writes, or has a writer's turn and waits until the readers have left.
const WRITER: u32 = 1;
/// A thread reads that may become a writer.
const UPGRADABLE: u32 = 1 << 1;
/// Threads may sleep until the writer or the upgradable reader leaves.
const AWAITED: u32 = 1 << 2;
/// The thread that has a writer's turn may sleep until the readers have left.
const DRAINED: u32 = 1 << 3;
/// A plain reader, above these bits.
const READER: u32 = 1 << 4;
/// The most readers that take the lock by themselves. The word has room for as many again, to which the lock is handed over.
const MOST_READERS: u32 = 1 << 27;

/// Readers and writers at one word of 4 bytes, whose threads sleep in a table.
///
/// Take it where there may be more threads than CPUs, sections are long, or a thread that reads may come to read again. Not where
/// many threads read for a short time: each takes the word's line away from all others, twice ([`RwSpread`](crate::RwSpread)).
///
/// **How it works.** A writer first takes a writer's turn, which keeps newcomers out, and then waits until the readers have left.
/// So writers do not starve. A thread that has spun for as long as a wake-up costs sleeps in the table, in the order in which it
/// came. The writer that leaves wakes readers up to the first writer, and that one; they compete with newcomers, unless the
/// writer [hands the lock over](Self::unlock_write_or_hand_over).
///
/// A thread that reads must not read again by [`read`](RawRwLock::read): a writer that came in between waits for the first, and
/// holds back the second. [`RwAccess::ReadAgain`] overtakes such a writer, as it would wait for this thread.
///
/// **Progress:** blocking; a waiter may be overtaken. **Memory ordering:** that of [`RawRwLock`].
/// Source: H. Hinnant's upgrade mutex, as in Boost.Thread (2012), for the turn of a writer in the word of the readers; F. Pizlo,
/// Locking in WebKit, 2016, for sleep beside the lock.
///
/// ```
/// use corecast_lock::{RwLock, RwWord};
///
/// let ages: RwLock<Vec<u32>, RwWord> = RwLock::from(vec![33]);
/// ages.with_write(|ages| ages.push(34));
/// let (first, second) = (ages.read(), ages.read());
/// assert!((first[0], second[1]) == (33, 34) && ages.try_write().is_none());
/// ```
#[derive(Debug)]
pub struct RwWord {
    /// [`WRITER`] or [`UPGRADABLE`], [`AWAITED`], [`DRAINED`] and the number of readers. Written by threads that come, that
    /// leave, and that are about to sleep.
    word: AtomicU32,
}

/// The ways to hold an [`RwWord`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RwAccess {
    /// As one of many readers, which waits while a writer is there or waits for its turn to begin.
    Read,
    /// As a reader that goes before writers that wait for other readers: for a thread that reads already.
    ReadAgain,
    /// As the one reader, beside others, that may become a writer.
    ReadUpgradable,
    /// As the only thread.
    Write,
}

impl RwAccess {
    /// The part of the word that stands for it.
    const fn part(self) -> u32 {
        match self {
            Self::Read | Self::ReadAgain => READER,
            Self::ReadUpgradable => UPGRADABLE,
            Self::Write => WRITER,
        }
    }

    /// True if it has to wait where the word is like this; for a writer, until its turn begins.
    const fn is_barred(self, word: u32) -> bool {
        match self {
            Self::Read => word & WRITER != 0,
            Self::ReadAgain => word & WRITER != 0 && word < READER,
            Self::ReadUpgradable | Self::Write => word & (WRITER | UPGRADABLE) != 0,
        }
    }
}

impl RwWord {
    /// Waits until the lock can be held like this, and holds it. False if the deadline has come before.
    ///
    /// # Panics
    /// If there are as many readers as can be counted.
    #[inline]
    pub fn hold(&self, access: RwAccess, deadline: Option<Instant>) -> bool {
        let is_held = match access {
            // ORDERING: Acquire, pairs with the Release in step_down, step_down_awaited and unlock_read; Relaxed where it fails,
            // as nothing was taken [rw-word-written] [rw-word-read]
            RwAccess::Write => self.word.compare_exchange(FREE, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok(),
            _ => self.enter(access).is_ok(),
        };
        is_held || self.hold_slow(access, deadline)
    }

    /// Holds the lock like this if that is possible at once.
    ///
    /// # Panics
    /// As [`hold`](Self::hold).
    #[inline]
    pub fn try_hold(&self, access: RwAccess) -> bool {
        if access != RwAccess::Write {
            return self.enter(access).is_ok();
        }
        self.take_only(FREE)
    }

    /// True while a thread holds the lock in any way, as far as this one has seen.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.look() & !(AWAITED | DRAINED) != FREE
    }

    /// True while a thread writes or waits for readers to leave, as far as this one has seen.
    #[must_use]
    pub fn is_held_by_writer(&self) -> bool {
        self.look() & WRITER != 0
    }

    /// True if a thread may sleep until the writer or the upgradable reader leaves, as far as this one has seen.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.look() & AWAITED != 0
    }

    /// Ends the writer. Where threads may sleep and `hands_over` says so, the next of them hold the lock at once, and no newcomer
    /// overtakes.
    ///
    /// # Safety
    /// - As of [`RawRwLock::unlock_write`].
    #[inline]
    pub unsafe fn unlock_write_or_hand_over(&self, hands_over: impl FnOnce() -> bool) {
        self.step_down(WRITER, 0, hands_over);
    }

    /// As [`unlock_write_or_hand_over`](Self::unlock_write_or_hand_over), for the upgradable reader.
    ///
    /// # Safety
    /// - As of [`RawRwUpgradable::unlock_upgradable`].
    #[inline]
    pub unsafe fn unlock_upgradable_or_hand_over(&self, hands_over: impl FnOnce() -> bool) {
        self.step_down(UPGRADABLE, 0, hands_over);
    }

    /// As [`RawRwUpgradable::upgrade`]; false if the deadline has come before the other readers left: the caller is the
    /// upgradable reader then.
    ///
    /// # Safety
    /// - As of [`RawRwUpgradable::upgrade`].
    pub unsafe fn upgrade_until(&self, deadline: Option<Instant>) -> bool {
        // ORDERING: Relaxed, drain looks at the word again
        self.word.fetch_sub(UPGRADABLE - WRITER, Ordering::Relaxed);
        self.drain(UPGRADABLE, deadline)
    }

    fn look(&self) -> u32 {
        // ORDERING: Relaxed, the exchanges look again
        self.word.load(Ordering::Relaxed)
    }

    /// Puts the part of this access into the word, unless it is barred; a writer's turn begins then. `Err` is the word that was
    /// found.
    #[inline]
    fn enter(&self, access: RwAccess) -> Result<(), u32> {
        let mut word = self.look();
        while !access.is_barred(word) {
            assert!(word / READER < MOST_READERS, "a lock of one word has fewer than 2^27 readers");
            let next = word + access.part();
            // ORDERING: Acquire, pairs with the Release in step_down and step_down_awaited; Relaxed where it fails, as nothing
            // was taken [rw-word-written]
            match self.word.compare_exchange(word, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(found) => word = found,
            }
        }
        Err(word)
    }

    /// Writes if there is nobody but an upgradable reader, which is this thread, or nobody.
    fn take_only(&self, held: u32) -> bool {
        let mut word = self.look();
        while word & !(AWAITED | DRAINED) == held {
            let next = word - held + WRITER;
            // ORDERING: Acquire, pairs with the Release in step_down, step_down_awaited and unlock_read; Relaxed where it fails,
            // as nothing was taken [rw-word-written] [rw-word-read]
            match self.word.compare_exchange(word, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
        false
    }

    #[cold]
    fn hold_slow(&self, access: RwAccess, deadline: Option<Instant>) -> bool {
        self.enter_slow(access, deadline) && (access != RwAccess::Write || self.drain(0, deadline))
    }

    /// Waits until this access is not barred.
    fn enter_slow(&self, access: RwAccess, deadline: Option<Instant>) -> bool {
        let mut spinner = Spinner::new();
        // A thread that was woken looks once more before it gives up: another one may have been woken in its place otherwise.
        while let Err(word) = self.enter(access) {
            if is_over(deadline) {
                return false;
            }
            if !IS_MODEL && !spinner.is_spent() && word & AWAITED == 0 {
                spinner.back_off();
                continue;
            }
            if self.sleep_barred(access, word, deadline) {
                break;
            }
            spinner = Spinner::new();
        }
        true
    }

    /// Sleeps until a thread that leaves wakes this one; true if the access was handed over.
    fn sleep_barred(&self, access: RwAccess, word: u32, deadline: Option<Instant>) -> bool {
        let must_sleep = || {
            let word = self.look();
            word & AWAITED != 0 && access.is_barred(word)
        };
        self.mark(word, AWAITED)
            && enter(self.address(), access.part(), must_sleep)
                .is_some_and(|place| place.sleep(deadline, |_| ()) == Awakening::HandedOver)
    }

    /// Puts this mark into the word if that is still like this.
    fn mark(&self, word: u32, mark: u32) -> bool {
        // ORDERING: Relaxed, the mark publishes nothing
        word & mark != 0 || self.word.compare_exchange(word, word | mark, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// For the thread that has a writer's turn: waits until the readers have left. If the deadline comes before, it is what it
    /// was `before` again, and false is returned.
    fn drain(&self, before: u32, deadline: Option<Instant>) -> bool {
        let mut spinner = Spinner::new();
        loop {
            // ORDERING: Acquire, pairs with the Release in unlock_read [rw-word-read]
            let word = self.word.load(Ordering::Acquire);
            let is_over = word >= READER && is_over(deadline);
            if word & DRAINED != 0 && (word < READER || is_over) {
                // ORDERING: Relaxed, the mark publishes nothing
                self.word.fetch_and(!DRAINED, Ordering::Relaxed);
            }
            if word < READER {
                return true;
            }
            if is_over {
                self.step_down(WRITER, before, || false);
                return false;
            }
            if IS_MODEL || spinner.is_spent() {
                self.sleep_until_drained(word, deadline);
            } else {
                spinner.back_off();
            }
        }
    }

    fn sleep_until_drained(&self, word: u32, deadline: Option<Instant>) {
        if self.mark(word, DRAINED) {
            let place = enter(self.drain_address(), WRITER, || self.look() >= READER);
            if let Some(place) = place {
                place.sleep(deadline, |_| ());
            }
        }
    }

    /// Wakes the thread that sleeps until the readers have left. The lock may be another thread's already, or be gone.
    #[cold]
    fn wake_drained(address: usize) {
        wake_chosen(address, |_| Choice::Wake, |_, _| false);
    }

    /// Replaces `held` in the word, a writer or an upgradable reader, by what its thread keeps. Then the lock may be gone.
    #[inline]
    fn step_down(&self, held: u32, kept: u32, hands_over: impl FnOnce() -> bool) {
        let mut word = held;
        while word & AWAITED == 0 {
            let next = word - held + kept;
            // ORDERING: Release, pairs with the Acquire in enter, hold and take_only; Relaxed where it fails, as nothing was
            // freed [rw-word-written]
            match self.word.compare_exchange(word, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
        self.step_down_awaited(held, kept, hands_over());
    }

    /// As [`step_down`](Self::step_down) where threads may sleep: wakes the next of them in the same step.
    #[cold]
    fn step_down_awaited(&self, held: u32, kept: u32, hands_over: bool) {
        let granted = Cell::new(kept);
        let choose = |part: u32| {
            let (choice, next) = choose(granted.get(), part);
            granted.set(next);
            choice
        };
        wake_chosen(self.address(), choose, |woken, are_left| {
            let hands_over = hands_over && woken > 0;
            let added = if hands_over { granted.get() } else { kept };
            let mark = if are_left { AWAITED } else { 0 };
            let mut word = self.look();
            loop {
                let next = (word - held + added) & !AWAITED | mark;
                // ORDERING: Release, pairs with the Acquire in enter, hold and take_only; Relaxed where it fails, as nothing was
                // freed [rw-word-written]
                match self.word.compare_exchange(word, next, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => return hands_over,
                    Err(found) => word = found,
                }
            }
        });
    }

    /// The address by which the sleepers of this lock are found.
    fn address(&self) -> usize {
        std::ptr::from_ref(&self.word).addr()
    }

    /// The address by which the thread is found that sleeps until the readers have left: another byte of the word.
    fn drain_address(&self) -> usize {
        self.address() + 1
    }
}

/// Whether a sleeper that wants `part` is woken where `granted` is held by others already, and what is granted then: all readers
/// up to the first writer, and one that writes or may write, which wakes the rest when it leaves.
fn choose(granted: u32, part: u32) -> (Choice, u32) {
    if granted & WRITER != 0 {
        (Choice::Stop, granted)
    } else if granted & UPGRADABLE != 0 && part != READER {
        (Choice::Skip, granted)
    } else {
        (Choice::Wake, granted + part)
    }
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| time_until(deadline).is_none())
}

// SAFETY: exactly one exchange sets WRITER where neither it nor UPGRADABLE is set, and its thread waits until no reader is
// counted; readers are counted where it is not set, or where others are counted for which it waits.
unsafe impl RawRwLock for RwWord {
    type Reader = ();

    const FACTS: Facts = Facts {
        name: "rw_word",
        about: "one word, its threads sleep in a table",
        order: AcquisitionOrder::Barging,
        node: NodeKind::Nothing,
        parks: true,
        source: "Hinnant 2012; Pizlo 2016",
    };

    fn new(_setup: &Setup) -> Self {
        Self { word: AtomicU32::new(FREE) }
    }

    #[inline]
    fn read(&self) {
        self.hold(RwAccess::Read, None);
    }

    #[inline]
    fn try_read(&self) -> Option<()> {
        self.try_hold(RwAccess::Read).then_some(())
    }

    #[inline]
    unsafe fn unlock_read(&self, (): ()) {
        let address = self.drain_address();
        // ORDERING: Release, pairs with the Acquire in hold, take_only and drain [rw-word-read]
        let before = self.word.fetch_sub(READER, Ordering::Release);
        if before & DRAINED != 0 && before / READER == 1 {
            Self::wake_drained(address);
        }
    }

    #[inline]
    fn write(&self) {
        self.hold(RwAccess::Write, None);
    }

    #[inline]
    fn try_write(&self) -> bool {
        self.try_hold(RwAccess::Write)
    }

    #[inline]
    unsafe fn unlock_write(&self) {
        self.step_down(WRITER, 0, || false);
    }

    unsafe fn downgrade(&self) {
        self.step_down(WRITER, READER, || false);
    }
}

// SAFETY: they hold the lock as read and write do, or not at all.
unsafe impl RawRwTimed for RwWord {
    fn read_until(&self, deadline: Instant) -> Option<()> {
        self.hold(RwAccess::Read, Some(deadline)).then_some(())
    }

    fn write_until(&self, deadline: Instant) -> bool {
        self.hold(RwAccess::Write, Some(deadline))
    }
}

// SAFETY: UPGRADABLE keeps writers and others of its kind away; an upgrade puts WRITER in its place in one step.
unsafe impl RawRwUpgradable for RwWord {
    fn read_upgradable(&self) {
        self.hold(RwAccess::ReadUpgradable, None);
    }

    fn try_read_upgradable(&self) -> bool {
        self.try_hold(RwAccess::ReadUpgradable)
    }

    unsafe fn unlock_upgradable(&self) {
        self.step_down(UPGRADABLE, 0, || false);
    }

    unsafe fn upgrade(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.upgrade_until(None) };
    }

    unsafe fn try_upgrade(&self) -> bool {
        self.take_only(UPGRADABLE)
    }

    unsafe fn downgrade_upgradable(&self) {
        self.step_down(UPGRADABLE, READER, || false);
    }

    unsafe fn downgrade_to_upgradable(&self) {
        self.step_down(WRITER, UPGRADABLE, || false);
    }
}

#[cfg(not(loom))]
impl RawRwConst for RwWord {
    const INIT: Self = Self { word: AtomicU32::new(FREE) };
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<RwWord>() == 4);

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::parking::sleepers_at;

    fn lock() -> RwWord {
        RwWord::new(&Setup::of_threads(2))
    }

    fn now() -> Option<Instant> {
        Some(Instant::now())
    }

    fn await_word(lock: &RwWord, is_so: impl Fn(u32) -> bool) {
        let mut spinner = Spinner::new();
        while !is_so(lock.look()) {
            spinner.pause();
        }
    }

    #[test]
    fn a_reader_that_reads_again_goes_before_a_writer_that_waits() {
        let lock = lock();
        assert!(lock.try_hold(RwAccess::Read));
        thread::scope(|scope| {
            scope.spawn(|| {
                lock.write();
                // SAFETY: the writer of the line before.
                unsafe { lock.unlock_write() };
            });
            await_word(&lock, |word| word & WRITER != 0);
            assert!(!lock.try_hold(RwAccess::Read) && !lock.hold(RwAccess::Read, now()));
            assert!(lock.hold(RwAccess::ReadAgain, None) && lock.try_hold(RwAccess::ReadAgain));
            // SAFETY: three readers have come.
            (0..3).for_each(|_| unsafe { lock.unlock_read(()) });
        });
        assert_eq!(lock.look(), FREE);
        lock.write();
        assert!(!lock.try_hold(RwAccess::ReadAgain));
    }

    #[test]
    fn threads_that_give_up_leave_nothing_behind() {
        let lock = lock();
        assert!(lock.hold(RwAccess::ReadUpgradable, now()) && lock.hold(RwAccess::Read, now()));
        assert!(!lock.hold(RwAccess::Write, now()) && !lock.hold(RwAccess::ReadUpgradable, now()));
        // SAFETY: the upgradable reader of above.
        assert!(!unsafe { lock.upgrade_until(now()) } && !unsafe { lock.try_upgrade() });
        assert_eq!(lock.look(), UPGRADABLE + READER);
        // SAFETY: the other reader.
        unsafe { lock.unlock_read(()) };
        // SAFETY: the upgradable reader of above.
        assert!(unsafe { lock.upgrade_until(now()) } && lock.is_held_by_writer());
        // SAFETY: the writer that it became.
        unsafe { lock.unlock_write() };
        assert!(!lock.is_held() && !lock.is_held_by_writer() && lock.try_hold(RwAccess::Write));
    }

    #[test]
    fn the_next_in_the_queue_hold_the_lock_that_is_handed_over() {
        let lock = lock();
        lock.write();
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            for (at, access) in [RwAccess::Read, RwAccess::Write, RwAccess::Read].into_iter().enumerate() {
                let (lock, tell) = (&lock, tell.clone());
                scope.spawn(move || {
                    lock.hold(access, None);
                    tell.send(access).expect("it is awaited");
                });
                // Each is in the queue before the next comes.
                while sleepers_at(lock.address()) <= at {
                    thread::yield_now();
                }
            }
            // SAFETY: the writer of above.
            unsafe { lock.unlock_write_or_hand_over(|| true) };
            assert_eq!(lock.look() & !DRAINED, READER + WRITER + AWAITED);
            assert!(!lock.try_hold(RwAccess::Read) && !lock.try_hold(RwAccess::Write));
            assert_eq!(told.recv(), Ok(RwAccess::Read));
            // SAFETY: the reader that was told of.
            unsafe { lock.unlock_read(()) };
            assert_eq!(told.recv(), Ok(RwAccess::Write));
            // SAFETY: the writer that was told of.
            unsafe { lock.unlock_write_or_hand_over(|| true) };
            assert_eq!(told.recv(), Ok(RwAccess::Read));
        });
        assert_eq!(lock.look(), READER);
    }
}
