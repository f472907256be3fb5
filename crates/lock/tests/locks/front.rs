//! The constructors and guards of `Mutex` and `RwLock`, as users of `std` and parking_lot expect them.

use std::thread;
use std::time::{Duration, Instant};

use corecast_lock::{
    Mcs, Mutex, MutexGuard, RawConst, RwLock, RwLockReadGuard, RwLockWriteGuard, RwPhase, RwTtas, Ticket, Word,
};

static COUNT: Mutex<u32> = Mutex::new(1);
static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());
static QUEUE: Mutex<u32, Mcs> = Mutex::from_raw(Mcs::INIT, 3);

#[test]
fn the_default_lock_needs_no_annotation_and_may_be_a_static() {
    let mutex = Mutex::new(0);
    *mutex.lock() += 1;
    assert_eq!(mutex.into_inner(), 1);
    let lock = RwLock::new(0);
    *lock.write() += 1;
    assert_eq!(*lock.read(), 1);
    assert_eq!(lock.into_inner(), 1);
    *COUNT.lock() += 1;
    NAMES.write().push("one");
    assert_eq!((*COUNT.lock(), NAMES.read().len(), QUEUE.with(|value| *value)), (2, 1, 3));
}

#[test]
fn another_lock_is_made_from_its_value_or_from_itself() {
    let of_type: Mutex<u32, Ticket> = 7.into();
    let of_lock = Mutex::from_raw(Word::default(), 7);
    assert_eq!((*of_type.lock(), *of_lock.lock()), (7, 7));
    let of_type: RwLock<u32, RwTtas> = RwLock::from(7);
    let of_lock = RwLock::from_raw(RwPhase::default(), 7);
    assert_eq!((*of_type.read(), *of_lock.read()), (7, 7));
}

#[test]
fn a_lock_guards_what_has_no_size() {
    let mutex: &Mutex<[u32]> = &Mutex::new([1, 2, 3]);
    mutex.lock()[1] = 7;
    assert_eq!(mutex.with(|values| values.iter().sum::<u32>()), 11);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: [1, 7, 3], .. }");
    let boxed: Box<RwLock<dyn Fn() -> u32 + Send + Sync>> = Box::new(RwLock::new(|| 5));
    assert_eq!((boxed.read())(), 5);
}

#[test]
fn a_mapped_guard_holds_the_mutex_and_lends_a_part() {
    let mutex = Mutex::new((1, String::from("a")));
    let mut name = MutexGuard::map(mutex.lock(), |pair| &mut pair.1);
    name.push('b');
    assert!(mutex.is_locked());
    let first = corecast_lock::MappedMutexGuard::map(name, |name| &mut name[..1]);
    assert_eq!(&*first, "a");
    drop(first);
    assert!(!mutex.is_locked());
    let kept = MutexGuard::try_map(mutex.lock(), |_| None::<&mut u32>).expect_err("there is no such part");
    assert_eq!(kept.1, "ab");
}

#[test]
fn a_mapped_guard_of_a_queue_s_mutex_frees_it() {
    let mutex: Mutex<(u32, u32), Ticket> = Mutex::default();
    for _ in 0..3 {
        *MutexGuard::map(mutex.lock(), |pair| &mut pair.0) += 1;
    }
    assert_eq!(*mutex.lock(), (3, 0));
}

#[test]
fn mapped_guards_of_readers_and_writers_end_what_they_hold() {
    let lock = RwLock::new((1, 2));
    let read = RwLockReadGuard::map(lock.read(), |pair| &pair.0);
    assert!(lock.try_write().is_none() && *read == 1);
    drop(read);
    let mut written = RwLockWriteGuard::map(lock.write(), |pair| &mut pair.1);
    *written = 7;
    assert!(lock.is_locked() && lock.try_read().is_none());
    drop(written);
    assert_eq!(*lock.read(), (1, 7));
    assert!(!lock.is_locked());
}

#[test]
fn a_limit_passes_while_another_thread_holds_the_mutex() {
    const SHORT: Duration = Duration::from_millis(2);
    let mutex = Mutex::new(0);
    let held = mutex.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            assert!(mutex.try_lock_for(SHORT).is_none() && start.elapsed() >= SHORT);
        });
    });
    drop(held);
    assert!(mutex.try_lock_for(Duration::MAX).is_some(), "a free one needs no time");
}

#[test]
fn a_spread_lock_that_is_a_constant_has_lines_for_all_threads() {
    static LOCK: RwLock<u64> = RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..2000 {
                    if round % 100 == 0 {
                        *LOCK.write() += 1;
                    }
                    let _value = *LOCK.read();
                }
            });
        }
    });
    assert_eq!(*LOCK.read(), 80);
}
