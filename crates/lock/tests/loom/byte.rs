//! Models of the lock that sleeps in a table, where locks share a line.

use corecast_base::sync::{Arc, UnsafeCell};
use corecast_lock::{Byte, Mutex, RawLock, Setup};
use loom::thread;

type Shared = Arc<Mutex<u32, Byte>>;

/// Two threads that sleep for different locks are each woken for its own.
#[test]
fn locks_that_share_a_line() {
    loom::model(|| {
        let locks: [Shared; 2] = [0; 2].map(|value| Arc::new(Mutex::from(value)));
        let held = [locks[0].lock(), locks[1].lock()];
        let others = locks.clone().map(|lock| thread::spawn(move || lock.with(|value| *value += 1)));
        for (held, other) in held.into_iter().zip(others) {
            drop(held);
            other.join().expect("it adds");
        }
        locks.iter().for_each(|lock| assert_eq!(lock.with(|value| *value), 1));
    });
}

/// One sleeper is woken at a time, while another thread overtakes.
#[test]
fn one_that_overtakes_wakes_those_who_sleep() {
    loom::model(|| {
        let lock: Shared = Arc::new(Mutex::from(0));
        let held = lock.lock();
        let others = [0; 2].map(|_| {
            let theirs = Arc::clone(&lock);
            thread::spawn(move || theirs.with(|value| *value += 1))
        });
        drop(held);
        lock.with(|value| *value += 1);
        others.into_iter().for_each(|other| other.join().expect("it adds"));
        assert_eq!(lock.with(|value| *value), 3);
    });
}

/// A lock, and a value that is no atomic.
struct Guarded {
    lock: Byte,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is only reached under the lock.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: Byte::new(&Setup::of_threads(2)), value: UnsafeCell::new(0) })
    }

    fn adds_and_hands_over(&self) {
        // SAFETY: there is no node.
        unsafe { self.lock.lock(&()) };
        self.add();
        // SAFETY: locked above.
        unsafe { self.lock.unlock_or_hand_over(|| true) };
    }

    fn add(&self) {
        // SAFETY: the caller holds the lock; the model finds another thread that does, too.
        self.value.with_mut(|value| unsafe { *value += 1 });
    }
}

/// The thread that sleeps holds the lock when it wakes, and sees what the one before has written.
#[test]
fn a_lock_that_is_handed_over_is_held() {
    for threads in 1..=2 {
        loom::model(move || {
            let guarded = Guarded::new();
            let others: Vec<_> = (0..threads)
                .map(|_| {
                    let theirs = Arc::clone(&guarded);
                    thread::spawn(move || theirs.adds_and_hands_over())
                })
                .collect();
            guarded.adds_and_hands_over();
            others.into_iter().for_each(|other| other.join().expect("it adds"));
            // SAFETY: all others have ended.
            assert_eq!(guarded.value.with(|value| unsafe { *value }), threads + 1);
            assert!(!guarded.lock.is_held());
        });
    }
}
