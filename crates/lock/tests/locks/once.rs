//! Closures that run once: in one of many threads, and again in the next after a panic.

use corecast_base::sync::{AtomicU32, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use corecast_lock::Once;

#[test]
fn one_of_many_threads_does_it_and_the_others_wait_for_it() {
    for _ in 0..50 {
        let (once, done, all) = (Once::new(), AtomicU32::new(0), Barrier::new(4));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    all.wait();
                    once.call_once(|| {
                        thread::sleep(Duration::from_micros(200));
                        done.fetch_add(1, Ordering::Relaxed);
                    });
                    assert_eq!(done.load(Ordering::Relaxed), 1, "it returned before it was done, or it was done again");
                });
            }
        });
        assert!(once.is_completed());
    }
}

#[test]
fn after_a_panic_the_next_thread_does_it() {
    let (once, mut calls) = (Once::default(), 0);
    let panicked = catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("not this time"))));
    assert!(panicked.is_err() && !once.is_completed());
    (0..3).for_each(|_| once.call_once(|| calls += 1));
    assert!(once.is_completed() && calls == 1);
    assert_eq!(format!("{once:?}"), "Once { is_completed: true }");
}
