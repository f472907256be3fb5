//! The promises of every lock of the registry, by all ways to take it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

#[cfg(feature = "machine")]
use corecast_base::CpuId;
use corecast_lock::{Domains, Mutex, RawLock, RawTimed, Setup, for_each_lock};
#[cfg(feature = "machine")]
use corecast_machine::{Cpu, Machine, Topology};

use crate::pair::add;

const THREADS: usize = 6;
const ROUNDS: usize = 2000;
const SHORT: Duration = Duration::from_millis(2);

fn nobody_else_is_inside<L: RawLock>(setup: &Setup) {
    let mutex: Mutex<(usize, usize), L> = Mutex::for_setup((0, 0), setup);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..ROUNDS).for_each(|_| mutex.with(add)));
        }
    });
    assert_eq!(mutex.into_inner(), (THREADS * ROUNDS, THREADS * ROUNDS));
}

fn all_ways_mixed_exclude_each_other<L: RawTimed>(setup: &Setup) {
    let mutex: Mutex<(usize, usize), L> = Mutex::for_setup((0, 0), setup);
    let done: usize = thread::scope(|scope| {
        let run = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut once = || match random.u8(..3) {
                0 => mutex.try_with(add).is_some(),
                1 => mutex.with_timeout(Duration::from_micros(random.u64(..100)), add).is_some(),
                _ => mutex.with(|pair| {
                    add(pair);
                    if random.u8(..50) == 0 {
                        thread::yield_now();
                    }
                    true
                }),
            };
            (0..ROUNDS).filter(|_| once()).count()
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
    });
    assert!(done >= THREADS * ROUNDS / 4, "{done}");
    assert_eq!(mutex.into_inner(), (done, done));
}

fn a_try_and_a_limit_fail_while_it_is_held<L: RawTimed>(setup: &Setup) {
    let mutex: Mutex<u32, L> = Mutex::for_setup(0, setup);
    let (inside, tried) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            mutex.with(|value| {
                inside.wait();
                tried.wait();
                *value = 1;
            });
        });
        inside.wait();
        assert_eq!(mutex.try_with(|value| *value), None);
        let start = Instant::now();
        assert_eq!(mutex.with_timeout(SHORT, |value| *value), None);
        assert!(start.elapsed() >= SHORT, "it gave up early");
        assert_eq!(mutex.with_timeout(Duration::ZERO, |value| *value), None);
        tried.wait();
        assert_eq!(mutex.with(|value| *value), 1);
    });
    assert_eq!(mutex.try_with(|value| *value), Some(1));
    assert_eq!(mutex.with_timeout(Duration::ZERO, |value| *value), Some(1), "a free one needs no time");
    assert_eq!(mutex.with_timeout(Duration::MAX, |value| *value), Some(1));
}

fn a_panic_inside_frees_it<L: RawLock>(setup: &Setup) {
    let mutex: Mutex<u32, L> = Mutex::for_setup(0, setup);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        mutex.with(|value| {
            *value = 5;
            panic!("inside");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(mutex.try_with(|value| *value), Some(5));
}

fn a_waiter_whose_limit_passes_leaves_the_others_alone<L: RawTimed>(setup: &Setup) {
    let mutex: Mutex<usize, L> = Mutex::for_setup(0, setup);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let mutex = &mutex;
            scope.spawn(move || {
                for round in 0..100 {
                    // Held for about as long as the others have patience.
                    let held = Duration::from_micros(20);
                    let use_it = |count: &mut usize| {
                        *count += 1;
                        let start = Instant::now();
                        while start.elapsed() < held {
                            std::hint::spin_loop();
                        }
                    };
                    match (thread + round) % 2 {
                        0 => drop(mutex.with_timeout(held, use_it)),
                        _ => mutex.with(use_it),
                    }
                }
            });
        }
    });
    assert!(mutex.into_inner() >= THREADS * 50);
}

#[cfg(debug_assertions)]
fn a_thread_that_would_wait_for_itself_is_told<L: RawLock>(setup: &Setup) {
    let mutex: Mutex<u32, L> = Mutex::for_setup(0, setup);
    let inner = || catch_unwind(AssertUnwindSafe(|| mutex.with(|value| *value)));
    let panic = mutex.with(|_| inner()).expect_err("it is held");
    assert_eq!(panic.downcast_ref(), Some(&"a thread must not lock a mutex that it holds"));
    assert_eq!(mutex.try_with(|value| *value), Some(0));
}

#[cfg(not(debug_assertions))]
fn a_thread_that_would_wait_for_itself_is_told<L: RawLock>(setup: &Setup) {
    // It would wait: only a try can be asked.
    let mutex: Mutex<u32, L> = Mutex::for_setup(0, setup);
    assert_eq!(mutex.with(|_| mutex.try_with(|value| *value)), None);
}

/// For as many threads as there are and for fewer; in one domain, in several, and where each CPU is one.
fn setups() -> Vec<Setup> {
    let mut setups = [THREADS, 1, THREADS].map(Setup::of_threads);
    setups[2].domains = Domains::dealt(&[2, 2]);
    setups[2].hand_overs = 2;
    setups.into_iter().chain(of_a_machine()).collect()
}

/// Each CPU is a domain of its own.
#[cfg(feature = "machine")]
fn of_a_machine() -> Option<Setup> {
    let cpus = (0..256).map(|id| Cpu { l3: Some(id), ..Cpu::flat(CpuId::new(id)) }).collect();
    let mut setup = Setup::of_threads(THREADS);
    setup.domains = Domains::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() }));
    Some(setup)
}

#[cfg(not(feature = "machine"))]
fn of_a_machine() -> Option<Setup> {
    None
}

fn conforms<L: RawTimed>() {
    for setup in setups() {
        nobody_else_is_inside::<L>(&setup);
        all_ways_mixed_exclude_each_other::<L>(&setup);
        a_try_and_a_limit_fail_while_it_is_held::<L>(&setup);
        a_panic_inside_frees_it::<L>(&setup);
        a_waiter_whose_limit_passes_leaves_the_others_alone::<L>(&setup);
        a_thread_that_would_wait_for_itself_is_told::<L>(&setup);
    }
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $variant() {
                conforms::<$lock>();
            }
        )*
    };
}

for_each_lock!(every);
