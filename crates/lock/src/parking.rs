//! Where threads sleep whose lock is too small to sleep on: queues in a table, found by the lock's address.
//!
//! No wake-up is lost: a thread looks once more whether it has to sleep, and enters the queue, in one step under the line's
//! mutex. The waker has freed the lock before it takes that mutex, or frees it under that. So either the sleeper is there and
//! is found, or it comes later and sees that the lock is free. Locks that share a line do not wake each other's threads: a
//! sleeper is entered with the address of its lock.
//!
//! A waker may hand its lock over instead of freeing it: it tells the sleeper by the word on which that sleeps. The waker of a
//! condition variable may move sleepers to the queue of a lock instead of waking them.
//!
//! A lock with sleepers is borrowed by them, so its address stays. A line's queue grows by the allocator: a lock within a global
//! allocator must not sleep here.
//!
//! **Progress:** blocking, for moments. **Memory ordering:** what happened before a hand-over is visible to the sleeper; beyond
//! that none is promised but that of the lock.
//! Source: F. Pizlo, Locking in WebKit, 2016, for a table of queues beside locks of a byte, hand-overs, and sleepers that move.

use std::collections::VecDeque;
use std::time::Instant;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU32, Mutex, Ordering, Scope, futex_wait, futex_wake};
use corecast_base::wait::LONGEST_SLEEP;

use crate::pool;
use crate::three_states::time_until;

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
/// Awake, and what it slept for is its own.
const HANDED_OVER: u32 = 2;

/// A sleeping thread.
#[derive(Debug)]
struct Sleeper {
    /// The address of its lock.
    lock: usize,
    /// The wish of its thread, in the words of its lock.
    wish: u32,
    /// Its node in the pool, on whose word it sleeps: that is never unmapped, so a late wake-up hits live memory.
    node: u32,
}

/// The sleepers of some locks, in the order in which they came.
type Queue = VecDeque<Sleeper>;
type Line = CacheLine<Mutex<Queue>>;

#[cfg(not(loom))]
static LINES: [Line; 256] = [const { CacheLine::new(Mutex::new(VecDeque::new())) }; 256];

#[cfg(loom)]
corecast_base::sync::in_each_run! {
    /// All locks of a model share a line.
    static ref LINES: [Line; 1] = [CacheLine::new(Mutex::new(VecDeque::new()))];
}

/// The number of the line of this lock.
fn line_of(lock: usize) -> usize {
    // Spreads neighbours: D. Knuth, The Art of Computer Programming, volume 3, multiplicative hashing.
    let hash = (lock as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    hash as usize % LINES.len()
}

/// Does something with the sleepers of this lock, and of others.
fn with_line<R>(lock: usize, use_it: impl FnOnce(&mut Queue) -> R) -> R {
    use_it(&mut LINES[line_of(lock)].lock().expect("nobody panics while holding a line"))
}

/// The way a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awakening {
    /// It was woken, to look again.
    Woken,
    /// It was woken, and what it slept for is its own now.
    HandedOver,
    /// Its time was up, and no thread had woken it.
    TimedOut,
}

/// The place of a thread in the queue of its lock. It has to [`sleep`](Place::sleep) there.
#[derive(Debug)]
#[must_use = "the node of a place goes back to the pool when its thread has slept"]
pub(crate) struct Place {
    lock: usize,
    node: u32,
}

/// Enters the queue of this lock if `must_sleep` still says so, which is asked under the line's mutex.
pub(crate) fn enter(lock: usize, wish: u32, must_sleep: impl FnOnce() -> bool) -> Option<Place> {
    with_line(lock, |sleepers| {
        if !must_sleep() {
            return None;
        }
        let node = pool::take();
        // ORDERING: Relaxed, the line's mutex orders it before the waker's store
        pool::node(node).sleep.store(ASLEEP, Ordering::Relaxed);
        sleepers.push_back(Sleeper { lock, wish, node });
        Some(Place { lock, node })
    })
}

