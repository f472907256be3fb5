//! Waits of the library end in the simulated world when they would on a machine, whatever the other threads do.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::{CpuSharing, Spinner, Wait, Waiter, WakeWord};
use corecast_sim::alone;
use corecast_sim::machine::{Run, Thread, published};

/// The length of the wait of a thread beside one that adds to another word for a millisecond, so that there is always something
/// left to happen; in nanoseconds.
fn length(wait: impl FnOnce() + 'static) -> u64 {
    let _alone = alone();
    let machine = published::opteron_4x12();
    let mut run = Run::new(&machine);
    let (length, word) = (Rc::new(Cell::new(0)), Arc::new(AtomicU64::new(0)));
    let told = Rc::clone(&length);
    let waiter = move |me: &Thread| {
        me.work_ns(100);
        let begin = me.now_ns();
        wait();
        told.set(me.now_ns() - begin);
    };
    run.spawn(0, 0, waiter).expect("there is memory");
    let adder = move |me: &Thread| {
        while me.now_ns() < 1_000_000 {
            // ORDERING: Relaxed, nothing is read by it
            word.fetch_add(1, Ordering::Relaxed);
            me.work_ns(50);
        }
    };
    run.spawn(1, 0, adder).expect("there is memory");
    run.finish(machine.ticks(10_000_000)).expect("both end");
    length.get()
}

#[test]
fn a_spinner_is_spent_after_the_time_of_a_wake_up() {
    let flag = AtomicU64::new(0);
    let spent = length(move || {
        let mut spinner = Spinner::new();
        // ORDERING: Relaxed, nothing is read by it
        while flag.load(Ordering::Relaxed) == 0 && !spinner.is_spent() {
            spinner.pause();
        }
    });
    assert!((20_000..21_000).contains(&spent), "{spent} ns");
}

#[test]
fn a_waiter_gives_up_at_its_limit_and_sleeps_before() {
    for (limit_us, sleeps) in [(10, false), (200, true)] {
        let (flag, limit) = (AtomicU64::new(0), Duration::from_micros(limit_us));
        let waited = length(move || {
            let mut waiter = Waiter::new(Wait::Adaptive, CpuSharing::pinned(2, 1), None);
            // ORDERING: Relaxed, nothing is read by it
            let poll = || (flag.load(Ordering::Relaxed) > 0).then_some(());
            let check = |waited: Duration| limit.checked_sub(waited).ok_or(());
            waiter.until(&WakeWord::new(Wait::Adaptive), poll, check).expect_err("nothing is ever published");
            assert_eq!(waiter.counts().parks > 0, sleeps, "{:?}", waiter.counts());
        });
        let limit_ns = limit_us * 1000;
        // A sleep ends 30 us late where it has to be scheduled.
        assert!((limit_ns..limit_ns + 35_000).contains(&waited), "{waited} ns of {limit_ns}");
    }
}
