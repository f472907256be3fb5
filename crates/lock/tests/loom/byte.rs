//! Models of the lock that sleeps in a table, where locks share a line.

use corecast_base::sync::Arc;
use corecast_lock::{Byte, Mutex};
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
