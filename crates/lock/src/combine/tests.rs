//! The threads that run requests, seen from inside.

use std::sync::Barrier;
use std::thread::{self, ThreadId};

use corecast_base::wait::Spinner;

use super::*;

/// Takes `combine`, lets `others` threads push a closure each, and leaves. Returns the threads that ran them.
fn who_runs(share: usize, others: usize) -> Vec<ThreadId> {
    let combine: Combine<Vec<ThreadId>> = Combine::for_setup(Vec::new(), &Setup::of_threads(share));
    thread::scope(|scope| {
        combine.run(|_| {
            for _ in 0..others {
                let before = combine.queue.last();
                scope.spawn(|| combine.run(|ran| ran.push(thread::current().id())));
                let mut spinner = Spinner::new();
                while combine.queue.last() == before {
                    spinner.pause();
                }
            }
        });
    });
    combine.into_inner()
}

#[test]
fn the_holder_of_the_data_runs_the_closures_of_waiters() {
    assert_eq!(who_runs(8, 3), [thread::current().id(); 3]);
}

#[test]
fn nobody_runs_more_than_its_share_and_the_rest_is_run_all_the_same() {
    let ran = who_runs(2, 6);
    assert_eq!(ran.len(), 6);
    let mine = ran.iter().filter(|&&thread| thread == thread::current().id()).count();
    assert_eq!(mine, 2);
    assert_eq!(ran[..2], [thread::current().id(); 2], "the oldest first");
    // One that is called runs its own closure, and one more at most.
    assert!(ran[2..].chunk_by(PartialEq::eq).all(|run| run.len() <= 2), "{ran:?}");
}

#[test]
fn a_closure_that_is_withdrawn_is_left_for_others_to_free() {
    let combine: Combine<u32> = Combine::new(0);
    let (inside, tried) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            combine.run(|_| {
                inside.wait();
                tried.wait();
            });
        });
        inside.wait();
        for _ in 0..3 {
            assert!(combine.run_timeout(Duration::from_millis(1), |count| *count += 1).is_err(), "it is taken");
        }
        assert!(combine.run_timeout(Duration::ZERO, |count| *count += 1).is_err(), "it is taken");
        assert!(!combine.queue.last().is_null(), "all three are there");
        tried.wait();
    });
    assert!(combine.queue.last().is_null());
    assert_eq!(combine.run(|count| *count), 0, "none of them ran");
}

#[test]
fn one_that_gives_up_when_it_is_called_calls_the_next() {
    for round in 0..200 {
        let combine: Combine<u32> = Combine::for_setup(0, &Setup::of_threads(1));
        let ran: u32 = thread::scope(|scope| {
            let run = |micros| match combine.run_timeout(Duration::from_micros(micros), |count| *count += 1) {
                Ok(()) => 1,
                Err(_) => 0,
            };
            let timed = [10, 30, 50].map(|micros| scope.spawn(move || run(micros + round)));
            let others = [(); 2].map(|()| {
                scope.spawn(|| {
                    combine.run(|count| {
                        *count += 1;
                        corecast_base::sync::spin_for(Duration::from_micros(30));
                    });
                    1
                })
            });
            timed.into_iter().chain(others).map(|thread| thread.join().expect("nobody panics")).sum()
        });
        assert_eq!(combine.into_inner(), ran);
    }
}
