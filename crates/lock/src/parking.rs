//! Where threads sleep whose lock is too small to sleep on: queues in a table, found by the lock's address.
//!
//! No wake-up is lost: a thread looks once more whether it has to sleep, and enters the queue, in one step under the line's
//! mutex. The waker has freed the lock before it takes that mutex. So either the sleeper is there and is found, or it
//! comes later and sees that the lock is free. Locks that share a line do not wake each other's threads: a sleeper is
//! entered with the address of its lock.
//!
//! A lock with sleepers is borrowed by them, so its address stays.
//!
//! **Progress:** blocking, for moments. **Memory ordering:** none is promised beyond that of the lock.
//! Source: F. Pizlo, Locking in WebKit, 2016, for a table of queues beside locks of a byte.

use std::collections::VecDeque;
use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{Mutex, Ordering, Scope, futex_wait, futex_wake};

use crate::pool;

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;

/// A sleeping thread.
#[derive(Debug)]
struct Sleeper {
    /// The address of its lock.
    lock: usize,
    /// Its node in the pool, on whose word it sleeps: that is never unmapped, so a late wake-up hits live memory.
    node: u32,
}

/// The sleepers of some locks, in the order in which they came.
type Line = CacheLine<Mutex<VecDeque<Sleeper>>>;

#[cfg(not(loom))]
static LINES: [Line; 256] = [const { CacheLine::new(Mutex::new(VecDeque::new())) }; 256];

#[cfg(loom)]
corecast_base::sync::in_each_run! {
    /// All locks of a model share a line.
    static ref LINES: [Line; 1] = [CacheLine::new(Mutex::new(VecDeque::new()))];
}

/// Does something with the sleepers of this lock, and of others.
fn with_line<R>(lock: usize, use_it: impl FnOnce(&mut VecDeque<Sleeper>) -> R) -> R {
    // Spreads neighbours: D. Knuth, The Art of Computer Programming, volume 3, multiplicative hashing.
    let hash = (lock as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let line = &LINES[hash as usize % LINES.len()];
    use_it(&mut line.lock().expect("nobody panics while holding a line"))
}

/// Sleeps if `must_sleep` still says so, until it is woken, but not for longer; may also return early for no reason.
pub(crate) fn sleep_if(lock: usize, longest: Duration, must_sleep: impl FnOnce() -> bool) {
    let entered = with_line(lock, |sleepers| {
        if !must_sleep() {
            return None;
        }
        let node = pool::take();
        // ORDERING: Relaxed, the line's mutex orders it before the waker's store
        pool::node(node).sleep.store(ASLEEP, Ordering::Relaxed);
        sleepers.push_back(Sleeper { lock, node });
        Some(node)
    });
    let Some(node) = entered else { return };
    let word = &pool::node(node).sleep;
    futex_wait(word, ASLEEP, longest, Scope::Process);
    // ORDERING: Relaxed, it only says that the node is in the queue no more
    if word.load(Ordering::Relaxed) == ASLEEP {
        // It may be taken out just now.
        with_line(lock, |sleepers| sleepers.retain(|sleeper| sleeper.node != node));
    }
    pool::give(node);
}

/// Wakes the one who sleeps for the longest time at this lock, if anybody does.
#[cold]
pub(crate) fn wake_one(lock: usize) {
    let woken = with_line(lock, |sleepers| {
        let at = sleepers.iter().position(|sleeper| sleeper.lock == lock)?;
        let word = &pool::node(sleepers.remove(at)?.node).sleep;
        // ORDERING: Relaxed, as in sleep_if
        word.store(AWAKE, Ordering::Relaxed);
        Some(word)
    });
    if let Some(word) = woken {
        futex_wake(word, 1, Scope::Process);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn sleepers_at(lock: usize) -> usize {
        with_line(lock, |sleepers| sleepers.iter().filter(|sleeper| sleeper.lock == lock).count())
    }

    #[test]
    fn a_thread_that_need_not_sleep_or_whose_time_is_over_is_in_no_queue() {
        let byte = 0_u8;
        let lock = std::ptr::from_ref(&byte).addr();
        sleep_if(lock, Duration::MAX, || false);
        assert_eq!(sleepers_at(lock), 0);
        sleep_if(lock, Duration::from_millis(1), || true);
        assert_eq!(sleepers_at(lock), 0);
        wake_one(lock);
    }

    #[test]
    fn one_at_a_time_is_woken_and_nobody_of_another_lock() {
        let bytes = [0_u8; 2];
        let (mine, other) = (std::ptr::from_ref(&bytes[0]).addr(), std::ptr::from_ref(&bytes[1]).addr());
        // As if both locks shared a line.
        with_line(mine, |sleepers| sleepers.push_back(Sleeper { lock: other, node: pool::take() }));
        std::thread::scope(|scope| {
            let sleep = || sleep_if(mine, Duration::from_secs(3600), || true);
            let threads = [scope.spawn(sleep), scope.spawn(sleep)];
            while sleepers_at(mine) < 2 {
                std::thread::yield_now();
            }
            wake_one(mine);
            assert_eq!(sleepers_at(mine), 1);
            wake_one(mine);
            threads.into_iter().for_each(|thread| thread.join().expect("it is woken"));
        });
        wake_one(mine);
        let left = with_line(mine, |sleepers| sleepers.drain(..).map(|sleeper| sleeper.lock).collect::<Vec<_>>());
        assert_eq!(left, [other]);
    }
}
