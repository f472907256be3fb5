//! The promises that a program may have from parking_lot, beyond those that parking_lot's own tests ask for.

use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use corecast_parking_lot::{
    Condvar, FairMutex, MappedMutexGuard, Mutex, MutexGuard, Once, OnceState, RawThreadId, ReentrantMutex, RwLock,
    RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, const_fair_mutex, const_mutex, const_reentrant_mutex,
    const_rwlock, lock_api::GetThreadId,
};

/// A moment for a wait that has to end in vain.
const SHORT: Duration = Duration::from_millis(2);

static MUTEX: Mutex<u32> = const_mutex(1);
static FAIR: FairMutex<u32> = const_fair_mutex(2);
static REENTRANT: ReentrantMutex<u32> = const_reentrant_mutex(3);
static LOCK: RwLock<u32> = const_rwlock(4);
static ONCE: Once = Once::new();

#[test]
fn statics_are_made_by_constant_functions() {
    let again = REENTRANT.lock();
    assert_eq!((*MUTEX.lock(), *FAIR.lock(), *REENTRANT.lock() + *again, *LOCK.read()), (1, 2, 6, 4));
    ONCE.call_once(|| ());
    assert!(ONCE.state().done());
}

#[test]
fn types_are_shared_as_those_of_parking_lot_are() {
    fn is_shared<T: Send + Sync>() {}
    fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    is_shared::<Mutex<u32>>();
    is_shared::<RwLock<u32>>();
    is_shared::<ReentrantMutex<u32>>();
    is_shared::<Condvar>();
    is_unwind_safe::<Condvar>();
    is_unwind_safe::<Once>();
}

/// Those that `docs/guide/parking-lot.md` tells. `Once` has 4 more with debug assertions.
#[test]
fn sizes_are_those_that_users_are_told() {
    let sizes = [size_of::<Mutex<()>>(), size_of::<FairMutex<()>>(), size_of::<RwLock<()>>(), size_of::<Condvar>()];
    assert_eq!((sizes, size_of::<ReentrantMutex<()>>()), ([1, 1, 4, 8], 24));
    assert!((12..=16).contains(&size_of::<Once>()));
}

#[test]
fn numbers_of_threads_differ_and_stay() {
    let number = || RawThreadId.nonzero_thread_id();
    let other = thread::spawn(move || (number(), number())).join().expect("it asks");
    assert!(other.0 == other.1 && other.0 != number() && number() == number());
}

#[test]
fn limits_end_waits_for_all_kinds_of_locks() {
    let (mutex, lock) = (Mutex::new(0), RwLock::new(0));
    let (held, reader) = (mutex.lock(), lock.upgradable_read());
    thread::scope(|scope| {
        let waits = || {
            assert!(mutex.try_lock_for(SHORT).is_none() && mutex.try_lock_until(Instant::now()).is_none());
            assert!(lock.try_write_for(SHORT).is_none() && lock.try_upgradable_read_for(SHORT).is_none());
            assert!(lock.try_read_for(Duration::MAX).is_some());
        };
        scope.spawn(waits).join().expect("it waits in vain");
    });
    drop(held);
    assert!(mutex.try_lock_for(Duration::MAX).is_some());
    let other = lock.read_recursive();
    let reader = RwLockUpgradableReadGuard::try_upgrade_for(reader, SHORT).expect_err("another one reads");
    drop(other);
    let mut writer = RwLockUpgradableReadGuard::try_upgrade_for(reader, SHORT).expect("the only one");
    *writer = 1;
    let reader = RwLockWriteGuard::downgrade_to_upgradable(writer);
    let plain = RwLockUpgradableReadGuard::downgrade(reader);
    assert!(*plain == 1 && lock.try_write().is_none() && lock.try_upgradable_read().is_some());
}

/// Three threads hand each lock over in all ways. That the one that sleeps gets it is for the models of `crates/lock`.
#[test]
fn no_turn_is_lost_by_fair_unlocks_and_bumps() {
    fn taken_in_turns(step: impl Fn(&mut u32) + Sync, with: impl Fn(&dyn Fn(&mut u32)) + Sync) {
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(|| (0..500).for_each(|_| with(&step))))));
    }
    let fair = FairMutex::new(0);
    taken_in_turns(|count| *count += 1, |step| step(&mut fair.lock()));
    assert_eq!(*fair.lock(), 1500);
    let mutex = Mutex::new(0);
    taken_in_turns(
        |count| *count += 1,
        |step| {
            let mut guard = mutex.lock();
            MutexGuard::bump(&mut guard);
            step(&mut guard);
            MutexGuard::unlock_fair(guard);
        },
    );
    assert_eq!(*mutex.lock(), 1500);
    let lock = RwLock::new(0);
    taken_in_turns(
        |count| *count += 1,
        |step| {
            let mut reader = lock.read();
            RwLockReadGuard::bump(&mut reader);
            RwLockReadGuard::unlock_fair(reader);
            let mut reader = lock.upgradable_read();
            RwLockUpgradableReadGuard::bump(&mut reader);
            RwLockUpgradableReadGuard::unlock_fair(reader);
            let mut writer = lock.write();
            RwLockWriteGuard::bump(&mut writer);
            step(&mut writer);
            RwLockWriteGuard::unlock_fair(writer);
        },
    );
    assert_eq!(*lock.read(), 1500);
}

