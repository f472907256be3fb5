//! The promises of combined data, by all ways to send closures to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use corecast_lock::{Combine, Setup};

use crate::pair::add;

const THREADS: usize = 6;
const ROUNDS: usize = 2000;
const SHORT: Duration = Duration::from_millis(2);

#[test]
fn all_closures_run_once_and_one_at_a_time() {
    for share in [1, 2, THREADS] {
        let combine = Combine::for_setup((0, 0), &Setup::of_threads(share));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for round in 0..ROUNDS {
                        // It borrows from its caller, and its result gets there.
                        let mut ran = 0;
                        let returned = combine.run(|pair| {
                            add(pair);
                            ran += 1;
                            Box::new(round)
                        });
                        assert_eq!((ran, *returned), (1, round));
                    }
                });
            }
        });
        assert_eq!(combine.into_inner(), (THREADS * ROUNDS, THREADS * ROUNDS));
    }
}

#[test]
fn all_ways_mixed_exclude_each_other() {
    for share in [1, THREADS] {
        let combine = Combine::for_setup((0, 0), &Setup::of_threads(share));
        let done: usize = thread::scope(|scope| {
            let run = |seed| {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut once = || match random.u8(..3) {
                    0 => combine.try_run(add).is_ok(),
                    1 => combine.run_timeout(Duration::from_micros(random.u64(..100)), add).is_ok(),
                    _ => {
                        let is_long = random.u8(..50) == 0;
                        combine.run(|pair| {
                            add(pair);
                            if is_long {
                                thread::sleep(Duration::from_micros(50));
                            }
                            true
                        })
                    }
                };
                (0..ROUNDS).filter(|_| once()).count()
            };
            let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
            threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
        });
        assert!(done >= THREADS * ROUNDS / 4, "{done}");
        assert_eq!(combine.into_inner(), (done, done));
    }
}

#[test]
fn a_try_and_a_limit_give_the_closure_back_while_it_is_taken() {
    let combine = Combine::new(0);
    let (inside, tried) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            combine.run(|value| {
                inside.wait();
                tried.wait();
                *value = 1;
            });
        });
        inside.wait();
        let text = String::from("mine");
        let f = combine.try_run(move |value: &mut i32| (*value, text)).expect_err("it is taken");
        let start = Instant::now();
        let f = combine.run_timeout(SHORT, f).expect_err("it is taken");
        assert!(start.elapsed() >= SHORT, "it gave up early");
        let f = combine.run_timeout(Duration::ZERO, f).expect_err("it is taken");
        assert_eq!(format!("{combine:?}"), "Combine { <taken> }");
        tried.wait();
        assert_eq!(combine.run(f), (1, "mine".to_owned()));
    });
    assert_eq!(combine.try_run(|value| *value).ok(), Some(1));
    assert_eq!(combine.run_timeout(Duration::ZERO, |value| *value).ok(), Some(1), "free data needs no time");
    assert_eq!(combine.run_timeout(Duration::MAX, |value| *value).ok(), Some(1));
    assert_eq!(format!("{combine:?}"), "Combine { data: 1, .. }");
}

/// Sends a closure that takes longer than its limit to a combiner; whether it was begun there, and waited for.
fn a_late_one_is_begun_by_another() -> bool {
    let combine = Combine::new(None);
    let inside = Barrier::new(2);
    let (here, limit) = (thread::current().id(), 5 * SHORT);
    thread::scope(|scope| {
        scope.spawn(|| {
            combine.run(|_| {
                inside.wait();
                thread::sleep(SHORT);
            });
        });
        inside.wait();
        let long = |by: &mut Option<thread::ThreadId>| {
            thread::sleep(2 * limit);
            *by = Some(thread::current().id());
        };
        if combine.run_timeout(limit, long).is_ok() {
            assert!(combine.run(|by| by.is_some()), "it has returned before its closure");
        }
    });
    combine.into_inner().is_some_and(|by| by != here)
}

#[test]
fn a_closure_that_has_begun_is_waited_for() {
    assert!((0..100).any(|_| a_late_one_is_begun_by_another()), "the other thread never came to it in time");
}

#[test]
fn a_panic_goes_on_in_its_caller_and_in_nobody_else() {
    let combine = Combine::for_setup(0, &Setup::of_threads(2));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let combine = &combine;
            scope.spawn(move || {
                for round in 0..100 {
                    let run = || {
                        combine.run(|count| {
                            *count += 1;
                            assert!(round % 3 > 0, "{thread} in {round}");
                        });
                    };
                    match catch_unwind(AssertUnwindSafe(run)) {
                        Ok(()) => assert!(round % 3 > 0),
                        Err(panic) => {
                            assert_eq!(panic.downcast_ref(), Some(&format!("{thread} in {round}")));
                        }
                    }
                }
            });
        }
    });
    assert_eq!(combine.into_inner(), THREADS * 100);
}

#[test]
fn a_closure_inside_a_closure_is_told_wherever_it_runs() {
    const RULE: &str = "a closure that runs on combined data must not run another one on the same";
    let (outer, inner) = (Combine::new(0), Combine::new(0));
    let told = |run: &(dyn Fn() + Sync)| {
        let panic = catch_unwind(AssertUnwindSafe(|| outer.run(|_| run()))).expect_err("it would wait for itself");
        assert_eq!(panic.downcast_ref(), Some(&RULE));
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..20 {
                    told(&|| outer.run(|_| ()));
                    told(&|| assert!(outer.run_timeout(SHORT, |_| ()).is_ok()));
                    told(&|| inner.run(|_| outer.run(|_| ())));
                }
            });
        }
    });
    outer.run(|count| {
        assert!(outer.try_run(|_| ()).is_err(), "a try does not wait");
        inner.run(|inner| *inner += 1);
        *count += 1;
    });
    assert_eq!((outer.into_inner(), inner.into_inner()), (1, 1));
}
