//! Locks among processes: exclusion, and the lock of a participant that is killed.
//!
//! A test that needs another process starts this very program with a role (`roles.rs`).
#![cfg(not(loom))]

mod roles;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::PlaceSlice;
use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_lock::Algorithm;
use corecast_lock::shared::{self, DeclareError, KIND_LOCK, OpenError, SharedLock, SharedLockError};
use corecast_testing::actor::Actor;
use rustix::process::Signal;

const LOCK: &str = "lock";
const COUNTER: &str = "counter";
const ROUNDS: u64 = 300;
/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// A pair of numbers that only holders change.
struct Counter(PlaceSlice<AtomicU64>);

impl Counter {
    fn of(region: &SharedRegion) -> Self {
        let entry = region.entry(COUNTER).expect("declared");
        Self(region.section(&entry).words(0, 2).expect("room for two"))
    }

    /// Adds to both, and shows a torn pair if two are inside at once.
    fn add(&self, lock: &SharedLock) {
        let _guard = lock.lock().expect("nobody dies");
        let [first, second] = [0, 1].map(|at: usize| self.0[at].load(Ordering::Relaxed));
        assert_eq!(first, second, "two processes are inside");
        self.0[0].store(first + 1, Ordering::Relaxed);
        self.0[1].store(second + 1, Ordering::Relaxed);
    }

    fn value(&self) -> u64 {
        self.0[0].load(Ordering::Relaxed)
    }
}

fn plan(algorithm: Algorithm) -> RegionPlan {
    let plan = shared::declare(RegionPlan::new(), LOCK, algorithm).expect("for processes");
    plan.add(COUNTER, 100, [0; 6], 16).expect("a good name")
}

fn region(algorithm: Algorithm) -> SharedRegion {
    SharedRegion::memfd(&plan(algorithm)).expect("memory")
}

fn opened(algorithm: Algorithm) -> (SharedRegion, SharedLock) {
    let region = region(algorithm);
    let lock = SharedLock::open(&region, LOCK).expect("declared");
    (region, lock)
}

/// Waits until `holds`.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < LONG, "not within 20 s: {what}");
        thread::yield_now();
    }
}

#[test]
fn processes_and_threads_exclude_each_other_whatever_the_lock() {
    for algorithm in shared::ALGORITHMS {
        let (region, lock) = opened(algorithm);
        assert_eq!(lock.algorithm(), algorithm);
        let counter = Counter::of(&region);
        let mut actors = [(); 2].map(|()| roles::start("count", &region));
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "ready"));
        actors.iter_mut().for_each(Actor::nod);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..ROUNDS).for_each(|_| counter.add(&lock)));
            }
        });
        actors.iter_mut().for_each(|actor| assert_eq!(actor.hear(), "done", "{algorithm}"));
        assert_eq!(counter.value(), 4 * ROUNDS, "{algorithm}");
    }
}

#[test]
fn a_try_and_a_limit_fail_while_another_process_holds_it() {
    for algorithm in shared::ALGORITHMS {
        let (region, lock) = opened(algorithm);
        let mut actor = roles::start("hold", &region);
        assert_eq!(actor.hear(), "held");
        assert!(matches!(lock.try_lock(), Err(SharedLockError::WouldBlock)), "{algorithm}");
        let (start, limit) = (Instant::now(), Duration::from_millis(3));
        assert!(matches!(lock.lock_timeout(limit), Err(SharedLockError::Timeout)), "{algorithm}");
        assert!(start.elapsed() >= limit, "it gave up early");
        actor.nod();
        assert_eq!(actor.hear(), "freed");
        drop(lock.try_lock().expect("it is free"));
        drop(lock.lock_timeout(Duration::MAX).expect("it is free"));
        actor.dismiss();
    }
}

#[test]
fn the_lock_of_a_killed_process_goes_to_one_of_those_who_wait_who_is_told() {
    let (region, lock) = opened(Algorithm::Word);
    let mut holder = roles::start("hold", &region);
    assert_eq!(holder.hear(), "held");
    let mut waiting = [(); 3].map(|()| roles::start("wait", &region));
    for actor in &mut waiting {
        assert_eq!(actor.hear(), "waiting");
        roles::await_sleep(actor);
    }
    holder.kill();
    let mut told: Vec<String> = waiting.iter_mut().map(Actor::hear).collect();
    told.sort_unstable();
    assert_eq!(told, ["taken", "taken", "the owner died"]);
    drop(lock.lock().expect("nobody died since"));
}

#[test]
fn a_try_and_a_limit_find_a_killed_holder_too() {
    let (region, lock) = opened(Algorithm::Word);
    for by_try in [true, false] {
        let mut holder = roles::start("hold", &region);
        assert_eq!(holder.hear(), "held");
        holder.kill();
        let taken = if by_try { lock.try_lock() } else { lock.lock_timeout(LONG) };
        let Err(error) = taken else { panic!("nobody told that the holder died") };
        assert!(error.to_string().starts_with("the process that held the lock is gone"), "{error}");
        let SharedLockError::OwnerDied(guard) = error else { panic!("{error}") };
        assert!(matches!(lock.try_lock(), Err(SharedLockError::WouldBlock)), "it is taken");
        drop(guard);
        drop(lock.try_lock().expect("it is repaired"));
    }
}

