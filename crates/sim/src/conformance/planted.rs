//! Locks with a bug each, which trials must find.

use std::time::Duration;

use corecast_base::sync::{AtomicU32, Ordering, Scope, futex_wait, futex_wake, spin_hint};
use corecast_lock::{Facts, RawLock, Setup, Tas};

use super::{Failure, Fault, Trial, check_of};

/// Looks and then writes where it should exchange: two threads may both find it free.
struct LoadThenStore(AtomicU32);

// SAFETY: none; that is the bug.
unsafe impl RawLock for LoadThenStore {
    type Node = ();
    type Alignment = ();
    const FACTS: Facts = Tas::FACTS;

    fn new(_: &Setup) -> Self {
        Self(AtomicU32::new(0))
    }

    unsafe fn lock(&self, (): &()) {
        // ORDERING: Acquire, pairs with the Release in unlock [planted-store]
        while self.0.load(Ordering::Acquire) != 0 {
            spin_hint();
        }
        // ORDERING: SeqCst, forbids nothing: the load before it is the bug
        self.0.store(1, Ordering::SeqCst);
    }

    unsafe fn try_lock(&self, (): &()) -> bool {
        false
    }

    unsafe fn unlock(&self, (): &()) {
        // ORDERING: Release, pairs with the Acquire in lock [planted-store]
        self.0.store(0, Ordering::Release);
    }
}

/// Sleeps. Its unlock looks for sleepers before it frees the word: a thread that comes between falls asleep, and is not woken.
struct LooksTooEarly {
    state: AtomicU32,
    waiting: AtomicU32,
}

// SAFETY: it excludes; that a thread may sleep for ever is the bug.
unsafe impl RawLock for LooksTooEarly {
    type Node = ();
    type Alignment = ();
    const FACTS: Facts = Tas::FACTS;

    fn new(_: &Setup) -> Self {
        Self { state: AtomicU32::new(0), waiting: AtomicU32::new(0) }
    }

    unsafe fn lock(&self, (): &()) {
        // ORDERING: SeqCst, pairs with itself; the count of sleepers is looked at around it
        while self.state.swap(1, Ordering::SeqCst) != 0 {
            // ORDERING: SeqCst, pairs with the load in unlock; does not forbid that it misses a sleeper, which is the bug
            self.waiting.fetch_add(1, Ordering::SeqCst);
            futex_wait(&self.state, 1, Duration::from_millis(100), Scope::Process);
            // ORDERING: SeqCst, as above
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }

    unsafe fn try_lock(&self, (): &()) -> bool {
        false
    }

    unsafe fn unlock(&self, (): &()) {
        // ORDERING: SeqCst, pairs with the additions in lock; comes too early, which is the bug
        let has_sleepers = self.waiting.load(Ordering::SeqCst) > 0;
        // ORDERING: SeqCst, pairs with the swap in lock
        self.state.store(0, Ordering::SeqCst);
        if has_sleepers {
            futex_wake(&self.state, 1, Scope::Process);
        }
    }
}

/// The failures of this number of seeds.
fn failures<L: RawLock + 'static>(seeds: u64) -> Vec<Failure> {
    (0..seeds).filter_map(|seed| check_of::<L>("planted", Trial::of_seed(seed)).err()).collect()
}

#[test]
fn a_lock_that_does_not_exchange_is_found_and_the_failure_repeats() {
    let failures = failures::<LoadThenStore>(50);
    assert!(failures.iter().any(|failure| matches!(*failure.fault, Fault::Overlap { .. })));
    for failure in &failures {
        // A holder that comes before the last one's stores does not see its name, and misses its addition.
        assert!(matches!(*failure.fault, Fault::Overlap { .. } | Fault::Lost { .. }), "{failure}");
        assert!(failure.to_string().contains(&format!("seed {}", failure.trial.seed)), "{failure}");
        // With the same access.
        assert_eq!(check_of::<LoadThenStore>("planted", failure.trial).as_ref(), Err(failure));
    }
}

#[test]
fn a_lost_wake_up_is_found_and_the_failure_repeats() {
    let failures = failures::<LooksTooEarly>(200);
    assert!(!failures.is_empty());
    for failure in &failures {
        let words = failure.to_string();
        assert!(words.contains("sleeps at") && words.ends_with(&format!("(seed {})", failure.trial.seed)), "{words}");
        assert_eq!(check_of::<LooksTooEarly>("planted", failure.trial).as_ref(), Err(failure));
    }
}
