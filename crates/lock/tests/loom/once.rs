//! Models of `Once`: one of two threads does it, and both see what was done.

use corecast_base::sync::{Arc, UnsafeCell};
use corecast_lock::Once;
use loom::thread;

struct Shared {
    once: Once,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is written once, by the thread that does it, and read by those that know it is done.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self { once: Once::new(), value: UnsafeCell::new(0) })
    }

    fn get(&self) -> u32 {
        // SAFETY: one thread does it, and nobody reads before it is done.
        self.once.call_once(|| self.value.with_mut(|value| unsafe { *value += 1 }));
        self.read()
    }

    fn read(&self) -> u32 {
        // SAFETY: it is done.
        self.value.with(|value| unsafe { *value })
    }
}

#[test]
fn it_is_done_once_and_all_see_it() {
    loom::model(|| {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || theirs.get());
        assert_eq!(shared.get(), 1);
        assert_eq!(other.join().expect("no thread panics"), 1);
    });
}

/// One that never waits for the lock sees it only by the flag.
#[test]
fn a_thread_that_finds_it_done_sees_what_was_done() {
    loom::model(|| {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || theirs.once.is_completed().then(|| theirs.read()));
        shared.get();
        assert!(matches!(other.join().expect("no thread panics"), None | Some(1)));
    });
}
