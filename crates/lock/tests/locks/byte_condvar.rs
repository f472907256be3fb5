//! The condition variable that counts, and hand-overs of its mutex, among many threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicUsize, Ordering, UnsafeCell};
use corecast_lock::{Byte, ByteCondvar, RawConst, RawLock};

/// A number under a mutex, and a variable that tells of changes.
struct Counted {
    mutex: Byte,
    changed: ByteCondvar,
    value: UnsafeCell<usize>,
}

// SAFETY: the value is only reached under the mutex.
unsafe impl Sync for Counted {}

impl Counted {
    fn new() -> Self {
        Self { mutex: Byte::INIT, changed: ByteCondvar::new(), value: UnsafeCell::new(0) }
    }

    /// Runs `run` under the mutex, which is then freed or handed over.
    fn with<R>(&self, hands_over: bool, run: impl FnOnce(&mut usize) -> R) -> R {
        // SAFETY: there is no node.
        unsafe { self.mutex.lock(&()) };
        let result = self.value(run);
        // SAFETY: locked above.
        unsafe { self.mutex.unlock_or_hand_over(|| hands_over) };
        result
    }

    /// For a thread that holds the mutex.
    fn value<R>(&self, run: impl FnOnce(&mut usize) -> R) -> R {
        // SAFETY: the caller holds the mutex.
        self.value.with_mut(|value| run(unsafe { &mut *value }))
    }

    /// Waits while the value is 0, and takes one; the number of waits.
    fn take(&self) -> usize {
        let mut waits = 0;
        // SAFETY: there is no node.
        unsafe { self.mutex.lock(&()) };
        while self.value(|value| *value == 0) {
            waits += 1;
            // SAFETY: locked above.
            assert!(unsafe { self.changed.wait(&self.mutex, None) }, "nothing but a notification ends it");
        }
        self.value(|value| *value -= 1);
        // SAFETY: locked above.
        unsafe { self.mutex.unlock(&()) };
        waits
    }

    /// Waits until this number of threads has begun to wait.
    fn await_waiters(&self, waiting: &AtomicUsize, count: usize) {
        // A thread counts itself under the mutex before it waits.
        while self.with(false, |_| waiting.load(Ordering::Relaxed)) < count {
            thread::yield_now();
        }
    }
}

#[test]
fn every_notification_is_counted_and_ends_one_wait() {
    let counted = Counted::new();
    let (takers, rounds) = (4, 1000);
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..takers).map(|_| scope.spawn(|| (0..rounds).map(|_| counted.take()).sum::<usize>())).collect();
        let mut notified = 0;
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..takers * rounds {
            match random.u8(..3) {
                0 => notified += counted.with(random.bool(), |value| (*value += 1, counted.changed.notify_all()).1),
                1 => {
                    notified += usize::from(counted.with(false, |value| (*value += 1, counted.changed.notify_one()).1))
                }
                _ => {
                    counted.with(random.bool(), |value| *value += 1);
                    notified += usize::from(counted.changed.notify_one());
                }
            }
        }
        let waits: usize = threads.into_iter().map(|thread| thread.join().expect("it takes all")).sum();
        assert_eq!(waits, notified);
    });
    assert_eq!(counted.with(false, |value| *value), 0);
    assert!(!counted.changed.notify_one() && counted.changed.notify_all() == 0);
}

#[test]
fn a_wait_ends_at_its_deadline_and_is_counted_no_more() {
    let counted = Counted::new();
    for limit in [Duration::ZERO, Duration::from_millis(2)] {
        let is_notified = counted.with(false, |_| {
            // SAFETY: `with` has locked it.
            unsafe { counted.changed.wait(&counted.mutex, Some(Instant::now() + limit)) }
        });
        assert!(!is_notified && !counted.changed.notify_one());
    }
}

#[test]
fn another_mutex_is_refused_while_threads_wait_and_taken_after_that() {
    let (counted, other) = (Counted::new(), Byte::INIT);
    let waiting = AtomicUsize::new(0);
    // SAFETY: there is no node.
    unsafe { other.lock(&()) };
    let wait_with_other = || {
        // SAFETY: locked above, and a wait takes it again.
        unsafe { counted.changed.wait(&other, Some(Instant::now())) }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            counted.with(false, |_| {
                waiting.fetch_add(1, Ordering::Relaxed);
                // SAFETY: `with` has locked it.
                unsafe { counted.changed.wait(&counted.mutex, None) }
            })
        });
        counted.await_waiters(&waiting, 1);
        assert!(catch_unwind(AssertUnwindSafe(wait_with_other)).is_err());
        assert!(other.is_held(), "it is not freed");
        assert!(counted.changed.notify_one());
    });
    assert!(!wait_with_other() && other.is_held());
}

#[test]
fn a_lock_that_is_handed_over_comes_to_all_who_wait() {
    let lock = Byte::INIT;
    // SAFETY: there is no node.
    unsafe { lock.lock(&()) };
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        for number in 0..3 {
            let (lock, tell) = (&lock, tell.clone());
            scope.spawn(move || {
                // SAFETY: there is no node.
                unsafe { lock.lock(&()) };
                tell.send(number).expect("it is awaited");
                // SAFETY: locked above.
                unsafe { lock.unlock_or_hand_over(|| true) };
            });
        }
        while !lock.is_awaited() {
            thread::yield_now();
        }
        // SAFETY: locked above.
        unsafe { lock.unlock_or_hand_over(|| true) };
        let mut numbers: Vec<i32> = told.iter().take(3).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
    });
    assert!(!lock.is_held());
    // SAFETY: there is no node.
    unsafe { lock.lock(&()) };
    // SAFETY: locked above.
    unsafe { lock.unlock_or_hand_over(|| unreachable!("nobody waits")) };
}