/// The holder never leaves the lock free for longer than a few instructions; another thread gets it all the same.
#[test]
fn a_thread_that_sleeps_gets_a_mutex_that_another_one_takes_all_the_time() {
    let (mutex, lock) = (Mutex::new(false), RwLock::new(false));
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel::<()>();
        scope.spawn(|| {
            *mutex.lock() = true;
            *lock.write() = true;
            drop(tell);
        });
        while told.try_recv() == Err(mpsc::TryRecvError::Empty) {
            drop((mutex.lock(), lock.write()));
        }
    });
    assert!(*mutex.lock() && *lock.read());
}

#[test]
fn parts_of_the_data_have_guards() {
    let mutex = Mutex::new((1, vec![2]));
    let mut part = MutexGuard::map(mutex.lock(), |data| &mut data.1);
    part.push(3);
    *MappedMutexGuard::map(part, |part| &mut part[0]) = 4;
    assert_eq!(mutex.into_inner(), (1, vec![4, 3]));
    let lock = RwLock::new((1, 2));
    *RwLockWriteGuard::map(lock.write(), |data| &mut data.0) = 3;
    let part = RwLockReadGuard::map(lock.read(), |data| &data.0);
    assert!(*part == 3 && lock.try_write().is_none() && lock.try_read().is_some());
}

#[test]
fn a_notification_under_the_mutex_moves_the_waiter_to_it() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let (tell, told) = mpsc::channel();
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let (theirs, tell) = (Arc::clone(&shared), tell.clone());
            thread::spawn(move || {
                let (mutex, changed) = &*theirs;
                let mut is_over = mutex.lock();
                tell.send(()).expect("it is awaited");
                changed.wait(&mut is_over);
                *is_over
            })
        })
        .collect();
    told.iter().take(3).for_each(drop);
    let (mutex, changed) = &*shared;
    // Each waiter has said so under the mutex, which its wait frees.
    let mut is_over = mutex.lock();
    assert!(changed.notify_one());
    assert_eq!((changed.notify_all(), changed.notify_all()), (2, 0));
    *is_over = true;
    drop(is_over);
    assert!(waiters.into_iter().all(|waiter| waiter.join().expect("it goes on")));
}

#[test]
fn waits_for_a_condition_end_with_it_or_at_their_limit() {
    let (mutex, changed) = (Mutex::new(3), Condvar::new());
    let mut guard = mutex.lock();
    assert!(changed.wait_while_for(&mut guard, |left| *left > 0, SHORT).timed_out());
    assert!(!changed.wait_while_until(&mut guard, |left| *left > 3, Instant::now()).timed_out());
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                *mutex.lock() -= 1;
                changed.notify_all();
            }
        });
        changed.wait_while(&mut guard, |left| *left > 0);
    });
    assert_eq!(*guard, 0);
}

#[test]
fn a_panic_poisons_what_was_to_be_done_once() {
    let once = Once::new();
    assert_eq!(once.state(), OnceState::New);
    assert!(catch_unwind(|| once.call_once(|| panic!("on purpose"))).is_err());
    assert!(once.state().poisoned() && catch_unwind(|| once.call_once(|| ())).is_err());
    once.call_once_force(|before| {
        assert_eq!((before, once.state()), (OnceState::Poisoned, OnceState::InProgress));
    });
    once.call_once(|| unreachable!("it is done"));
    assert_eq!(format!("{once:?}"), "Once { state: Done }");
}

#[cfg(feature = "arc_lock")]
#[test]
fn guards_keep_their_lock_alive() {
    let lock = Arc::new(RwLock::new(7));
    let (mut writer, mutex) = (lock.write_arc(), Arc::new(Mutex::new(8)));
    *writer += 1;
    let guard = mutex.lock_arc();
    drop((lock, mutex));
    assert_eq!((*writer, *guard), (8, 8));
}

#[cfg(feature = "send_guard")]
#[test]
fn another_thread_frees_what_this_one_has_locked() {
    let (mutex, lock) = (Mutex::new(0), RwLock::new(0));
    let guards = (mutex.lock(), lock.write());
    thread::scope(|scope| drop(scope.spawn(|| drop(guards))));
    assert!(!mutex.is_locked() && !lock.is_locked());
}
