//! Models of the lock of a word and a queue.

use corecast_base::sync::Arc;
use corecast_lock::{Mutex, Qword};
use loom::thread;

/// A try that comes between a holder and the first of the queue has seen what that holder did. That takes three switches: the
/// first comes to a lock that is held, does not get to sleep, and the try is before it.
#[test]
fn a_try_past_the_queue() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let lock: Arc<Mutex<u32, Qword>> = Arc::new(Mutex::from(0));
        let mut held = lock.lock();
        let (first, tries) = (Arc::clone(&lock), Arc::clone(&lock));
        let first = thread::spawn(move || first.with(|value| *value += 1));
        let tries = thread::spawn(move || u32::from(tries.try_with(|value| *value += 1).is_some()));
        *held += 1;
        drop(held);
        first.join().expect("it adds");
        let added = tries.join().expect("it tries");
        assert_eq!(lock.with(|value| *value), 2 + added);
    });
}
