//! The lock that this thread holds as the first of its queue and its place there, and what it knows of other locks.
//!
//! An unlock has only the lock to go by, whose line newcomers write to all the time; so the place is kept with the thread, and
//! the unlock of such a lock reads no word of it. A thread holds at most one lock so: while it does, it waits for others as
//! threads do that leave the queue when they take the lock. Afterwards it remembers the lock, and goes to the queue at once when
//! it comes again: each newcomer that tries the word first, in vain, takes the line once more. It remembers several, as it may
//! take a lock of many each time: where it remembered the last one alone, 18 threads of a simulated Xeon took 12 locks 11 million
//! times a second, and 16 million times now.
//!
//! Of a lock in Spin it remembers whether somebody wants something of its holder, and for how long to stay away where it is held;
//! and it counts the locks that it holds by their word in other modes. While it holds none of these, an unlock is a store.
//!
//! The thread may be wrong where the owner of a lock has moved it: such a lock is told by [`QUEUED`](super::QUEUED) in its word,
//! and another one at its old address by being acquired while the thread seems to hold it.

use std::cell::Cell;
use std::time::Duration;

use corecast_base::LINE_BYTES;

use super::Auto;
use super::ledger::TIMED;
use super::queue::Place;
use crate::three_states::IS_MODEL;

/// The mark of a lock that is held; alone, that of one that its owner has moved since.
const HOLDS: usize = 1;
/// See [`is_to_look`].
const LOOKS: u32 = 32;
/// The locks that a thread remembers, each in the place that its address says.
const REMEMBERED: usize = 64;
/// No lock.
const NONE: usize = 0;
/// Beside the address: it holds others that have to be looked at when they are freed.
const OTHERS: usize = 2;

corecast_base::per_thread! {
    /// The address of the lock, with [`HOLDS`] while it is held so; or [`NONE`]. And [`OTHERS`], if there are such.
    static LOCK: Cell<usize> = const { Cell::new(NONE) };
}

corecast_base::per_thread! {
    /// The number of locks that it holds by their word alone, in another mode than Spin.
    static BY_WORD: Cell<u32> = const { Cell::new(0) };
}

corecast_base::per_thread! {
    /// The address of a lock that it holds in Spin, of which somebody wants something.
    static WANTED: Cell<usize> = const { Cell::new(NONE) };
}

corecast_base::per_thread! {
    /// How it is held, while it is.
    static HELD: Cell<Held> = const { Cell::new(Held { number: 0, waits: 0, waited: 0, is_due: false }) };
}

corecast_base::per_thread! {
    /// See [`expects_crowd`]: until then, in ticks.
    static CROWD_UNTIL: Cell<u64> = const { Cell::new(0) };
}

corecast_base::per_thread! {
    /// Numbers at random, of which [`draw`] takes the upper bits.
    static DRAWN: Cell<u32> = const { Cell::new(1) };
}

corecast_base::per_thread! {
    /// The addresses of locks that it holds so, or has held.
    static KNOWN: [Cell<usize>; REMEMBERED] = const { [const { Cell::new(NONE) }; REMEMBERED] };
}

corecast_base::per_thread! {
    /// Of a lock that it has taken in Spin: the low half of its address, and above it the nanoseconds to stay away.
    static AWAY: [Cell<u64>; REMEMBERED] = const { [const { Cell::new(0) }; REMEMBERED] };
}

/// How the lock is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    number: u32,
    /// The acquisitions in a row, up to this one, that have waited and are not yet in the ledger.
    pub(super) waits: u32,
    /// For how long this one has, in ticks.
    pub(super) waited: u64,
    /// Whether the ledger has to be looked at when this one ends.
    pub(super) is_due: bool,
}

impl Held {
    pub(super) fn place(self) -> Place {
        Place::of_number(self.number)
    }
}

/// Whether this thread holds the lock so.
#[inline]
pub(super) fn is_of(lock: &Auto) -> bool {
    LOCK.get() & !OTHERS == address(lock) | HOLDS
}

/// Whether all locks that it holds are in Spin, and nobody wants anything of them, so that each is freed by a store.
#[inline]
pub(super) fn is_nothing_wanted() -> bool {
    LOCK.get() == NONE
}

/// For a thread that holds the lock by its word alone, in another mode than Spin, until it calls [`end_by_word`].
pub(super) fn begin_by_word() {
    BY_WORD.set(BY_WORD.get() + 1);
    mark_others();
}

/// See [`begin_by_word`].
pub(super) fn end_by_word() {
    BY_WORD.set(BY_WORD.get().saturating_sub(1));
    mark_others();
}