impl Place {
    /// Sleeps until a thread wakes this one, or until the deadline. A thread that gives up calls `gives_up` under the line's
    /// mutex, and says whether it was the last one of its lock.
    pub(crate) fn sleep(self, deadline: Option<Instant>, gives_up: impl FnOnce(bool)) -> Awakening {
        let word = &pool::node(self.node).sleep;
        let mut awakening = sleep_on(word, deadline);
        if awakening == Awakening::TimedOut && !self.leave(gives_up) {
            // It has been woken, or moved to the queue of a lock, whose holder wakes it.
            awakening = sleep_on(word, None);
        }
        pool::give(self.node);
        awakening
    }

    /// Leaves the queue; false if it is there no more.
    #[cold]
    fn leave(&self, gives_up: impl FnOnce(bool)) -> bool {
        with_line(self.lock, |sleepers| {
            let is_mine = |sleeper: &Sleeper| sleeper.node == self.node && sleeper.lock == self.lock;
            let Some(at) = sleepers.iter().position(is_mine) else { return false };
            sleepers.remove(at);
            gives_up(!has_sleepers(sleepers, self.lock));
            true
        })
    }
}

/// Sleeps on the word of a node until it is written, or until the deadline.
fn sleep_on(word: &AtomicU32, deadline: Option<Instant>) -> Awakening {
    loop {
        // ORDERING: Acquire, pairs with the Release in wake [parking-handed]
        match word.load(Ordering::Acquire) {
            AWAKE => return Awakening::Woken,
            HANDED_OVER => return Awakening::HandedOver,
            _ => {}
        }
        let Some(left) = deadline.map_or(Some(LONGEST_SLEEP), time_until) else { return Awakening::TimedOut };
        futex_wait(word, ASLEEP, left, Scope::Process);
    }
}

fn has_sleepers(sleepers: &Queue, lock: usize) -> bool {
    sleepers.iter().any(|sleeper| sleeper.lock == lock)
}

/// Under the line's mutex: tells the sleeper with this node that it is awake. Returns the word on which it sleeps.
fn wake(node: u32, is_handed_over: bool) -> &'static AtomicU32 {
    let word = &pool::node(node).sleep;
    // ORDERING: Release, pairs with the Acquire in sleep_on: what was handed over comes with it [parking-handed]
    word.store(if is_handed_over { HANDED_OVER } else { AWAKE }, Ordering::Release);
    word
}

/// Wakes the thread that sleeps for the longest time at this lock, which is handed over to it or not. False if there is none.
#[cold]
pub(crate) fn wake_first(lock: usize, is_handed_over: bool) -> bool {
    let woken = with_line(lock, |sleepers| {
        let at = sleepers.iter().position(|sleeper| sleeper.lock == lock)?;
        Some(wake(sleepers.remove(at)?.node, is_handed_over))
    });
    if let Some(word) = woken {
        futex_wake(word, 1, Scope::Process);
    }
    woken.is_some()
}

/// The fate of a sleeper when others are woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// It is woken.
    Wake,
    /// It sleeps on.
    Skip,
    /// It sleeps on, and so do all behind it.
    Stop,
}

/// Wakes those sleepers of this lock that `choose` picks by their wishes, in the order in which they came. Under the line's mutex
/// `settle` is told how many, and whether others sleep on; it says whether they are handed what they slept for.
#[cold]
pub(crate) fn wake_chosen(lock: usize, choose: impl FnMut(u32) -> Choice, settle: impl FnOnce(usize, bool) -> bool) {
    let woken = with_line(lock, |sleepers| {
        let chosen = take_chosen(sleepers, lock, choose);
        let is_handed_over = settle(chosen.len(), has_sleepers(sleepers, lock));
        chosen.into_iter().map(|node| wake(node, is_handed_over)).collect::<Vec<_>>()
    });
    woken.into_iter().for_each(|word| futex_wake(word, 1, Scope::Process));
}

