//! Locks among processes, of which two are two participants here.

use std::ffi::CStr;
use std::ptr;
use std::thread;

use corecast_c::lock::LockAlgorithm;
use corecast_c::region::*;
use corecast_c::region_plan::*;
use corecast_c::shared_lock::*;
use corecast_c::status::Status;

use crate::calling::{Out, object, output, owned, status, ump_plan, words};

const NAME: &CStr = c"accounts";
const MILLISECOND: u64 = 1_000_000;

/// A call for an open lock.
type Call = extern "C" fn(Option<&SharedLock>) -> Status;

fn add(plan: *mut RegionPlan, name: *const std::ffi::c_char, algorithm: u32) -> Status {
    // SAFETY: a text, or NULL, which is refused.
    unsafe { corecast_region_plan_add_lock(Some(object(plan)), name, algorithm) }
}

fn opened(region: *mut Region, name: &CStr, lock: Out<'_, *mut SharedLock>) -> Status {
    // SAFETY: a text.
    unsafe { corecast_shared_lock_open(Some(object(region)), name.as_ptr(), lock) }
}

/// The same lock twice: of two participants, each with its region.
fn two(algorithm: LockAlgorithm) -> [(*mut Region, *mut SharedLock); 2] {
    let plan = ump_plan(&["orders"]);
    assert_eq!(add(plan, NAME.as_ptr(), algorithm as u32), Status::Ok, "{}", words());
    let here = output(|region| corecast_region_create_memfd(Some(object(plan)), region));
    corecast_region_plan_destroy(owned(plan));
    let fd = output(|fd| corecast_region_share_fd(Some(object(here)), fd));
    let there = output(|region| corecast_region_open_fd(fd, region));
    // SAFETY: given by the call above, and closed once.
    drop(unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(fd) });
    [here, there].map(|region| (region, output(|lock| opened(region, NAME, lock))))
}

fn close((region, lock): (*mut Region, *mut SharedLock)) {
    corecast_shared_lock_close(owned(lock));
    corecast_region_close(owned(region));
}

fn told(lock: *mut SharedLock, call: Call) -> (Status, String) {
    (call(Some(object(lock))), words())
}

#[track_caller]
fn does(lock: *mut SharedLock, call: Call) {
    assert_eq!(call(Some(object(lock))), Status::Ok, "{}", words());
}

#[test]
fn participants_exclude_each_other_whatever_the_lock() {
    use LockAlgorithm::{Tas, Ticket, Ttas, Word};
    for algorithm in [Word, Tas, Ttas, Ticket] {
        let [here, there] = two(algorithm);
        does(here.1, corecast_shared_lock_lock);
        let taken = (Status::Taken, "the lock is held".to_owned());
        assert_eq!(told(here.1, corecast_shared_lock_try_lock), taken);
        assert_eq!(told(there.1, corecast_shared_lock_try_lock), taken);
        let late = corecast_shared_lock_lock_timeout_ns(Some(object(there.1)), MILLISECOND);
        assert_eq!((late, words()), (Status::Timeout, "the lock stayed held until the deadline".to_owned()));
        does(here.1, corecast_shared_lock_unlock);
        assert_eq!(corecast_shared_lock_lock_timeout_ns(Some(object(there.1)), u64::MAX), Status::Ok);
        does(there.1, corecast_shared_lock_unlock);
        does(here.1, corecast_shared_lock_try_lock);
        does(here.1, corecast_shared_lock_unlock);
        [here, there].into_iter().for_each(close);
    }
}

#[test]
fn wrong_use_is_told_and_changes_nothing() {
    let [here, there] = two(LockAlgorithm::Word);
    let held = (Status::InvalidArgument, "this thread holds the lock already".to_owned());
    let not_held = (Status::InvalidArgument, "this thread does not hold the lock".to_owned());
    assert_eq!(told(here.1, corecast_shared_lock_unlock), not_held);
    does(here.1, corecast_shared_lock_lock);
    assert_eq!(told(here.1, corecast_shared_lock_lock), held);
    let late = corecast_shared_lock_lock_timeout_ns(Some(object(here.1)), 0);
    assert_eq!((late, words()), held);
    assert_eq!(told(there.1, corecast_shared_lock_unlock), not_held, "by another object");
    let lock: &SharedLock = object(here.1);
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!((corecast_shared_lock_unlock(Some(lock)), words()), not_held, "by another thread"));
    });
    does(here.1, corecast_shared_lock_unlock);
    assert_eq!(told(here.1, corecast_shared_lock_unlock), not_held);
    for call in [corecast_shared_lock_lock as Call, corecast_shared_lock_try_lock, corecast_shared_lock_unlock] {
        assert_eq!((call(None), words()), (Status::InvalidArgument, "argument 'lock': is NULL".to_owned()));
    }
    [here, there].into_iter().for_each(close);
}

