//! Models of the condition variable: waiters and notifiers meet in all orders, and nobody sleeps for ever.
//!
//! The mutex polls, and only reads to do so: one that sleeps as well would make the models much larger, and has its own.

use corecast_base::sync::Arc;
use corecast_lock::{Condvar, Mutex, Ticket};
use loom::thread;

struct Shared {
    /// How many may go on.
    permits: Mutex<u32, Ticket>,
    granted: Condvar,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self { permits: Mutex::from(0), granted: Condvar::new() })
    }

    fn take(&self) {
        let mut permits = self.granted.wait_while(self.permits.lock(), |permits| *permits == 0);
        *permits -= 1;
    }

    fn grant(&self, permits: u32) {
        *self.permits.lock() += permits;
    }
}

/// This number of threads waits while this one does something.
fn wait_while(waiting: usize, notifies: fn(&Shared)) {
    loom::model(move || {
        let shared = Shared::new();
        let others: Vec<_> = (0..waiting)
            .map(|_| {
                let theirs = Arc::clone(&shared);
                thread::spawn(move || theirs.take())
            })
            .collect();
        notifies(&shared);
        others.into_iter().for_each(|other| other.join().expect("it goes on"));
        assert_eq!(*shared.permits.lock(), 0);
    });
}

#[test]
fn a_notification_after_the_mutex_is_freed_is_not_lost() {
    wait_while(1, |shared| {
        shared.grant(1);
        shared.granted.notify_one();
    });
}

#[test]
fn a_notification_while_the_mutex_is_held_is_not_lost() {
    wait_while(1, |shared| {
        let mut permits = shared.permits.lock();
        shared.granted.notify_one();
        *permits += 1;
    });
}

#[test]
fn each_of_two_notifications_wakes_one() {
    wait_while(2, |shared| {
        for _ in 0..2 {
            shared.grant(1);
            shared.granted.notify_one();
        }
    });
}

#[test]
fn one_notification_wakes_all() {
    wait_while(2, |shared| {
        shared.grant(2);
        shared.granted.notify_all();
    });
}

/// The other side: this thread waits, and two others notify.
#[test]
fn two_threads_notify_one_that_waits_twice() {
    loom::model(|| {
        let shared = Shared::new();
        let others = [0; 2].map(|_| {
            let theirs = Arc::clone(&shared);
            thread::spawn(move || {
                theirs.grant(1);
                theirs.granted.notify_one();
            })
        });
        shared.take();
        shared.take();
        others.into_iter().for_each(|other| other.join().expect("it grants"));
    });
}