/// Takes the chosen sleepers of this lock out of the queue, and returns their nodes.
fn take_chosen(sleepers: &mut Queue, lock: usize, mut choose: impl FnMut(u32) -> Choice) -> Vec<u32> {
    let mut chosen = Vec::new();
    let mut at = 0;
    while let Some(sleeper) = sleepers.get(at) {
        match if sleeper.lock == lock { choose(sleeper.wish) } else { Choice::Skip } {
            Choice::Wake => chosen.extend(sleepers.remove(at).map(|sleeper| sleeper.node)),
            Choice::Skip => at += 1,
            Choice::Stop => break,
        }
    }
    chosen
}

/// The number of sleepers that are woken, and of those after them that are moved to another queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requeue {
    pub(crate) woken: usize,
    pub(crate) moved: usize,
}

/// Wakes sleepers of `from` and moves others to the queue of the lock `to`, as `plan` says. It is asked under the mutexes of both
/// lines, as is `settle`, which is told whether others sleep on. Returns the number of both.
#[cold]
pub(crate) fn requeue(from: usize, to: usize, plan: impl FnOnce() -> Requeue, settle: impl FnOnce(bool)) -> usize {
    let (woken, moved) = with_both_lines(from, to, |sleepers, targets| {
        let plan = plan();
        let mut left = plan.woken.saturating_add(plan.moved);
        let mut nodes = take_chosen(sleepers, from, |_| {
            let is_taken = left > 0;
            left = left.saturating_sub(1);
            if is_taken { Choice::Wake } else { Choice::Stop }
        });
        settle(has_sleepers(sleepers, from));
        let moved = nodes.split_off(plan.woken.min(nodes.len()));
        let count = moved.len();
        targets.unwrap_or(sleepers).extend(moved.into_iter().map(|node| Sleeper { lock: to, wish: 0, node }));
        (nodes.into_iter().map(|node| wake(node, false)).collect::<Vec<_>>(), count)
    });
    let count = woken.len() + moved;
    woken.into_iter().for_each(|word| futex_wake(word, 1, Scope::Process));
    count
}

/// Does something with the sleepers of two locks, which are the same queue where the second is `None`.
fn with_both_lines<R>(from: usize, to: usize, use_them: impl FnOnce(&mut Queue, Option<&mut Queue>) -> R) -> R {
    let lock = |line: usize| LINES[line].lock().expect("nobody panics while holding a line");
    let (from, to) = (line_of(from), line_of(to));
    if from == to {
        return use_them(&mut lock(from), None);
    }
    // Always the line with the lower number first, so that two threads never wait for each other.
    let mut lower = lock(from.min(to));
    let mut higher = lock(from.max(to));
    let (from, to) = if from < to { (&mut lower, &mut higher) } else { (&mut higher, &mut lower) };
    use_them(from, Some(to))
}

