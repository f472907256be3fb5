//! The lock that moves between ways to wait: each of them, moves under load, and what it tells of itself.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

#[cfg(feature = "machine")]
use corecast_lock::Params;
use corecast_lock::{Auto, Mode, Mutex, Why};
#[cfg(feature = "machine")]
use corecast_machine::model_file;
#[cfg(feature = "machine")]
use corecast_testing::machines;

use crate::pair::add;

const THREADS: usize = 6;
const ROUNDS: usize = 2000;

fn in_mode(mode: Mode) -> Mutex<(usize, usize), Auto> {
    let mutex: Mutex<_, Auto> = Mutex::new((0, 0));
    mutex.raw().pin_mode(Some(mode));
    mutex
}

#[test]
fn nobody_else_is_inside_in_any_mode() {
    for mode in Mode::ALL {
        let mutex = in_mode(mode);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let mutex = &mutex;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        mutex.with(|pair| {
                            add(pair);
                            // Some are held for longer than others spin.
                            if round % 500 == thread {
                                thread::sleep(Duration::from_micros(200));
                            }
                        });
                    }
                });
            }
        });
        assert_eq!(mutex.raw().stats().mode, mode);
        assert_eq!(mutex.into_inner(), (THREADS * ROUNDS, THREADS * ROUNDS));
    }
}

#[test]
fn nobody_else_is_inside_while_modes_change_and_waits_end() {
    let mutex = in_mode(Mode::Spin);
    let (done, switches) = thread::scope(|scope| {
        let run = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut once = || match random.u8(..4) {
                0 => mutex.try_with(add).is_some(),
                1 => mutex.with_timeout(Duration::from_micros(random.u64(..100)), add).is_some(),
                2 => {
                    mutex.raw().pin_mode(Some(Mode::ALL[random.usize(..3)]));
                    false
                }
                _ => mutex.with(|pair| {
                    add(pair);
                    if random.u8(..50) == 0 {
                        thread::sleep(Duration::from_micros(50));
                    }
                    true
                }),
            };
            (0..ROUNDS).filter(|_| once()).count()
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        let done: usize = threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum();
        (done, mutex.raw().stats().switches)
    });
    assert!(switches > 100, "{switches}");
    assert_eq!(mutex.into_inner(), (done, done));
}

#[test]
fn a_limit_passes_in_every_mode_and_the_others_go_on() {
    const LIMIT: Duration = Duration::from_millis(3);
    for mode in Mode::ALL {
        let mutex = in_mode(mode);
        thread::scope(|scope| {
            let (inside, is_inside) = mpsc::channel();
            let (go, may_go) = mpsc::channel::<()>();
            scope.spawn({
                let mutex = &mutex;
                move || {
                    mutex.with(|_| {
                        inside.send(()).expect("the test waits");
                        may_go.recv().expect("the test says so");
                    });
                }
            });
            is_inside.recv().expect("it comes in");
            let patient: Vec<_> = (0..2).map(|_| scope.spawn(|| mutex.with(add))).collect();
            let start = Instant::now();
            assert_eq!(mutex.with_timeout(LIMIT, add), None, "{mode}");
            assert!(start.elapsed() >= LIMIT, "it gave up early in {mode}");
            go.send(()).expect("it waits for that");
            patient.into_iter().for_each(|thread| thread.join().expect("it adds"));
        });
        assert_eq!(mutex.into_inner(), (2, 2));
    }
}

#[test]
fn waits_that_outlast_a_wake_up_make_it_park() {
    let mutex: Mutex<u32, Auto> = Mutex::new(0);
    let is_parked = || mutex.raw().stats().mode == Mode::Park;
    thread::scope(|scope| {
        let long = || {
            while !is_parked() {
                mutex.with(|value| {
                    thread::sleep(Duration::from_millis(1));
                    *value += 1;
                });
            }
        };
        scope.spawn(long);
        scope.spawn(long);
    });
    let (stats, told) = (mutex.raw().stats(), mutex.raw().explain());
    assert!(stats.switches >= 1 && stats.waits >= 1, "{stats:?}");
    let (why, ago) = told.last_switch.expect("it parks");
    assert!([Why::Overdue, Why::Slept].contains(&why) && ago < Duration::from_secs(600), "{told}");
    // When nobody waits any more it is worth nothing.
    while is_parked() {
        mutex.with(|value| *value += 1);
    }
    assert_eq!(mutex.raw().stats().mode, Mode::Spin);
}

#[test]
fn a_mode_that_is_no_longer_pinned_is_chosen_again() {
    let mutex = in_mode(Mode::Queue);
    mutex.raw().pin_mode(None);
    while mutex.raw().stats().mode == Mode::Queue {
        mutex.with(add);
    }
    let told = mutex.raw().explain();
    assert_eq!((told.mode, told.is_pinned), (Mode::Spin, false));
    assert_eq!((told.last_switch.map(|(why, _)| why), told.switches), (Some(Why::FewWait), 2), "{told}");
}

/// Locks when its thread ends, after the thread's own nodes have gone to others perhaps.
struct LocksAtTheEnd(Arc<Mutex<(usize, usize), Auto>>);

impl Drop for LocksAtTheEnd {
    fn drop(&mut self) {
        (0..ROUNDS).for_each(|_| self.0.with(add));
    }
}

#[test]
fn a_destructor_of_a_thread_can_queue() {
    thread_local! {
        static BEFORE: RefCell<Option<LocksAtTheEnd>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<LocksAtTheEnd>> = const { RefCell::new(None) };
    }
    let mutex = Arc::new(in_mode(Mode::Queue));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || {
                BEFORE.set(Some(LocksAtTheEnd(Arc::clone(&mutex))));
                mutex.with(add);
                AFTER.set(Some(LocksAtTheEnd(Arc::clone(&mutex))));
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    assert_eq!(mutex.with(|pair| *pair).0, THREADS * (2 * ROUNDS + 1));
}

#[cfg(feature = "machine")]
#[test]
fn on_captured_machines_near_is_not_farther_than_far() {
    for file in machines::models() {
        let params = Params::of(&model_file::read(&file.path).unwrap_or_else(|error| panic!("{error}")));
        assert!(0.0 < params.near_ns() && params.near_ns() <= params.far_ns(), "{}: {params:?}", file.path.display());
    }
}
