//! A register behind every lock of the registry: each small history of it can be told in some order.

mod history;

use std::thread;
use std::time::Duration;

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering, spin_for};
use corecast_lock::{Domains, Mutex, RawTimed, Setup, for_each_lock};
use history::{Action, Operation, is_linearizable};

const THREADS: u32 = 3;
const OPERATIONS: u32 = 6;
const HISTORIES: u64 = 150;

/// A moment that comes after all that has happened before.
fn now(clock: &AtomicU64) -> u64 {
    // ORDERING: AcqRel, pairs with itself: moments of one thread come after those that it knows of [history-clock]
    clock.fetch_add(1, Ordering::AcqRel)
}

/// Waits until all are here, awake: a thread woken by a barrier comes when the others have ended.
fn meet(arrived: &AtomicU32) {
    // ORDERING: Relaxed, the number is all there is to know
    arrived.fetch_add(1, Ordering::Relaxed);
    // ORDERING: Relaxed, as in the line above
    while arrived.load(Ordering::Relaxed) < THREADS {
        thread::yield_now();
    }
}

/// From a few instructions to more time than others spin, so that operations overlap, and some threads sleep.
fn pause(random: &mut fastrand::Rng) {
    match random.u8(..16) {
        0 => spin_for(Duration::from_micros(random.u64(..60))),
        1..3 => thread::yield_now(),
        _ => spin_for(Duration::from_nanos(random.u64(..2000))),
    }
}

/// One thread's operations; those that gave up are none.
fn play<L: RawTimed>(register: &Mutex<u32, L>, clock: &AtomicU64, thread: u32, seed: u64) -> Vec<Operation> {
    let mut random = fastrand::Rng::with_seed(seed ^ u64::from(thread) << 32);
    let mut operations = Vec::new();
    for number in 0..OPERATIONS {
        let put = 1 + thread * OPERATIONS + number;
        let reads = random.bool();
        let (way, limit) = (random.u8(..4), Duration::from_micros(random.u64(..20)));
        pause(&mut random);
        let act = |value: &mut u32| {
            let seen = *value;
            pause(&mut random);
            match reads {
                true => Action::Read { seen },
                false => Action::Swap { put, seen: std::mem::replace(value, put) },
            }
        };
        let began = now(clock);
        let action = match way {
            0 => register.try_with(act),
            1 => register.with_timeout(limit, act),
            _ => Some(register.with(act)),
        };
        let ended = now(clock);
        operations.extend(action.map(|action| Operation { began, ended, action }));
    }
    operations
}

fn histories_have_an_order<L: RawTimed>() {
    let seed = fastrand::u64(..);
    for run in 0..HISTORIES {
        let mut setup = Setup::of_threads(THREADS as usize);
        setup.domains = Domains::dealt(&[2]);
        let register: Mutex<u32, L> = Mutex::for_setup(0, &setup);
        let (clock, arrived) = (AtomicU64::new(0), AtomicU32::new(0));
        let history: Vec<Operation> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (register, clock, arrived) = (&register, &clock, &arrived);
                    scope.spawn(move || {
                        meet(arrived);
                        play(register, clock, thread, seed.wrapping_add(run))
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("nobody panics")).collect()
        });
        assert!(is_linearizable(&history, 0), "seed {seed}: {history:#?}");
    }
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $variant() {
                histories_have_an_order::<$lock>();
            }
        )*
    };
}

for_each_lock!(every);
