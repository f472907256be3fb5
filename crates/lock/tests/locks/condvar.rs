//! The condition variable: with each lock that has guards, with limits, with many threads.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use corecast_lock::{Array, Auto, Clh, Condvar, Mode, Mutex, NodeMoves, RawLock, Tas, Ticket, Ttas, Word};

/// A queue of at most two values, the textbook's.
struct Bounded<L: RawLock> {
    values: Mutex<VecDeque<u32>, L>,
    has_values: Condvar,
    has_room: Condvar,
}

impl<L: NodeMoves> Bounded<L> {
    const MOST: usize = 2;

    fn new() -> Self {
        Self { values: Mutex::from(VecDeque::new()), has_values: Condvar::new(), has_room: Condvar::new() }
    }

    fn put(&self, value: u32) {
        let mut values = self.has_room.wait_while(self.values.lock(), |values| values.len() == Self::MOST);
        values.push_back(value);
        drop(values);
        self.has_values.notify_one();
    }

    fn take(&self) -> u32 {
        let mut values = self.has_values.wait_while(self.values.lock(), |values| values.is_empty());
        let value = values.pop_front().expect("there is one");
        // Notified while the mutex is held, as it may be.
        self.has_room.notify_one();
        value
    }
}

/// Each of several threads puts values in, as many take them out; all come out once.
fn nothing_is_lost<L: NodeMoves>(bounded: &Bounded<L>) {
    const THREADS: u32 = 3;
    const VALUES: u32 = 1000;
    let mut taken: Vec<u32> = thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || (0..VALUES).for_each(|value| bounded.put(thread * VALUES + value)));
        }
        let takers: Vec<_> =
            (0..THREADS).map(|_| scope.spawn(|| (0..VALUES).map(|_| bounded.take()).collect::<Vec<_>>())).collect();
        takers.into_iter().flat_map(|taker| taker.join().expect("it takes")).collect()
    });
    taken.sort_unstable();
    assert!(taken.into_iter().eq(0..THREADS * VALUES));
}

macro_rules! with_each {
    ($($lock:ident)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $lock() {
                nothing_is_lost::<$lock>(&Bounded::new());
            }
        )*
    };
}

with_each!(Tas Ttas Ticket Array Clh Word Auto);

#[test]
fn nothing_is_lost_in_any_mode_of_auto() {
    for mode in Mode::ALL {
        let bounded: Bounded<Auto> = Bounded::new();
        bounded.values.raw().pin_mode(Some(mode));
        nothing_is_lost(&bounded);
    }
}

#[test]
fn all_are_woken_round_after_round() {
    const THREADS: usize = 48;
    const ROUNDS: u32 = 20;
    // The round, and how many have seen it.
    let (state, moved) = (Mutex::<(u32, usize)>::new((0, 0)), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    let mut state = moved.wait_while(state.lock(), |state| state.0 < round);
                    state.1 += 1;
                    if state.1 == THREADS {
                        moved.notify_all();
                    }
                }
            });
        }
        for round in 1..=ROUNDS {
            *state.lock() = (round, 0);
            moved.notify_all();
            drop(moved.wait_while(state.lock(), |state| state.1 < THREADS));
        }
    });
    assert_eq!(*state.lock(), (ROUNDS, THREADS));
}

#[test]
fn a_limit_passes_and_a_notification_comes_before_it() {
    const SHORT: Duration = Duration::from_millis(3);
    let (mutex, changed) = (Mutex::<bool, Word>::from(false), Condvar::new());
    let start = Instant::now();
    let (mut guard, mut result) = changed.wait_timeout(mutex.lock(), SHORT);
    while !result.timed_out() {
        (guard, result) = changed.wait_timeout(guard, SHORT);
    }
    assert!(start.elapsed() >= SHORT, "it gave up early");
    assert!(mutex.try_lock().is_none(), "it holds the mutex again");
    drop(guard);
    thread::scope(|scope| {
        scope.spawn(|| {
            *mutex.lock() = true;
            changed.notify_one();
        });
        let mut guard = mutex.lock();
        while !*guard {
            let result = changed.wait_for(&mut guard, Duration::MAX);
            assert!(!result.timed_out(), "that limit never passes");
        }
    });
}

#[test]
fn a_mutex_is_free_while_its_holder_waits_and_a_condition_that_panics_frees_it() {
    let (mutex, changed) = (Mutex::<u32, Word>::from(0), Condvar::new());
    let (waits, is_waiting) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = mutex.lock();
            waits.send(()).expect("the test waits");
            drop(changed.wait_while(guard, |value| *value == 0));
        });
        is_waiting.recv().expect("it holds the mutex");
        // Had the mutex not been freed this would wait for ever.
        *mutex.lock() = 1;
        changed.notify_one();
    });
    let panicked = catch_unwind(AssertUnwindSafe(|| drop(changed.wait_while(mutex.lock(), |_| panic!("asked")))));
    assert!(panicked.is_err() && mutex.try_lock().is_some());
}

#[test]
fn one_variable_serves_two_mutexes() {
    let (first, second, changed) =
        (Mutex::<bool, Word>::from(false), Mutex::<bool, Ticket>::from(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| drop(changed.wait_while(first.lock(), |is_set| !*is_set)));
        scope.spawn(|| drop(changed.wait_while(second.lock(), |is_set| !*is_set)));
        *first.lock() = true;
        *second.lock() = true;
        changed.notify_all();
    });
}

#[test]
fn a_notification_that_nobody_waits_for_is_not_kept() {
    let (mutex, changed) = (Mutex::<(), Word>::from(()), Condvar::new());
    changed.notify_one();
    changed.notify_all();
    let mut guard = mutex.lock();
    while !changed.wait_for(&mut guard, Duration::from_millis(1)).timed_out() {}
    drop(guard);
}

#[test]
fn a_guard_is_given_back_or_only_borrowed() {
    let (mutex, changed) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2 {
                *mutex.lock() += 1;
                changed.notify_all();
            }
        });
        let mut guard = mutex.lock();
        while *guard == 0 {
            changed.wait(&mut guard);
        }
        changed.wait_while(&mut guard, |value| *value < 2);
        let guard = changed.wait_while(guard, |value| *value < 2);
        assert_eq!(*guard, 2);
        assert!(mutex.is_locked());
    });
    assert!(!mutex.is_locked());
}
