//! Faults around a lock, for every lock of the registry: far more threads than CPUs, threads that end after a limit,
//! CPUs that are taken away from waiters, delays where nobody expects them.
#![cfg(not(loom))]

#[path = "../locks/pair.rs"]
mod pair;

use std::sync::mpsc;
use std::thread::{self, Builder, Scope};
use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicBool, Ordering};
use corecast_lock::{Domains, Mutex, RawLock, RawTimed, Setup, for_each_lock};
use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

use pair::add;

/// Fewer under the sanitizer, which keeps a history of each.
const MANY: usize = if cfg!(sanitized) { 500 } else { 10_000 };
/// Those that sleep, all at once.
const SLEEPERS: usize = if cfg!(sanitized) { 50 } else { 500 };
const STACK_BYTES: usize = 64 << 10;

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn mutex<L: RawLock>() -> Mutex<(usize, usize), L> {
    let mut setup = Setup::of_threads(4);
    setup.domains = Domains::dealt(&[2]);
    Mutex::for_setup((0, 0), &setup)
}

/// Spawns as many of these threads as the system lets live at a time; returns their number.
fn spawn_many<'scope>(scope: &'scope Scope<'scope, '_>, count: usize, run: impl Fn() + Copy + Send + 'scope) -> usize {
    let spawn = || Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run);
    (0..count).take_while(|_| spawn().is_ok()).count()
}

fn ten_thousand_threads_add<L: RawLock>() {
    let mutex = mutex::<L>();
    let spawned = thread::scope(|scope| spawn_many(scope, MANY, || mutex.with(add)));
    assert_eq!(mutex.into_inner(), (spawned, spawned));
}

/// Of locks that keep an order each thread in turn would have to be found among all that yield.
fn many_sleep_at_once<L: RawLock>() {
    if !L::FACTS.parks {
        return;
    }
    let mutex = mutex::<L>();
    let spawned = thread::scope(|scope| mutex.with(|_| spawn_many(scope, SLEEPERS, || mutex.with(add))));
    assert_eq!(mutex.into_inner(), (spawned, spawned));
}

/// Threads give up and end, before and behind others that go on waiting.
fn threads_end_after_a_limit<L: RawTimed>() {
    const ROUNDS: usize = 10;
    let mutex = mutex::<L>();
    thread::scope(|scope| {
        mutex.with(|_| {
            for round in 0..ROUNDS {
                let limit = Duration::from_micros(40 * round as u64);
                let leaver = scope.spawn({
                    let mutex = &mutex;
                    move || mutex.with_timeout(limit, add)
                });
                scope.spawn(|| mutex.with(add));
                assert_eq!(leaver.join().expect("it gives up"), None);
            }
        });
    });
    assert_eq!(mutex.into_inner(), (ROUNDS, ROUNDS));
}

/// The CPUs of waiters and holders are changed again and again.
fn cpus_change_under_those_who_wait<L: RawLock>() {
    const THREADS: usize = 3;
    const MOVES: usize = 60;
    let mutex = mutex::<L>();
    let all = sched_getaffinity(None).expect("the system tells");
    let each: Vec<CpuSet> = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu)).map(only).collect();
    let stop = AtomicBool::new(false);
    let counted: usize = thread::scope(|scope| {
        let (tell, told) = mpsc::channel::<Pid>();
        let run = |tell: mpsc::Sender<Pid>| {
            tell.send(gettid()).expect("the test listens");
            let mut count = 0;
            // ORDERING: Relaxed, the flag publishes nothing but itself
            while !stop.load(Ordering::Relaxed) {
                mutex.with(|pair| {
                    add(pair);
                    spin(Duration::from_micros(5));
                });
                count += 1;
            }
            count
        };
        let threads = [0; THREADS].map(|_| {
            let tell = tell.clone();
            scope.spawn(move || run(tell))
        });
        let ids: Vec<Pid> = told.iter().take(THREADS).collect();
        for at in 0..MOVES {
            let cpus = if at % 3 == 2 { &all } else { &each[at % each.len()] };
            let moved = ids[at % THREADS];
            sched_setaffinity(Some(moved), cpus).expect("a thread may be moved to a CPU of this one");
            spin(Duration::from_micros(100));
        }
        // ORDERING: Relaxed, as in run
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
    });
    assert_eq!(mutex.into_inner(), (counted, counted));
}

fn only(cpu: usize) -> CpuSet {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    cpus
}

/// Delays before, inside and behind sections, from a few instructions to a sleep.
fn delays_anywhere<L: RawTimed>() {
    const THREADS: u64 = 4;
    const ROUNDS: usize = 300;
    let mutex = mutex::<L>();
    let seed = fastrand::u64(..);
    let delay = |random: &mut fastrand::Rng| match random.u8(..40) {
        0 => thread::sleep(Duration::from_micros(random.u64(..200))),
        1..4 => thread::yield_now(),
        4..12 => spin(Duration::from_micros(random.u64(..30))),
        _ => (0..random.u32(..50)).for_each(|_| std::hint::spin_loop()),
    };
    let run = |thread: u64| {
        let mut random = fastrand::Rng::with_seed(seed ^ thread);
        let once = || {
            delay(&mut random);
            let way = random.u8(..4);
            let limit = Duration::from_micros(random.u64(..60));
            let mut inside = |pair: &mut (usize, usize)| {
                let before = *pair;
                delay(&mut random);
                assert_eq!(before, *pair, "another thread was inside");
                add(pair);
            };
            match way {
                0 => mutex.try_with(&mut inside).is_some(),
                1 => mutex.with_timeout(limit, &mut inside).is_some(),
                _ => {
                    mutex.with(&mut inside);
                    true
                }
            }
        };
        std::iter::repeat_with(once).take(ROUNDS).filter(|&done| done).count()
    };
    let done: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        let counts = threads.into_iter().map(|thread| thread.join());
        counts.map(|count| count.unwrap_or_else(|_| panic!("a thread panicked with seed {seed}"))).sum()
    });
    assert_eq!(mutex.into_inner(), (done, done), "seed {seed}");
}

macro_rules! every {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $variant() {
                ten_thousand_threads_add::<$lock>();
                many_sleep_at_once::<$lock>();
                threads_end_after_a_limit::<$lock>();
                cpus_change_under_those_who_wait::<$lock>();
                delays_anywhere::<$lock>();
            }
        )*
    };
}

for_each_lock!(every);
