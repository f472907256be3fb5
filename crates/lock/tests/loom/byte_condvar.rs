//! Models of the condition variable that counts: waiters and notifiers meet in all orders, and the counts are those of the
//! waiters.

use std::time::Instant;

use corecast_base::sync::{Arc, UnsafeCell};
use corecast_lock::{Byte, ByteCondvar, RawLock, Setup};
use loom::thread;

struct Shared {
    mutex: Byte,
    /// How many may go on. Under the mutex.
    permits: UnsafeCell<u32>,
    granted: ByteCondvar,
}

// SAFETY: the number is only reached under the mutex.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Arc<Self> {
        let mutex = Byte::new(&Setup::of_threads(3));
        Arc::new(Self { mutex, permits: UnsafeCell::new(0), granted: ByteCondvar::new() })
    }

    fn lock(&self) {
        // SAFETY: there is no node.
        unsafe { self.mutex.lock(&()) };
    }

    fn unlock(&self) {
        // SAFETY: each caller holds it.
        unsafe { self.mutex.unlock(&()) };
    }

    fn unlock_or_hand_over(&self) {
        // SAFETY: each caller holds it.
        unsafe { self.mutex.unlock_or_hand_over(|| true) };
    }

    /// The number, for a thread that holds the mutex.
    fn with<R>(&self, use_it: impl FnOnce(&mut u32) -> R) -> R {
        // SAFETY: the caller holds the mutex; the model finds another thread that does, too.
        self.permits.with_mut(|permits| use_it(unsafe { &mut *permits }))
    }

    /// Waits once at a time, as it does not return for no reason.
    fn take(&self) {
        self.lock();
        while self.with(|permits| *permits == 0) {
            // SAFETY: locked above.
            assert!(unsafe { self.granted.wait(&self.mutex, None) });
        }
        self.with(|permits| *permits -= 1);
        self.unlock();
    }

    fn grant(&self, permits: u32) {
        self.lock();
        self.with(|all| *all += permits);
        self.unlock();
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
        shared.lock();
        assert_eq!(shared.with(|permits| *permits), 0);
        assert_eq!(shared.granted.notify_all(), 0, "nobody is there any more");
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
fn a_waiter_that_is_moved_to_the_queue_of_the_mutex_goes_on() {
    wait_while(1, |shared| grant_as_holder(shared, Shared::unlock));
    wait_while(1, |shared| grant_as_holder(shared, Shared::unlock_or_hand_over));

    fn grant_as_holder(shared: &Shared, unlock: fn(&Shared)) {
        shared.lock();
        shared.granted.notify_one();
        shared.with(|permits| *permits += 1);
        unlock(shared);
    }
}

#[test]
fn one_notification_wakes_all() {
    wait_while(2, |shared| {
        shared.grant(2);
        shared.granted.notify_all();
    });
}

#[test]
fn one_notification_of_the_holder_moves_all() {
    wait_while(2, |shared| {
        shared.lock();
        shared.with(|permits| *permits += 2);
        shared.granted.notify_all();
        shared.unlock();
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

/// A waiter whose time is up when it comes, and a notifier: either both know of each other, or neither does.
#[test]
fn a_notification_counts_those_waiters_that_it_reaches() {
    loom::model(|| {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            theirs.lock();
            // SAFETY: locked above.
            let is_notified = unsafe { theirs.granted.wait(&theirs.mutex, Some(Instant::now())) };
            theirs.unlock();
            is_notified
        });
        let counted = shared.granted.notify_all();
        assert_eq!(usize::from(other.join().expect("it goes on")), counted);
    });
}