#[test]
fn a_thread_that_ends_holds_what_it_held() {
    let [here, there] = two(LockAlgorithm::Word);
    let lock: &SharedLock = object(here.1);
    let late = (Status::Timeout, "the lock stayed held until the deadline".to_owned());
    let not_held = (Status::InvalidArgument, "this thread does not hold the lock".to_owned());
    thread::scope(|scope| {
        let locks = || assert_eq!(corecast_shared_lock_lock(Some(lock)), Status::Ok, "{}", words());
        scope.spawn(locks).join().expect("it locks");
        for _ in 0..8 {
            // Each is likely to have the stack of the one before.
            let waits = || {
                let waited = corecast_shared_lock_lock_timeout_ns(Some(lock), MILLISECOND);
                assert_eq!((waited, words()), late);
                assert_eq!((corecast_shared_lock_unlock(Some(lock)), words()), not_held);
            };
            scope.spawn(waits).join().expect("it waits in vain");
        }
    });
    [here, there].into_iter().for_each(close);
}

#[test]
fn another_object_of_a_lock_does_not_know_who_holds_it() {
    let [here, there] = two(LockAlgorithm::Word);
    let other = output(|lock| opened(here.0, NAME, lock));
    does(here.1, corecast_shared_lock_lock);
    assert_eq!(corecast_shared_lock_lock_timeout_ns(Some(object(other)), MILLISECOND), Status::Timeout);
    assert_eq!(corecast_shared_lock_unlock(Some(object(other))), Status::InvalidArgument);
    does(here.1, corecast_shared_lock_unlock);
    corecast_shared_lock_close(owned(other));
    [here, there].into_iter().for_each(close);
}

#[test]
fn the_next_holder_after_one_that_is_gone_is_told_and_makes_it_good() {
    let [here, there] = two(LockAlgorithm::Word);
    does(there.1, corecast_shared_lock_lock);
    close(there);
    let (status, words) = told(here.1, corecast_shared_lock_lock);
    assert_eq!(status, Status::OwnerDied);
    assert!(words.starts_with("the process that held the lock is gone, and this thread has the lock"), "{words}");
    assert_eq!(told(here.1, corecast_shared_lock_try_lock).0, Status::Taken);
    does(here.1, corecast_shared_lock_unlock);
    does(here.1, corecast_shared_lock_lock);
    does(here.1, corecast_shared_lock_unlock);
    close(here);
}

#[test]
fn a_lock_that_cannot_be_declared_or_opened_is_named() {
    let plan = ump_plan(&["orders"]);
    let mcs = "lock 'queue' cannot be of the algorithm mcs, which is for the threads of one process".to_owned();
    let told = add(plan, c"queue".as_ptr(), LockAlgorithm::Mcs as u32);
    assert_eq!((told, words()), (Status::InvalidArgument, mcs));
    let told = add(plan, c"none".as_ptr(), 99);
    assert_eq!((told, words()), (Status::NotFound, "there is no lock with the number 99".to_owned()));
    assert_eq!(add(plan, c"a/b".as_ptr(), 1), Status::InvalidArgument);
    assert_eq!(add(plan, ptr::null(), 1), Status::InvalidArgument);
    assert_eq!(add(plan, NAME.as_ptr(), LockAlgorithm::Word as u32), Status::Ok);
    let region = output(|region| corecast_region_create_heap(Some(object(plan)), region));
    corecast_region_plan_destroy(owned(plan));
    assert_eq!(
        (status(|lock| opened(region, c"lok", lock)), words()),
        (Status::NotFound, "the region has no lock 'lok'".to_owned())
    );
    assert_eq!(status(|lock| opened(region, c"orders", lock)), Status::Mismatch, "{}", words());
    assert_eq!(opened(region, NAME, None), Status::InvalidArgument);
    let lock = output(|lock| opened(region, NAME, lock));
    does(lock, corecast_shared_lock_lock);
    does(lock, corecast_shared_lock_unlock);
    close((region, lock));
    corecast_shared_lock_close(None);
}
