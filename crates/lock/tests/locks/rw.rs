//! The promises of every reader-writer lock of the registry, by all ways to take it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use corecast_lock::{RawRwLock, RawRwTimed, RwLock, Setup, for_each_rw_lock};

use crate::pair::add;

const THREADS: usize = 6;
const ROUNDS: usize = 2000;
const SHORT: Duration = Duration::from_millis(2);

type Pair = (usize, usize);

fn see(pair: &Pair) {
    assert_eq!(pair.0, std::hint::black_box(pair).1, "a reader is inside with a writer");
}

fn writers_are_alone_and_readers_see_whole_values<L: RawRwLock>(setup: &Setup) {
    let lock: RwLock<Pair, L> = RwLock::for_setup((0, 0), setup);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let lock = &lock;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    if round % THREADS == thread { lock.with_write(add) } else { lock.with_read(see) }
                }
            });
        }
    });
    let writes = (0..THREADS).map(|thread| (0..ROUNDS).filter(|round| round % THREADS == thread).count()).sum();
    assert_eq!(lock.into_inner(), (writes, writes));
}

/// One step of many kinds; the number of writes that it made.
fn step<L: RawRwTimed>(lock: &RwLock<Pair, L>, random: &mut fastrand::Rng) -> usize {
    let limit = Duration::from_micros(random.u64(..100));
    let add_in =
        |guard: Option<corecast_lock::RwLockWriteGuard<'_, Pair, L>>| guard.map_or(0, |mut pair| (add(&mut pair), 1).1);
    let see_in = |guard: Option<corecast_lock::RwLockReadGuard<'_, Pair, L>>| guard.map_or(0, |pair| (see(&pair), 0).1);
    match random.u8(..7) {
        0 => add_in(lock.try_write()),
        1 => add_in(lock.try_write_for(limit)),
        2 => see_in(lock.try_read()),
        3 => see_in(lock.try_read_for(limit)),
        4 => {
            let mut guard = lock.write();
            add(&mut guard);
            let guard = guard.downgrade();
            let seen = guard.0;
            see(&guard);
            thread::yield_now();
            assert_eq!(guard.0, seen, "somebody wrote what is read");
            1
        }
        5 => lock.with_write(|pair| {
            add(pair);
            if random.u8(..50) == 0 {
                thread::yield_now();
            }
            1
        }),
        _ => see_in(Some(lock.read())),
    }
}

fn all_ways_mixed_exclude_each_other<L: RawRwTimed>(setup: &Setup) {
    let lock: RwLock<Pair, L> = RwLock::for_setup((0, 0), setup);
    let writes: usize = thread::scope(|scope| {
        let run = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            (0..ROUNDS).map(|_| step(&lock, &mut random)).sum::<usize>()
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
    });
    assert!(writes >= THREADS * ROUNDS / 8, "{writes}");
    assert_eq!(lock.into_inner(), (writes, writes));
}

fn readers_share_it_and_keep_writers_out<L: RawRwTimed>(setup: &Setup) {
    let lock: RwLock<u32, L> = RwLock::for_setup(7, setup);
    let (inside, tried) = (Barrier::new(3), Barrier::new(3));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let value = lock.read();
                inside.wait();
                tried.wait();
                assert_eq!(*value, 7);
            });
        }
        inside.wait();
        assert!(lock.try_write().is_none());
        let start = Instant::now();
        assert!(lock.try_write_for(SHORT).is_none());
        assert!(start.elapsed() >= SHORT, "it gave up early");
        assert!(lock.try_write_for(Duration::ZERO).is_none());
        assert_eq!(lock.try_read().map(|value| *value), Some(7), "a writer that gave up holds readers back");
        assert_eq!(lock.try_read_for(Duration::ZERO).map(|value| *value), Some(7));
        tried.wait();
        assert_eq!(*lock.write(), 7);
    });
    assert!(lock.try_write().is_some());
    assert!(lock.try_write_for(Duration::ZERO).is_some(), "a free one needs no time");
    assert!(lock.try_write_for(Duration::MAX).is_some() && lock.try_read_for(Duration::MAX).is_some());
}

fn a_writer_keeps_all_others_out<L: RawRwTimed>(setup: &Setup) {
    let lock: RwLock<u32, L> = RwLock::for_setup(0, setup);
    let (inside, tried) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut value = lock.write();
            inside.wait();
            tried.wait();
            *value = 1;
        });
        inside.wait();
        assert!(lock.try_write().is_none() && lock.try_read().is_none());
        assert!(lock.try_write_for(Duration::ZERO).is_none() && lock.try_read_for(Duration::ZERO).is_none());
        let start = Instant::now();
        assert!(lock.try_read_for(SHORT).is_none());
        assert!(start.elapsed() >= SHORT, "it gave up early");
        assert_eq!(format!("{lock:?}"), "RwLock { <locked> }");
        tried.wait();
        assert_eq!(*lock.read(), 1);
    });
    assert_eq!(format!("{lock:?}"), "RwLock { data: 1, .. }");
}