/// The number of threads that sleep at this lock, for tests that wait until they do.
#[cfg(all(test, not(loom)))]
pub(crate) fn sleepers_at(lock: usize) -> usize {
    with_line(lock, |sleepers| sleepers.iter().filter(|sleeper| sleeper.lock == lock).count())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;

    fn address(byte: &u8) -> usize {
        std::ptr::from_ref(byte).addr()
    }

    fn sleep_at(lock: usize, wish: u32) -> Awakening {
        enter(lock, wish, || true).expect("it must sleep").sleep(None, |_| ())
    }

    fn await_sleepers(lock: usize, count: usize) {
        while sleepers_at(lock) < count {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_need_not_sleep_or_whose_time_is_over_is_in_no_queue() {
        let byte = 0;
        let lock = address(&byte);
        assert!(enter(lock, 0, || false).is_none());
        assert_eq!(sleepers_at(lock), 0);
        let place = enter(lock, 0, || true).expect("it must sleep");
        let mut was_last = None;
        let deadline = Instant::now() + Duration::from_millis(1);
        assert_eq!(place.sleep(Some(deadline), |is_last| was_last = Some(is_last)), Awakening::TimedOut);
        assert_eq!((sleepers_at(lock), was_last), (0, Some(true)));
        assert!(!wake_first(lock, false));
    }

    #[test]
    fn one_at_a_time_is_woken_and_nobody_of_another_lock() {
        let bytes = [0; 2];
        let (mine, other) = (address(&bytes[0]), address(&bytes[1]));
        // As if both locks shared a line.
        with_line(mine, |sleepers| sleepers.push_back(Sleeper { lock: other, wish: 0, node: pool::take() }));
        std::thread::scope(|scope| {
            let threads = [scope.spawn(|| sleep_at(mine, 0)), scope.spawn(|| sleep_at(mine, 0))];
            await_sleepers(mine, 2);
            assert!(wake_first(mine, false));
            assert_eq!(sleepers_at(mine), 1);
            assert!(wake_first(mine, true));
            let mut awakenings = threads.map(|thread| thread.join().expect("it is woken"));
            awakenings.sort_unstable_by_key(|&awakening| awakening == Awakening::HandedOver);
            assert_eq!(awakenings, [Awakening::Woken, Awakening::HandedOver]);
        });
        assert!(!wake_first(mine, false));
        let left = with_line(mine, |sleepers| sleepers.drain(..).map(|sleeper| sleeper.lock).collect::<Vec<_>>());
        assert_eq!(left, [other]);
    }

    #[test]
    fn sleepers_are_chosen_by_their_wishes() {
        let byte = 0;
        let lock = address(&byte);
        std::thread::scope(|scope| {
            let threads = [1, 2, 3, 1].map(|wish| {
                let count = sleepers_at(lock);
                let thread = scope.spawn(move || sleep_at(lock, wish));
                await_sleepers(lock, count + 1);
                thread
            });
            let mut asked = Vec::new();
            let choose = |wish| {
                asked.push(wish);
                [Choice::Wake, Choice::Skip, Choice::Stop][wish as usize - 1]
            };
            wake_chosen(lock, choose, |count, are_left| {
                assert_eq!((count, are_left), (1, true));
                true
            });
            assert_eq!((asked, sleepers_at(lock)), (vec![1, 2, 3], 3));
            wake_chosen(lock, |_| Choice::Wake, |count, are_left| (count, are_left) != (3, false));
            let awakenings = threads.map(|thread| thread.join().expect("it is woken"));
            assert_eq!(awakenings.map(|awakening| awakening == Awakening::HandedOver), [true, false, false, false]);
        });
    }

    #[test]
    fn a_sleeper_that_was_moved_is_woken_at_its_new_lock_only_and_does_not_time_out() {
        let bytes = [0_u8; 512];
        // Locks of the same line, and of two lines in both orders.
        for (from, to) in [(0, 0), (1, 2), (3, 2), (5, 9)].map(|(from, to)| (&bytes[from], &bytes[to])) {
            let (from, to) = (address(from), address(to) + 256);
            let places = [0; 4].map(|wish| enter(from, wish, || true).expect("it must sleep"));
            let mut are_left = None;
            let count = requeue(from, to, || Requeue { woken: 1, moved: 1 }, |left| are_left = Some(left));
            assert_eq!((count, are_left, sleepers_at(from), sleepers_at(to)), (2, Some(true), 2, 1));
            let count = requeue(from, to, || Requeue { woken: 0, moved: usize::MAX }, |left| assert!(!left));
            assert_eq!((count, sleepers_at(from), sleepers_at(to)), (2, 0, 3));
            assert!(!wake_first(from, false));
            std::thread::scope(|scope| {
                let give_up =
                    |place: Place| place.sleep(Some(Instant::now()), |_| panic!("it is in that queue no more"));
                let threads = places.map(|place| scope.spawn(move || give_up(place)));
                (0..3).for_each(|_| assert!(wake_first(to, true)));
                let awakenings = threads.map(|thread| thread.join().expect("it is woken"));
                assert_eq!(awakenings[0], Awakening::Woken);
                assert_eq!(awakenings[1..], [Awakening::HandedOver; 3]);
            });
        }
    }
}