#[test]
fn a_repairer_that_is_killed_too_leaves_it_to_the_next() {
    let (region, lock) = opened(Algorithm::Word);
    for _ in 0..2 {
        // Each is killed while it holds what the one before left.
        let mut holder = roles::start("hold", &region);
        let said = thread::scope(|scope| scope.spawn(|| holder.hear()).join());
        assert_eq!(said.expect("it says so"), "held");
        holder.kill();
        let Err(SharedLockError::OwnerDied(guard)) = lock.lock() else { panic!("the holder died") };
        drop(guard);
    }
    drop(lock.lock().expect("nobody died since"));
}

#[test]
fn a_killed_waiter_holds_nobody_up() {
    let (region, lock) = opened(Algorithm::Word);
    let guard = lock.lock().expect("it is free");
    let mut waiting = [(); 3].map(|()| roles::start("wait", &region));
    for actor in &mut waiting {
        assert_eq!(actor.hear(), "waiting");
        roles::await_sleep(actor);
    }
    let [killed, stopped, mut last] = waiting;
    // The first was stopped, so that it is the one that is woken and can do nothing, and is killed then.
    stopped.signal(Signal::STOP);
    killed.kill();
    drop(guard);
    stopped.kill();
    assert_eq!(last.hear(), "taken");
}

#[test]
fn a_stopped_holder_is_alive() {
    let (region, lock) = opened(Algorithm::Word);
    let mut holder = roles::start("hold", &region);
    assert_eq!(holder.hear(), "held");
    holder.signal(Signal::STOP);
    assert!(matches!(lock.lock_timeout(Duration::from_millis(150)), Err(SharedLockError::Timeout)));
    holder.signal(Signal::CONT);
    holder.nod();
    assert_eq!(holder.hear(), "freed");
    drop(lock.lock().expect("it is free"));
}

#[test]
fn one_that_leaves_without_a_word_leaves_the_lock_to_others() {
    let (region, lock) = opened(Algorithm::Word);
    let mut leaves = roles::start("leave", &region);
    assert_eq!(leaves.hear(), "held");
    assert!(matches!(lock.try_lock(), Err(SharedLockError::WouldBlock)));
    leaves.dismiss();
    assert!(matches!(lock.lock(), Err(SharedLockError::OwnerDied(_))));
    drop(lock.lock().expect("the guard in the error was dropped"));
}

#[test]
fn a_forked_child_has_no_part_in_it() {
    for role in ["fork", "fork with the memory"] {
        let (region, lock) = opened(Algorithm::Word);
        let mut forks = roles::start(role, &region);
        assert_eq!(forks.hear(), "refused", "{role}");
        assert!(matches!(lock.try_lock(), Err(SharedLockError::WouldBlock)), "{role}: its parent holds it");
        forks.dismiss();
        drop(lock.lock().expect("the parent has freed it"));
    }
}

#[test]
fn another_thread_of_the_holder_waits_for_it() {
    for region in [region(Algorithm::Word), SharedRegion::heap(&plan(Algorithm::Word)).expect("memory")] {
        let lock = SharedLock::open(&region, LOCK).expect("declared");
        let guard = lock.lock().expect("it is free");
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert!(matches!(lock.lock_timeout(Duration::from_millis(3)), Err(SharedLockError::Timeout)));
                tell.send(()).expect("the test waits");
                drop(lock.lock().expect("nobody died"));
            });
            told.recv().expect("it gives up first");
            drop(guard);
        });
    }
}

#[test]
fn nonsense_in_the_word_is_nobody_who_lives() {
    let (region, lock) = opened(Algorithm::Word);
    let word = region.section(&region.entry(LOCK).expect("declared")).words(0, 1).expect("room");
    for nonsense in [1, u64::MAX, 77 << 20 | 5, 3 << 30] {
        word[0].store(nonsense, Ordering::Relaxed);
        assert!(matches!(lock.lock(), Err(SharedLockError::OwnerDied(_))), "{nonsense:#x}");
        drop(lock.lock().expect("the guard in the error was dropped"));
    }
}

#[test]
fn a_lock_that_cannot_be_declared_or_opened_is_named() {
    let refused = shared::declare(RegionPlan::new(), "queue", Algorithm::Mcs).expect_err("it has pointers");
    assert!(matches!(refused, DeclareError::NotShared { .. }));
    assert_eq!(
        refused.to_string(),
        "lock 'queue' cannot be of the algorithm mcs, which is for the threads of one process"
    );
    let twice = shared::declare(plan(Algorithm::Word), LOCK, Algorithm::Tas);
    assert!(matches!(twice, Err(DeclareError::Plan(_))));
    let plan = plan(Algorithm::Tas).add("later", KIND_LOCK, [99, 0, 0, 0, 0, 0], 128).expect("a good name");
    let plan = plan.add("queue", KIND_LOCK, [Algorithm::Mcs as u64, 0, 0, 0, 0, 0], 128).expect("a good name");
    let region = SharedRegion::heap(&plan).expect("memory");
    let open = |name| SharedLock::open(&region, name).expect_err("no lock");
    assert_eq!(open("lok"), OpenError::NoLock("lok".to_owned()));
    assert_eq!(open(COUNTER).to_string(), "'counter' is of kind 100, not a lock");
    assert_eq!(open("later").to_string(), "lock 'later' is damaged: its algorithm has the number 99");
    assert!(matches!(open("queue"), OpenError::Algorithm { .. }));
}