fn a_writer_that_becomes_a_reader_lets_readers_in<L: RawRwTimed>(setup: &Setup) {
    let lock: RwLock<u32, L> = RwLock::for_setup(0, setup);
    let mut writer = lock.write();
    *writer = 3;
    thread::scope(|scope| {
        let (seen, is_seen) = mpsc::channel();
        scope.spawn({
            let lock = &lock;
            move || seen.send(*lock.read())
        });
        let reader = writer.downgrade();
        assert_eq!(is_seen.recv(), Ok(3), "it reads beside the one that wrote");
        assert!(lock.try_write().is_none());
        assert_eq!(*reader, 3);
    });
    assert!(lock.try_write().is_some());
}

fn a_panic_inside_frees_it<L: RawRwLock>(setup: &Setup) {
    let lock: RwLock<u32, L> = RwLock::for_setup(0, setup);
    let write = |value: &mut u32| {
        *value = 5;
        panic!("inside");
    };
    assert!(catch_unwind(AssertUnwindSafe(|| lock.with_write(write))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| lock.with_read(|_| panic!("inside")))).is_err());
    assert_eq!(lock.try_write().map(|value| *value), Some(5));
}

#[cfg(debug_assertions)]
fn a_writer_that_would_wait_for_itself_is_told<L: RawRwTimed>(setup: &Setup) {
    const RULE: &str = "a thread must not wait for a reader-writer lock that it writes";
    let lock: RwLock<u32, L> = RwLock::for_setup(0, setup);
    let writer = lock.write();
    let waits: [&dyn Fn(); 4] =
        [&|| drop(lock.read()), &|| drop(lock.write()), &|| drop(lock.try_read_for(SHORT)), &|| {
            drop(lock.try_write_for(SHORT))
        }];
    for wait in waits {
        let panic = catch_unwind(AssertUnwindSafe(wait)).expect_err("this thread writes");
        assert_eq!(panic.downcast_ref(), Some(&RULE));
    }
    let reader = writer.downgrade();
    assert!(lock.try_read().is_some(), "it does not write any more");
    drop(reader);
}

#[cfg(not(debug_assertions))]
fn a_writer_that_would_wait_for_itself_is_told<L: RawRwTimed>(setup: &Setup) {
    // It would wait: only a try can be asked.
    let lock: RwLock<u32, L> = RwLock::for_setup(0, setup);
    assert!(lock.with_write(|_| lock.try_read().is_none() && lock.try_write().is_none()));
}

fn conforms<L: RawRwTimed>() {
    for threads in [THREADS, 1] {
        let setup = Setup::of_threads(threads);
        writers_are_alone_and_readers_see_whole_values::<L>(&setup);
        all_ways_mixed_exclude_each_other::<L>(&setup);
        readers_share_it_and_keep_writers_out::<L>(&setup);
        a_writer_keeps_all_others_out::<L>(&setup);
        a_writer_that_becomes_a_reader_lets_readers_in::<L>(&setup);
        a_panic_inside_frees_it::<L>(&setup);
        a_writer_that_would_wait_for_itself_is_told::<L>(&setup);
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

for_each_rw_lock!(every);

mod upgrade {
    //! Of the locks that can.
    use corecast_lock::{RawRwUpgrade, RwLock, RwSpread, RwTtas};

    fn the_only_reader_may_write<L: RawRwUpgrade>() {
        let lock: RwLock<u32, L> = RwLock::from(0);
        let (first, second) = (lock.read(), lock.read());
        let first = first.try_upgrade().expect_err("another one reads");
        assert!(lock.try_write().is_none() && lock.try_read().is_some(), "a try that failed leaves nothing behind");
        drop(second);
        let mut writer = first.try_upgrade().expect("nobody else reads");
        *writer += 1;
        assert!(lock.try_read().is_none() && lock.try_write().is_none());
        drop(writer);
        assert_eq!(lock.try_write().map(|value| *value), Some(1));
    }

    #[test]
    fn of_one_word() {
        the_only_reader_may_write::<RwTtas>();
    }

    #[test]
    fn of_one_that_spreads() {
        the_only_reader_may_write::<RwSpread>();
    }
}
