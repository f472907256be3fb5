//! The promises of delegated data.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use corecast_lock::{Delegate, delegate};

const THREADS: usize = 6;
const ROUNDS: usize = 2000;
const SHORT: Duration = Duration::from_millis(2);

fn new<T: Send + 'static>(value: T) -> Delegate<T> {
    Delegate::new(value).expect("there can be one more thread")
}

#[test]
fn all_closures_run_once_and_on_one_thread() {
    let data = new((0, None));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    // It borrows from its caller, and its result gets there.
                    let mut ran = 0;
                    let returned = data.run(|(count, server)| {
                        let here = thread::current().id();
                        assert_eq!(*server.get_or_insert(here), here);
                        *count += 1;
                        ran += 1;
                        Box::new(round)
                    });
                    assert_eq!((ran, *returned), (1, round));
                }
            });
        }
    });
    let (count, server) = data.into_inner();
    assert_eq!(count, THREADS * ROUNDS);
    assert_ne!(server, Some(thread::current().id()));
}

/// More threads than there are lines: some push their closures, and lines go from thread to thread.
#[test]
fn closures_and_results_of_any_size_reach_the_right_caller() {
    const CLIENTS: u64 = 80;
    let data = new(0_u64);
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let data = &data;
            scope.spawn(move || {
                for round in 0..ROUNDS as u64 / 20 {
                    let key = client << 32 | round;
                    let wide = [key; 16];
                    assert_eq!(data.run(move |sum| (*sum += 1, !key).1), !key, "both small");
                    assert_eq!(data.run(move |sum| (*sum += 1, wide[15]).1), key, "a large closure");
                    assert_eq!(data.run(move |sum| (*sum += 1, [key; 16]).1), wide, "a large result");
                    assert_eq!(data.run(move |sum| (*sum += 1, format!("{key}")).1), key.to_string());
                }
            });
        }
    });
    assert_eq!(data.into_inner(), 4 * CLIENTS * (ROUNDS as u64 / 20));
}

#[test]
fn a_server_that_sleeps_is_woken() {
    let data = new(0);
    for _ in 0..20 {
        // Longer than it spins.
        thread::sleep(SHORT);
        data.run(|count| *count += 1);
    }
    assert_eq!(data.into_inner(), 20);
}

#[test]
fn a_limit_gives_the_closure_back_and_the_others_run() {
    let data = new(0);
    let (inside, tried) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.run(|_| {
                inside.wait();
                tried.wait();
            });
        });
        inside.wait();
        let text = String::from("mine");
        let start = Instant::now();
        let f = data.run_timeout(SHORT, move |count: &mut i32| (*count, text)).expect_err("it is busy");
        assert!(start.elapsed() >= SHORT, "it gave up early");
        let f = data.run_timeout(Duration::ZERO, f).expect_err("it is busy");
        tried.wait();
        assert_eq!(data.run(f), (0, "mine".to_owned()));
    });
    assert_eq!(data.run_timeout(Duration::MAX, |count| *count).ok(), Some(0));
}

#[test]
fn limits_and_none_mixed_run_as_often_as_they_say() {
    let data = new(0);
    let done: usize = thread::scope(|scope| {
        let run = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut once = || match random.u8(..2) {
                0 => data.run_timeout(Duration::from_micros(random.u64(..50)), |count| *count += 1).is_ok(),
                _ => data.run(|count| (*count += 1, true).1),
            };
            (0..ROUNDS).filter(|_| once()).count()
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
    });
    assert!(done >= THREADS * ROUNDS / 4, "{done}");
    assert_eq!(data.into_inner(), done);
}

#[test]
fn a_panic_goes_on_in_its_caller_and_the_server_goes_on() {
    let data = new(0);
    for round in 0..10 {
        let run = || {
            data.run(|count| {
                *count += 1;
                assert!(round % 2 > 0, "in {round}");
            });
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(()) => assert!(round % 2 > 0),
            Err(panic) => assert_eq!(panic.downcast_ref(), Some(&format!("in {round}"))),
        }
    }
    assert_eq!(data.into_inner(), 10);
}

#[test]
fn a_server_that_would_wait_for_itself_is_told() {
    const RULE: &str = "the thread of a server must not wait for itself";
    let data = new(0);
    let panic = catch_unwind(AssertUnwindSafe(|| data.run(|_| data.run(|_| ())))).expect_err("it would wait");
    assert_eq!(panic.downcast_ref(), Some(&RULE));
    let start = || {
        delegate::serve(0, |clients| clients.run(|_| ()));
    };
    assert_eq!(catch_unwind(start).expect_err("it does not serve yet").downcast_ref(), Some(&RULE));
    let other = new(0);
    assert_eq!(data.run(|_| other.run(|count| *count)), 0, "other data may be waited for");
}

#[test]
fn a_dropped_one_drops_its_data() {
    let dropped = Arc::new(());
    let data = new(Arc::clone(&dropped));
    assert_eq!(format!("{data:?} {:?}", *data), "Delegate { .. } Clients { .. }");
    drop(data);
    assert_eq!(Arc::strong_count(&dropped), 1);
}

#[test]
fn this_thread_serves_until_the_clients_are_gone() {
    let here = thread::current().id();
    let mut threads = Vec::new();
    let count = delegate::serve(0, |clients| {
        let clients = Arc::new(clients);
        threads.extend([(); THREADS].map(|()| {
            let clients = Arc::clone(&clients);
            thread::spawn(move || {
                for _ in 0..ROUNDS {
                    assert_eq!(clients.run(|count| (*count += 1, thread::current().id()).1), here);
                }
            })
        }));
    });
    threads.into_iter().for_each(|thread| thread.join().expect("nobody panics"));
    assert_eq!(count, THREADS * ROUNDS);
}
