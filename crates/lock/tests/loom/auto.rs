//! Models of the lock that moves between ways to wait: one of each, and moves while others wait.

use std::time::Duration;

use corecast_base::sync::Arc;
use corecast_lock::{Auto, Mode, Mutex};
use loom::thread;

type Shared = Arc<Mutex<u32, Auto>>;

fn pinned(mode: Mode) -> Shared {
    let mutex: Shared = Arc::new(Mutex::from(0));
    mutex.raw().pin_mode(Some(mode));
    mutex
}

/// Three threads add, each once; the first pins the lock to `next`, if there is one, before.
fn all_add(mode: Mode, next: Option<Mode>) {
    loom::model(move || {
        let mutex = pinned(mode);
        let add = |mutex: &Shared| mutex.with(|value| *value += 1);
        let others: Vec<_> = (0..2)
            .map(|_| {
                let theirs = Arc::clone(&mutex);
                thread::spawn(move || add(&theirs))
            })
            .collect();
        match next {
            Some(next) => mutex.raw().pin_mode(Some(next)),
            None => add(&mutex),
        }
        others.into_iter().for_each(|other| other.join().expect("it adds"));
        let stats = mutex.raw().stats();
        assert_eq!(stats.mode, next.unwrap_or(mode));
        assert_eq!(mutex.with(|value| *value), 2 + u32::from(next.is_none()));
    });
}

#[test]
fn three_threads_spin() {
    all_add(Mode::Spin, None);
}

#[test]
fn waiters_in_a_queue_are_told_by_the_one_that_leaves() {
    all_add(Mode::Queue, None);
}

#[test]
fn nobody_sleeps_for_ever() {
    all_add(Mode::Park, None);
}

#[test]
fn a_queue_dissolves_when_its_threads_should_sleep() {
    all_add(Mode::Queue, Some(Mode::Park));
}

#[test]
fn sleepers_are_woken_when_all_should_spin() {
    all_add(Mode::Park, Some(Mode::Spin));
}

#[test]
fn sleepers_are_woken_to_queue() {
    all_add(Mode::Park, Some(Mode::Queue));
}

/// Long enough: no time passes in a model.
const LIMIT: Duration = Duration::from_secs(3600);

/// One that may give up leaves the queue before it has the lock, and the others stay in it: the lock is handed to them, or freed
/// for the other one.
#[test]
fn a_queue_of_threads_that_stay_and_one_that_may_give_up() {
    loom::model(|| {
        let mutex = pinned(Mode::Queue);
        let (patient, other) = (Arc::clone(&mutex), Arc::clone(&mutex));
        let others = [
            thread::spawn(move || patient.with(|value| *value += 1)),
            thread::spawn(move || {
                assert!(other.with_timeout(LIMIT, |value| *value += 1).is_some(), "no limit is reached")
            }),
        ];
        mutex.with(|value| *value += 1);
        others.into_iter().for_each(|other| other.join().expect("it adds"));
        assert_eq!(mutex.with(|value| *value), 3);
    });
}

/// A node that goes into a queue again is no longer looked at by the thread behind it.
#[test]
fn a_node_is_used_again() {
    loom::model(|| {
        let mutex = pinned(Mode::Queue);
        let held = mutex.lock();
        let add = |times: u32| {
            let theirs = Arc::clone(&mutex);
            thread::spawn(move || (0..times).for_each(|_| theirs.with(|value| *value += 1)))
        };
        let others = [add(2), add(1)];
        drop(held);
        others.into_iter().for_each(|other| other.join().expect("it adds"));
        assert_eq!(mutex.with(|value| *value), 3);
    });
}

/// Two tries in this mode, of a lock that somebody has had before.
fn two_try(mode: Mode) {
    loom::model(move || {
        let mutex = pinned(mode);
        let theirs = Arc::clone(&mutex);
        let other = thread::spawn(move || {
            theirs.with(|value| *value += 1);
            theirs.try_with(|value| *value += 1).is_some()
        });
        let added = u32::from(mutex.try_with(|value| *value += 1).is_some());
        let added = 1 + added + u32::from(other.join().expect("it tries"));
        assert_eq!(mutex.with(|value| *value), added);
    });
}

/// A try that succeeds in a mode whose free word is not zero has seen what the last holder did.
#[test]
fn a_try_in_another_mode() {
    two_try(Mode::Park);
}

/// One that finds the lock with an empty queue has seen it, too.
#[test]
fn a_try_at_a_queue_that_has_the_lock() {
    two_try(Mode::Queue);
}

/// Threads that come to an empty queue take the lock by that, and those that come by a limit leave the queue with it.
#[test]
fn a_queue_that_has_the_lock_gives_it_to_the_next_to_come() {
    loom::model(|| {
        let mutex = pinned(Mode::Queue);
        let theirs = Arc::clone(&mutex);
        let other = thread::spawn(move || {
            theirs.with(|value| *value += 1);
            assert!(theirs.with_timeout(LIMIT, |value| *value += 1).is_some(), "no limit is reached");
        });
        (0..2).for_each(|_| mutex.with(|value| *value += 1));
        other.join().expect("it adds");
        assert_eq!(mutex.with(|value| *value), 4);
    });
}

/// A thread that enters behind a try hangs itself into a node that was prepared before.
#[test]
fn one_enters_behind_a_try() {
    loom::model(|| {
        let mutex = pinned(Mode::Queue);
        mutex.with(|value| *value += 1);
        let theirs = Arc::clone(&mutex);
        let other = thread::spawn(move || theirs.with(|value| *value += 1));
        let added = u32::from(mutex.try_with(|value| *value += 1).is_some());
        other.join().expect("it adds");
        assert_eq!(mutex.with(|value| *value), 2 + added);
    });
}
