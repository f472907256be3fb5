//! The locks behind the interface of the crate `lock_api`, reached through that crate's mutex.

use std::thread;
use std::time::{Duration, Instant};

use corecast_lock::lock_api::{Mutex, MutexGuard, MutexOf, Raw, RwLock, RwLockOf, RwLockUpgradableReadGuard};
use corecast_lock::{Auto, Mode, RawConst, RawTimed, RwPhase, RwTtas, Tas, Ticket, Ttas, Word};
use lock_api::{RawMutex, RawMutexTimed};

use crate::pair::add;

const THREADS: usize = 6;
const ROUNDS: usize = 2000;
const SHORT: Duration = Duration::from_millis(2);

/// A library that knows that interface only.
fn all_ways_exclude_each_other<R>(mutex: &lock_api::Mutex<R, (usize, usize)>)
where
    R: RawMutex + RawMutexTimed<Duration = Duration, Instant = Instant> + Sync,
{
    let done: usize = thread::scope(|scope| {
        let run = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut once = || {
                let limit = Duration::from_micros(random.u64(..100));
                let guard = match random.u8(..4) {
                    0 => mutex.try_lock(),
                    1 => mutex.try_lock_for(limit),
                    2 => mutex.try_lock_until(Instant::now() + limit),
                    _ => Some(mutex.lock()),
                };
                guard.map(|mut guard| add(&mut guard)).is_some()
            };
            (0..ROUNDS).filter(|_| once()).count()
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
    });
    assert!(done >= ROUNDS, "{done}");
    assert_eq!(*mutex.lock(), (done, done));
}

fn tries_and_limits_fail_while_it_is_held<R>(mutex: &lock_api::Mutex<R, (usize, usize)>)
where
    R: RawMutex + RawMutexTimed<Duration = Duration, Instant = Instant> + Sync,
{
    let held = mutex.lock();
    assert!(mutex.is_locked());
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(mutex.try_lock().is_none());
            let start = Instant::now();
            assert!(mutex.try_lock_for(SHORT).is_none());
            assert!(start.elapsed() >= SHORT, "it gave up early");
            assert!(mutex.try_lock_until(start).is_none());
        });
    });
    drop(held);
    assert!(!mutex.is_locked());
    assert!(mutex.try_lock_for(Duration::MAX).is_some(), "a free one needs no time");
}

fn conforms<L: RawConst<Node = ()> + RawTimed>() {
    let mutex: MutexOf<(usize, usize), L> = MutexOf::default();
    all_ways_exclude_each_other(&mutex);
    tries_and_limits_fail_while_it_is_held(&mutex);
}

macro_rules! with_each {
    ($($lock:ident)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $lock() {
                conforms::<$lock>();
            }
        )*
    };
}

with_each!(Tas Ttas Ticket Word Auto);

#[test]
fn guards_are_mapped_and_the_lock_tells_of_itself() {
    static PAIR: Mutex<(u32, u32)> = Mutex::new((1, 2));
    let mut second = MutexGuard::map(PAIR.lock(), |pair| &mut pair.1);
    *second += 1;
    drop(second);
    assert_eq!(*PAIR.lock(), (1, 3));
    // SAFETY: the lock is not taken by what this calls.
    let raw: &Raw<Auto> = unsafe { PAIR.raw() };
    let stats = raw.inner().stats();
    assert_eq!((stats.mode, stats.waits), (Mode::Spin, 0));
}

/// Readers see both halves equal, writers change both.
fn readers_and_writers_exclude_each_other<R>(lock: &lock_api::RwLock<R, (usize, usize)>)
where
    R: lock_api::RawRwLockTimed<Duration = Duration, Instant = Instant> + lock_api::RawRwLockDowngrade + Sync,
{
    let written: usize = thread::scope(|scope| {
        let run = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut once = || {
                let limit = Duration::from_micros(random.u64(..100));
                let written = match random.u8(..6) {
                    0 => lock.try_write(),
                    1 => lock.try_write_for(limit),
                    2 => Some(lock.write()),
                    3 => {
                        let read = lock.try_read_for(limit);
                        assert!(read.is_none_or(|pair| pair.0 == pair.1));
                        None
                    }
                    _ => {
                        let pair = lock.read();
                        assert_eq!(pair.0, pair.1);
                        None
                    }
                };
                let Some(mut pair) = written else { return false };
                add(&mut pair);
                let pair = lock_api::RwLockWriteGuard::downgrade(pair);
                assert_eq!(pair.0, pair.1);
                true
            };
            (0..ROUNDS).filter(|_| once()).count()
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
    });
    assert_eq!(*lock.read(), (written, written));
    assert!(!lock.is_locked());
}

#[test]
fn reader_writer_locks_conform() {
    readers_and_writers_exclude_each_other(&RwLockOf::<(usize, usize), RwTtas>::default());
    readers_and_writers_exclude_each_other(&RwLockOf::<(usize, usize), RwPhase>::default());
}

/// Readers that can become writers, beside all others: no change is lost between the read and the write.
#[test]
fn upgradable_readers_exclude_each_other_and_writers() {
    let lock = RwLock::new((0, 0));
    let run = |seed| {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut once = || match random.u8(..6) {
            0 => {
                let read = lock.upgradable_read();
                let before = *read;
                let mut pair = RwLockUpgradableReadGuard::upgrade(read);
                assert_eq!(*pair, before);
                add(&mut pair);
                let read = lock_api::RwLockWriteGuard::downgrade_to_upgradable(pair);
                assert_eq!(*read, (before.0 + 1, before.1 + 1));
                true
            }
            1 => lock.try_upgradable_read().is_some_and(|read| {
                let before = *read;
                let added = RwLockUpgradableReadGuard::try_upgrade(read).map(|mut pair| {
                    assert_eq!(*pair, before);
                    add(&mut pair);
                });
                added.is_ok()
            }),
            2 => {
                let read = lock.upgradable_read();
                let before = *read;
                assert_eq!(*RwLockUpgradableReadGuard::downgrade(read), before);
                false
            }
            3 => {
                add(&mut lock.write());
                true
            }
            _ => {
                let pair = lock.read();
                assert_eq!(pair.0, pair.1);
                false
            }
        };
        (0..ROUNDS).filter(|_| once()).count()
    };
    let added: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
    });
    assert_eq!(*lock.read(), (added, added));
    assert!(!lock.is_locked());
}

#[test]
fn one_upgradable_reader_reads_beside_others() {
    let lock = RwLock::new(0);
    let reader = lock.read();
    let upgradable = lock.try_upgradable_read().expect("nobody writes");
    assert!(lock.try_read().is_some() && lock.try_upgradable_read().is_none() && lock.try_write().is_none());
    let upgradable = RwLockUpgradableReadGuard::try_upgrade(upgradable).expect_err("another thread reads");
    drop(reader);
    let mut writer = RwLockUpgradableReadGuard::upgrade(upgradable);
    *writer += 1;
    assert!(lock.try_read().is_none());
    drop(lock_api::RwLockWriteGuard::downgrade_to_upgradable(writer));
    assert_eq!(lock.try_write().as_deref(), Some(&1));
}
