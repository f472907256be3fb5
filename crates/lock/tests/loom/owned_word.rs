//! Models of the word of a lock among processes: exclusion, sleep, and the lock of one that is gone.

use corecast_base::sync::{Arc, Scope, UnsafeCell};
use corecast_lock::shared::{Outcome, OwnedWord, Owner};
use loom::thread;

struct Shared {
    word: OwnedWord,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is reached while the lock is held.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

fn owner(seat: u32) -> Owner {
    Owner::new(seat, 1).expect("the region has this seat")
}

/// The owner that is gone in these models.
fn gone() -> Owner {
    owner(9)
}

fn is_gone(owner: Owner) -> bool {
    owner == gone()
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self { word: OwnedWord::new(), value: UnsafeCell::new(0) })
    }

    /// Adds once the lock is held, and frees it; 1 if it was.
    fn add_held(&self, outcome: Outcome) -> u32 {
        if outcome == Outcome::Held {
            return 0;
        }
        // SAFETY: the lock is held.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.word.unlock(Scope::Process);
        1
    }

    fn add(&self, seat: u32) -> Outcome {
        let outcome = self.word.lock(owner(seat), Scope::Process, is_gone, || Some(std::time::Duration::MAX));
        self.add_held(outcome);
        outcome
    }

    fn try_add(&self, seat: u32) -> u32 {
        self.add_held(self.word.try_lock(owner(seat), is_gone))
    }

    fn value(&self) -> u32 {
        // SAFETY: all others have ended.
        self.value.with(|value| unsafe { *value })
    }
}

#[test]
fn two_processes_sleep_for_each_other() {
    loom::model(|| {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || [theirs.add(1), theirs.add(1)]);
        assert_eq!(shared.add(2), Outcome::Taken);
        assert_eq!(other.join().expect("it adds"), [Outcome::Taken; 2]);
        assert_eq!(shared.value(), 3);
    });
}

#[test]
fn three_processes_sleep_for_each_other() {
    loom::model(|| {
        let shared = Shared::new();
        let others = [1, 2].map(|seat| {
            let theirs = Arc::clone(&shared);
            thread::spawn(move || theirs.add(seat))
        });
        shared.add(3);
        others.into_iter().for_each(|other| assert_eq!(other.join().expect("it adds"), Outcome::Taken));
        assert_eq!(shared.value(), 3);
    });
}

#[test]
fn a_try_sees_what_the_last_holder_did() {
    loom::model(|| {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || theirs.add(1));
        let added = 1 + shared.try_add(2);
        other.join().expect("it adds");
        assert_eq!(shared.value(), added);
    });
}

/// The next owner sees all that the dead one and its predecessor did before they took the lock.
#[test]
fn one_of_two_takes_the_lock_of_one_that_is_gone() {
    loom::model(|| {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let dying = thread::spawn(move || {
            let added = theirs.try_add(8);
            let taken = theirs.word.try_lock(gone(), is_gone);
            // A thread that has ended holds it, and no other one takes it for alive.
            (added, u32::from(taken != Outcome::Held))
        });
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || theirs.add(1));
        let mine = shared.add(2);
        let (added, died) = dying.join().expect("it dies as it should");
        let from_gone =
            [mine, other.join().expect("it adds")].map(|outcome| u32::from(outcome == Outcome::TakenFromGone));
        let last = shared.word.try_lock(owner(3), is_gone);
        assert_eq!(from_gone[0] + from_gone[1] + u32::from(last == Outcome::TakenFromGone), died);
        assert_eq!(shared.value(), 2 + added);
    });
}

/// So does a try, which has not exchanged the word before.
#[test]
fn a_try_takes_the_lock_of_one_that_is_gone() {
    loom::model(|| {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let dying = thread::spawn(move || {
            let added = theirs.try_add(8);
            theirs.word.try_lock(gone(), is_gone);
            added
        });
        let added = shared.try_add(2);
        assert_eq!(dying.join().expect("it dies as it should") + added, shared.value());
    });
}