/// For a thread that holds the lock in Spin, where somebody wants something. Of several such locks it remembers the last one:
/// those who want something say it again.
#[cold]
pub(super) fn begin_wanted(lock: &Auto) {
    WANTED.set(address(lock));
    mark_others();
}

/// Whether [`begin_wanted`] was called, as far as it remembers.
pub(super) fn end_wanted(lock: &Auto) -> bool {
    let is_wanted = WANTED.get() == address(lock);
    if is_wanted {
        WANTED.set(NONE);
        mark_others();
    }
    is_wanted
}

fn mark_others() {
    let others = if BY_WORD.get() > 0 || WANTED.get() != NONE { OTHERS } else { NONE };
    LOCK.set(LOCK.get() & !OTHERS | others);
}

/// Whether it does, or has done so of late, as far as it remembers.
#[inline]
pub(super) fn knows(lock: &Auto) -> bool {
    KNOWN.with(|known| known[place_of(lock)].get() == address(lock))
}

fn remember(lock: &Auto, address: usize) {
    KNOWN.with(|known| known[place_of(lock)].set(address));
}

/// Where it remembers this lock.
#[inline]
fn place_of(lock: &Auto) -> usize {
    address(lock) / LINE_BYTES % REMEMBERED
}

/// For a thread that has taken the lock in Spin, and has read for how long those that find it held stay away.
pub(super) fn note_away(lock: &Auto, ns: u32) {
    if !IS_MODEL {
        AWAY.with(|away| away[place_of(lock)].set(u64::from(ns) << u32::BITS | low_half(lock)));
    }
}

/// For a thread that finds the lock held: for how long it stays away, as far as it remembers. To look at the lock would take
/// its line once more.
pub(super) fn away(lock: &Auto) -> Duration {
    let away = AWAY.with(|away| away[place_of(lock)].get());
    let is_known = away & u64::from(u32::MAX) == low_half(lock);
    Duration::from_nanos(if is_known { away >> u32::BITS } else { 0 })
}

fn low_half(lock: &Auto) -> u64 {
    u64::from(address(lock) as u32)
}

/// For a thread that comes for the lock: whether it goes to the queue first.
pub(super) fn is_queued_at(lock: &Auto) -> bool {
    settle(lock);
    knows(lock)
}

/// For a thread that comes for the lock: one that it holds under this address is another lock, which has been moved.
#[inline]
pub(super) fn settle(lock: &Auto) {
    if is_of(lock) {
        LOCK.set(HOLDS | LOCK.get() & OTHERS);
    }
}

/// For a thread that has found the lock in another mode.
pub(super) fn forget(lock: &Auto) {
    if knows(lock) {
        remember(lock, NONE);
    }
}

/// Whether it may hold another lock so. The threads of a model have these variables in common, and one lock.
pub(super) fn is_free() -> bool {
    IS_MODEL || LOCK.get() & HOLDS == 0
}

/// For a thread that holds the lock from now on.
pub(super) fn begin(lock: &Auto, place: &Place, waits: u32, waited: u64, is_due: bool) {
    HELD.set(Held { number: place.number(), waits, waited, is_due });
    LOCK.set(address(lock) | HOLDS | LOCK.get() & OTHERS);
    remember(lock, address(lock));
}

/// For a thread that is about to hand it on or to free it. In a model nothing is remembered from one run to the next.
pub(super) fn end(lock: &Auto) -> Held {
    if IS_MODEL {
        remember(lock, NONE);
    }
    LOCK.set(LOCK.get() & OTHERS);
    HELD.get()
}

/// Whether a holder behind which nobody waits looks at the ledger, after this number of acquisitions in a row that have waited:
/// one in [`LOOKS`] does, and one in [`TIMED`] for each of these. At random, as a thread may take several locks by turns. In a
/// model none does without a wait.
pub(super) fn is_to_look(waits: u32) -> bool {
    if IS_MODEL {
        return waits > 0;
    }
    draw(LOOKS) <= waits.saturating_mul(LOOKS / TIMED)
}

/// Whether an acquisition in Spin that has waited for a short time, if at all, stands for others: one in [`TIMED`], at random. It
/// is entered, and asks for what others want.
#[inline]
pub(super) fn stands_for_others() -> bool {
    IS_MODEL || draw(TIMED) == 0
}

/// A number at random below this power of two.
#[inline]
fn draw(below: u32) -> u32 {
    let next = DRAWN.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    DRAWN.set(next);
    next >> (u32::BITS - below.ilog2())
}

/// For a thread that has been handed a lock by another one of its queue: it expects a crowd at other locks, too, until then.
pub(super) fn expect_crowd(until: u64) {
    CROWD_UNTIL.set(until);
}

