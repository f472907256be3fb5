//! Models of the status word alone: which of its states hand over what.

use corecast_base::sync::{Arc, AtomicU64, Ordering, UnsafeCell};
use corecast_tm::status::{State, Status, Why};
use corecast_tm::stored::StoredWord;
use loom::thread;

/// A status, and something that its owner's lock guards.
struct Owned {
    status: AtomicU64,
    guarded: UnsafeCell<u64>,
}

// SAFETY: the models find every access that is not ordered with the others
unsafe impl Sync for Owned {}

impl Owned {
    fn new() -> Self {
        Self { status: AtomicU64::new(0), guarded: UnsafeCell::new(0) }
    }

    fn status(&self) -> Status<'_> {
        Status::of(&self.status)
    }

    fn get(&self) -> u64 {
        // SAFETY: the models find a write that is not ordered with this
        self.guarded.with(|value| unsafe { *value })
    }

    fn set(&self, new: u64) {
        // SAFETY: the models find an access that is not ordered with this
        self.guarded.with_mut(|value| unsafe { *value = new });
    }
}

/// The owner runs `owner`; another one writes once the lock of the first attempt is not in its way.
fn next_writer(owner: fn(&Owned)) {
    loom::model(move || {
        let shared = Arc::new(Owned::new());
        shared.status().begin(1);
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || match other.status().read() {
            (1, State::Running | State::Persisting) => {}
            _ => other.set(2),
        });
        owner(&shared);
        other.join().expect("it ends");
    });
}

#[test]
fn reads_come_before_those_of_the_next_writer() {
    next_writer(|shared| {
        shared.get();
        assert!(shared.status().try_commit_reads(1));
    });
}

#[test]
fn reads_of_an_attempt_that_is_given_up_come_before_the_next_writer() {
    next_writer(|shared| {
        shared.get();
        shared.status().give_up(1);
    });
}

#[test]
fn the_next_attempt_hands_over_too() {
    next_writer(|shared| {
        shared.get();
        shared.status().begin(2);
    });
}

#[test]
fn values_of_a_commit_are_there() {
    next_writer(|shared| {
        assert!(shared.status().try_persist(1));
        shared.set(1);
        shared.status().commit(1);
    });
}

#[test]
fn the_log_of_one_that_persists_is_complete() {
    loom::model(|| {
        let shared = Arc::new(Owned::new());
        shared.status().begin(1);
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || {
            if other.status().read() == (1, State::Persisting) {
                assert_eq!(other.get(), 5);
            }
        });
        shared.set(5);
        assert!(shared.status().try_persist(1));
        other.join().expect("it ends");
    });
}

/// A reader without locks waits for commits that are under way: of one whose first value it has seen it then sees the others.
#[test]
fn an_elastic_reader_sees_no_half_of_a_commit() {
    loom::model(|| {
        let shared = Arc::new((AtomicU64::new(0), [AtomicU64::new(0), AtomicU64::new(0)]));
        let (status, [first, second]) = &*shared;
        Status::of(status).begin(1);
        let other = Arc::clone(&shared);
        let other = thread::spawn(move || {
            let (status, [first, second]) = &*other;
            let seen = StoredWord::of(first).load();
            // While it stores the reader would look again.
            if Status::of(status).read() != (1, State::Persisting) {
                assert!(StoredWord::of(second).load() >= seen);
            }
        });
        assert!(Status::of(status).try_persist(1));
        StoredWord::of(first).store(1);
        StoredWord::of(second).store(1);
        Status::of(status).commit(1);
        other.join().expect("it ends");
    });
}

/// An abort and the owner's step meet: exactly one of them wins.
#[test]
fn an_attempt_ends_once() {
    let owners: [fn(Status<'_>, u64) -> bool; 2] =
        [|status, epoch| status.try_persist(epoch), |status, epoch| status.try_commit_reads(epoch)];
    for owner in owners {
        loom::model(move || {
            let status = Arc::new(AtomicU64::new(0));
            Status::of(&status).begin(1);
            let other = Arc::clone(&status);
            let other = thread::spawn(move || Status::of(&other).try_abort(1, Why::War));
            let is_done = owner(Status::of(&status), 1);
            let is_aborted = other.join().expect("it ends");
            assert_ne!(is_done, is_aborted);
            assert_eq!(Status::of(&status).read().1 == State::Aborted(Why::War), is_aborted);
        });
    }
}

/// An abort that comes late does not meet the next attempt.
#[test]
fn a_late_abort_misses() {
    loom::model(|| {
        let status = Arc::new(AtomicU64::new(0));
        Status::of(&status).begin(1);
        let other = Arc::clone(&status);
        let other = thread::spawn(move || Status::of(&other).try_abort(1, Why::Raw));
        let has_committed = Status::of(&status).try_commit_reads(1);
        Status::of(&status).begin(2);
        let is_aborted = other.join().expect("it ends");
        assert_ne!(has_committed, is_aborted);
        assert!(Status::of(&status).is_running(2));
        // ORDERING: Relaxed, the other thread has ended
        assert_eq!(status.load(Ordering::Relaxed) >> 8, 2);
    });
}
