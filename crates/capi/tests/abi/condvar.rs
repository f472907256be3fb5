//! The condition variable: with each lock that sleeps, with limits, and refused with the others.

use std::ptr;
use std::thread;

use corecast::base::sync::UnsafeCell;
use corecast::lock::Algorithm;
use corecast_c::condvar::*;
use corecast_c::lock::*;
use corecast_c::status::Status;

use crate::calling::words;

const VALUES: u64 = 500;

/// Room for one value, as threads of C share it.
struct Slot {
    lock: UnsafeCell<Lock>,
    changed: UnsafeCell<Condvar>,
    value: UnsafeCell<Option<u64>>,
}

// SAFETY: the lock and the variable are made for that, and the value is reached while the lock is held.
unsafe impl Sync for Slot {}

impl Slot {
    fn new(algorithm: Algorithm) -> Self {
        let slot = Self {
            lock: UnsafeCell::new(Lock { opaque: [0; 8] }),
            changed: UnsafeCell::new(Condvar { opaque: [0; 2] }),
            value: UnsafeCell::new(None),
        };
        // SAFETY: memory for a lock.
        assert_eq!(unsafe { corecast_lock_create(algorithm as u32, slot.lock()) }, Status::Ok);
        slot
    }

    fn lock(&self) -> *mut Lock {
        self.lock.with_mut(|lock| lock)
    }

    fn changed(&self) -> *mut Condvar {
        self.changed.with_mut(|changed| changed)
    }

    fn wait(&self) -> Status {
        // SAFETY: a variable and a lock.
        unsafe { corecast_condvar_wait(self.changed(), self.lock()) }
    }

    fn wait_timeout_ns(&self, timeout_ns: u64) -> Status {
        // SAFETY: as above.
        unsafe { corecast_condvar_wait_timeout_ns(self.changed(), self.lock(), timeout_ns) }
    }

    fn take_lock(&self) {
        // SAFETY: a lock.
        assert_eq!(unsafe { corecast_lock_lock(self.lock()) }, Status::Ok, "{}", words());
    }

    fn free_lock(&self) {
        // SAFETY: a lock.
        assert_eq!(unsafe { corecast_lock_unlock(self.lock()) }, Status::Ok, "{}", words());
    }

    /// Waits until `change` changes something, and notifies all waiting threads.
    fn exchange(&self, mut change: impl FnMut(&mut Option<u64>) -> bool) {
        self.take_lock();
        // SAFETY: the lock is held.
        while !self.value.with_mut(|value| change(unsafe { &mut *value })) {
            assert_eq!(self.wait(), Status::Ok, "{}", words());
        }
        self.free_lock();
        // SAFETY: a variable.
        assert_eq!(unsafe { corecast_condvar_notify_all(self.changed()) }, Status::Ok);
    }
}

/// Whether a condition variable goes with it.
fn sleeps(algorithm: Algorithm) -> bool {
    ["auto", "word", "byte", "qword"].contains(&algorithm.name())
}

#[test]
fn every_value_passes_whatever_the_lock_that_sleeps() {
    for algorithm in Algorithm::ALL.iter().copied().filter(|&algorithm| sleeps(algorithm)) {
        let slot = Slot::new(algorithm);
        let sum = thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for value in 0..VALUES {
                        slot.exchange(|slot| slot.is_none() && slot.replace(value).is_none());
                    }
                });
            }
            let takes = || {
                let mut sum = 0;
                (0..VALUES).for_each(|_| slot.exchange(|slot| slot.take().map(|value| sum += value).is_some()));
                sum
            };
            let takers = [scope.spawn(takes), scope.spawn(takes)];
            takers.map(|taker| taker.join().expect("nobody panics")).iter().sum::<u64>()
        });
        assert_eq!(sum, VALUES * (VALUES - 1), "{algorithm}");
    }
}

#[test]
fn a_limit_passes_with_the_lock_held_and_one_is_notified() {
    let slot = Slot::new(Algorithm::Auto);
    slot.take_lock();
    let late = "no notification came until the deadline".to_owned();
    assert_eq!((slot.wait_timeout_ns(1000), words()), (Status::Timeout, late));
    slot.free_lock();
    thread::scope(|scope| {
        slot.take_lock();
        scope.spawn(|| {
            // Not before the other one waits, as it holds the lock until then.
            slot.take_lock();
            // SAFETY: a variable.
            assert_eq!(unsafe { corecast_condvar_notify_one(slot.changed()) }, Status::Ok);
            slot.free_lock();
        });
        assert_eq!(slot.wait_timeout_ns(u64::MAX), Status::Ok, "{}", words());
        slot.free_lock();
    });
}

#[test]
fn wrong_use_is_told_in_words() {
    let refused = |told, why: &str| assert_eq!((told, words()), (Status::InvalidArgument, why.to_owned()));
    for algorithm in Algorithm::ALL.iter().copied().filter(|&algorithm| !sleeps(algorithm)) {
        let slot = Slot::new(algorithm);
        slot.take_lock();
        refused(
            slot.wait(),
            &format!("a condition variable goes with locks whose threads sleep, and {algorithm} is none"),
        );
        slot.free_lock();
    }
    let slot = Slot::new(Algorithm::Auto);
    refused(slot.wait(), "this thread does not hold the lock");
    refused(slot.wait_timeout_ns(0), "this thread does not hold the lock");
    let none = ptr::null_mut();
    // SAFETY: NULL is refused.
    refused(unsafe { corecast_condvar_notify_one(none) }, "argument 'condvar': is NULL");
    // SAFETY: as above.
    refused(unsafe { corecast_condvar_notify_all(none) }, "argument 'condvar': is NULL");
    // SAFETY: as above.
    refused(unsafe { corecast_condvar_wait(none, slot.lock()) }, "argument 'condvar': is NULL");
    // SAFETY: as above.
    refused(unsafe { corecast_condvar_wait(slot.changed(), ptr::null_mut()) }, "argument 'lock': is NULL");
    let askew = slot.changed().wrapping_byte_add(4);
    // SAFETY: not looked at.
    refused(unsafe { corecast_condvar_notify_one(askew) }, "argument 'condvar': is not aligned to 8 bytes");
}