/// Whether this thread has queued for a lock of late. Where threads take several locks by turns, the crowd of one that is slow is
/// soon at the next one.
pub(super) fn expects_crowd(now: u64) -> bool {
    now < CROWD_UNTIL.get()
}

/// Has the ledger of the lock looked at when it is freed.
pub(super) fn want_look() {
    HELD.set(Held { is_due: true, ..HELD.get() });
}

fn address(lock: &Auto) -> usize {
    std::ptr::from_ref(lock).addr()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use corecast_base::CacheLine;
    use corecast_base::sync::Ordering;

    use super::super::{Mode, QUEUED};
    use super::*;
    use crate::raw::{RawLock, Setup};

    /// A lock that this thread holds as the first of its queue.
    fn held_as_first() -> Auto {
        let lock = Auto::new(&Setup::default());
        lock.pin_mode(Some(Mode::Queue));
        let (place, before) = lock.queue.enter_as(true);
        assert!(place.is_head() && before == 0);
        // SAFETY: there is no node.
        assert!(unsafe { lock.try_lock(&()) }, "nobody has it");
        // ORDERING: Relaxed, only this thread has the lock
        lock.word.fetch_or(QUEUED, Ordering::Relaxed);
        begin(&lock, &place, 1, 0, false);
        lock
    }

    #[test]
    fn a_lock_is_handed_to_one_that_stays() {
        let lock = held_as_first();
        begin(&lock, &held(), 1, 0, false);
        let (next, _) = lock.queue.enter_as(true);
        assert_eq!(next.handed(), None);
        // SAFETY: held above.
        unsafe { lock.unlock(&()) };
        assert_eq!(next.handed(), Some(1));
        assert!(!is_of(&lock) && knows(&lock), "it goes to the queue first from now on");
        begin(&lock, &next, 2, 0, false);
        // SAFETY: it was handed to this thread.
        unsafe { lock.unlock(&()) };
        assert!(lock.queue.is_empty());
        // SAFETY: there is no node.
        assert!(unsafe { lock.try_lock(&()) }, "nobody was behind");
        // SAFETY: held.
        unsafe { lock.unlock(&()) };
    }

    #[test]
    fn one_that_does_not_stay_becomes_the_head_of_a_lock_that_is_free() {
        let lock = held_as_first();
        begin(&lock, &held(), 1, 0, false);
        let next = lock.queue.enter();
        // SAFETY: held above.
        unsafe { lock.unlock(&()) };
        assert!(next.is_head() && next.handed().is_none());
        // SAFETY: there is no node.
        assert!(unsafe { lock.try_lock(&()) });
        lock.queue.quit(next);
        assert!(lock.queue.is_empty());
    }

    #[test]
    fn another_lock_at_the_address_of_one_that_was_moved_is_not_taken_for_it() {
        let mut lock = held_as_first();
        begin(&lock, &held(), 1, 0, false);
        let moved = std::mem::replace(&mut lock, Auto::new(&Setup::default()));
        assert!(is_of(&lock), "by its address");
        // SAFETY: there is no node.
        unsafe { lock.lock(&()) };
        assert!(!is_of(&lock) && !is_free());
        // SAFETY: locked above.
        unsafe { lock.unlock(&()) };
        assert!(!moved.queue.is_empty());
        // SAFETY: this thread holds it, wherever it is.
        unsafe { moved.unlock(&()) };
        assert!(moved.queue.is_empty() && is_free());
        thread::scope(|scope| {
            // SAFETY: there is no node.
            scope.spawn(|| assert!(unsafe { moved.try_lock(&()) }, "it is free"));
        });
    }

    #[test]
    fn several_locks_are_remembered_until_one_is_found_in_another_mode() {
        let locks = [(); 4].map(|()| CacheLine::new(Auto::new(&Setup::default())));
        for lock in &locks {
            lock.pin_mode(Some(Mode::Queue));
            let (place, _) = lock.queue.enter_as(true);
            // SAFETY: there is no node.
            assert!(unsafe { lock.try_lock(&()) }, "nobody has it");
            // ORDERING: Relaxed, only this thread has the lock
            lock.word.fetch_or(QUEUED, Ordering::Relaxed);
            begin(lock, &place, 0, 0, false);
            // SAFETY: held above.
            unsafe { lock.unlock(&()) };
        }
        assert!(locks.iter().all(|lock| knows(lock)));
        locks[1].pin_mode(Some(Mode::Spin));
        assert_eq!(locks[1].stats().mode, Mode::Spin);
        assert!(!knows(&locks[1]) && knows(&locks[0]));
    }

    /// The place of the lock that is held.
    fn held() -> Place {
        HELD.get().place()
    }
}
