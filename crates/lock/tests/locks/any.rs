//! The lock whose algorithm is chosen at run time: every algorithm of the registry behind it, and wrong use of each.

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use corecast_base::sync::UnsafeCell;
use corecast_lock::{Algorithm, AnyLock, Mode, Setup, WrongUse, this_thread};

const THREADS: usize = 6;
const ROUNDS: usize = 2000;
const SHORT: Duration = Duration::from_millis(2);

/// A count that only holders reach.
struct Counter {
    lock: AnyLock,
    count: UnsafeCell<usize>,
}

// SAFETY: the count is reached while the lock is held.
unsafe impl Sync for Counter {}
// SAFETY: as above.
unsafe impl Send for Counter {}

impl Counter {
    fn new(algorithm: Algorithm) -> Self {
        Self { lock: AnyLock::new(algorithm, &Setup::of_threads(THREADS)), count: UnsafeCell::new(0) }
    }

    fn add_held(&self) {
        let count = self.count.with_mut(|count| {
            // SAFETY: the caller holds the lock.
            let count = unsafe { &mut *count };
            *count += 1;
            *count
        });
        if count % 2 == 0 || !unlock_at_once(&self.lock) {
            self.lock.unlock().expect("this thread holds it");
        }
    }

    fn add(&self) {
        self.lock.lock().expect("another thread may hold it");
        self.add_held();
    }
}

fn lock_at_once(lock: &AnyLock) -> bool {
    // SAFETY: it is this thread's number.
    unsafe { lock.lock_at_once(this_thread::number()) }
}

fn unlock_at_once(lock: &AnyLock) -> bool {
    // SAFETY: it is this thread's number.
    unsafe { lock.unlock_at_once(this_thread::number()) }
}

fn each(test: impl Fn(Algorithm)) {
    Algorithm::ALL.iter().copied().for_each(test);
}

#[test]
fn nobody_else_is_inside_whatever_it_is() {
    each(|algorithm| {
        let counter = Counter::new(algorithm);
        let done: usize = thread::scope(|scope| {
            let run = |seed| {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut once = || {
                    let taken = match random.u8(..4) {
                        3 => Ok(lock_at_once(&counter.lock)),
                        0 => counter.lock.try_lock(),
                        1 => counter.lock.lock_until(Instant::now() + Duration::from_micros(random.u64(..100))),
                        _ => counter.lock.lock().map(|()| true),
                    };
                    let taken = taken.expect("no wrong use");
                    if taken {
                        counter.add_held();
                    }
                    taken
                };
                (0..ROUNDS).filter(|_| once()).count()
            };
            let threads: Vec<_> = (0..THREADS as u64).map(|seed| scope.spawn(move || run(seed))).collect();
            threads.into_iter().map(|thread| thread.join().expect("nobody panics")).sum()
        });
        assert!(done >= ROUNDS, "{algorithm}: {done}");
        assert_eq!(counter.count.into_inner(), done, "{algorithm}");
        assert_eq!(counter.lock.algorithm(), Ok(algorithm));
    });
}

#[test]
fn wrong_use_is_told_and_changes_nothing() {
    each(|algorithm| {
        let counter = Counter::new(algorithm);
        let lock = &counter.lock;
        assert_eq!(lock.unlock(), Err(WrongUse::NotHeldHere));
        lock.lock().expect("it is free");
        assert_eq!(lock.lock(), Err(WrongUse::HeldHere));
        assert_eq!(lock.lock_until(Instant::now() + SHORT), Err(WrongUse::HeldHere));
        assert_eq!((lock.stats(), lock.explain()), (Err(WrongUse::HeldHere), Err(WrongUse::HeldHere)));
        assert_eq!(lock.try_lock(), Ok(false));
        // SAFETY: nobody else uses it.
        assert_eq!(unsafe { lock.destroy() }, Err(WrongUse::Held));
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(lock.unlock(), Err(WrongUse::NotHeldHere), "{algorithm}");
                assert_eq!(lock.try_lock(), Ok(false));
                let start = Instant::now();
                assert_eq!(lock.lock_until(start + SHORT), Ok(false));
                assert!(start.elapsed() >= SHORT, "{algorithm} gave up early");
                // SAFETY: the other one waits for this thread.
                assert_eq!(unsafe { lock.destroy() }, Err(WrongUse::Held));
            });
        });
        counter.add_held();
        thread::scope(|scope| _ = scope.spawn(|| counter.add()));
        counter.add();
        assert_eq!(counter.count.into_inner(), 3);
    });
}

#[test]
fn a_destroyed_lock_is_one_no_more() {
    each(|algorithm| {
        let lock = AnyLock::new(algorithm, &Setup::default());
        // SAFETY: nobody else uses it.
        assert_eq!(unsafe { lock.destroy() }, Ok(()));
        let destroyed = WrongUse::Destroyed;
        assert_eq!((lock.lock(), lock.try_lock(), lock.unlock()), (Err(destroyed), Err(destroyed), Err(destroyed)));
        assert_eq!((lock.lock_until(Instant::now()), lock.stats()), (Err(destroyed), Err(destroyed)));
        assert_eq!(lock.explain(), Err(destroyed));
        // SAFETY: as above.
        assert_eq!((unsafe { lock.destroy() }, lock.algorithm()), (Err(destroyed), Err(destroyed)));
    });
}

#[test]
fn memory_that_is_no_lock_is_told_by_its_number() {
    let mut line = MaybeUninit::<AnyLock>::zeroed();
    // SAFETY: inside the line; its label, with the number 200.
    unsafe { line.as_mut_ptr().cast::<u32>().wrapping_add(14).write(200 << 24) };
    // SAFETY: any bytes are a line.
    let lock = unsafe { line.assume_init() };
    assert_eq!((lock.lock(), lock.unlock()), (Err(WrongUse::NoLock { number: 200 }), Err(lock.lock().unwrap_err())));
    assert_eq!(lock.lock().unwrap_err().to_string(), "this is no lock: there is no algorithm with the number 200");
}

#[test]
fn zeroes_are_a_free_auto_which_counts() {
    // SAFETY: any bytes are a line.
    let zeroes: AnyLock = unsafe { MaybeUninit::zeroed().assume_init() };
    for lock in [zeroes, AnyLock::default()] {
        lock.lock().expect("it is free");
        lock.unlock().expect("held here");
        let stats = lock.stats().expect("it is an auto");
        assert_eq!((stats.mode, stats.waits, stats.switches), (Mode::Spin, 0, 0));
        assert_eq!(lock.algorithm(), Ok(Algorithm::Auto));
        let explanation = lock.explain().expect("it is an auto");
        assert_eq!((explanation.mode, explanation.last_switch), (Mode::Spin, None));
    }
    let ticket = AnyLock::new(Algorithm::Ticket, &Setup::default());
    assert_eq!((ticket.stats(), ticket.explain()), (Err(WrongUse::NoStats), Err(WrongUse::NoStats)));
}

#[test]
fn at_once_only_an_auto_that_nobody_holds_is_taken_and_only_its_holder_frees_it() {
    each(|algorithm| {
        let lock = AnyLock::new(algorithm, &Setup::default());
        let is_auto = algorithm == Algorithm::Auto;
        assert!(!unlock_at_once(&lock));
        // SAFETY: 0 is any thread's.
        assert!(!unsafe { lock.lock_at_once(0) }, "a thread without a number");
        lock.lock().expect("it is free");
        assert!(!lock_at_once(&lock));
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(lock.try_lock(), Ok(false));
                assert!(!lock_at_once(&lock) && !unlock_at_once(&lock), "{algorithm}");
            });
        });
        assert_eq!(unlock_at_once(&lock), is_auto);
        assert_eq!(lock.unlock().is_err(), is_auto);
        assert_eq!(lock_at_once(&lock), is_auto);
        assert_eq!(lock.unlock().is_ok(), is_auto);
        // SAFETY: nobody else uses it.
        unsafe { lock.destroy() }.expect("it is free");
        assert!(!lock_at_once(&lock) && !unlock_at_once(&lock));
    });
}

#[test]
fn a_held_lock_may_move_and_locks_are_held_in_any_order() {
    each(|algorithm| {
        let locks: Vec<AnyLock> = (0..40).map(|_| AnyLock::new(algorithm, &Setup::default())).collect();
        locks.iter().for_each(|lock| lock.lock().expect("it is free"));
        let mut moved: Vec<AnyLock> = locks.into_iter().rev().collect();
        fastrand::Rng::with_seed(7).shuffle(&mut moved);
        moved.iter().for_each(|lock| lock.unlock().expect("held here"));
        assert!(moved.iter().all(|lock| lock.try_lock() == Ok(true)), "{algorithm}");
        // Some are dropped while they are held: nobody waits for them.
    });
}

#[test]
fn a_thread_that_ends_leaves_what_it_held_to_nobody() {
    each(|algorithm| {
        let counter = Counter::new(algorithm);
        thread::scope(|scope| _ = scope.spawn(|| counter.lock.lock()));
        assert_eq!((counter.lock.try_lock(), counter.lock.unlock()), (Ok(false), Err(WrongUse::NotHeldHere)));
    });
}

/// Locks when its thread ends, when the thread keeps no nodes any more perhaps.
struct LocksAtTheEnd(Arc<Counter>);

impl Drop for LocksAtTheEnd {
    fn drop(&mut self) {
        (0..100).for_each(|_| self.0.add());
    }
}

#[test]
fn a_destructor_of_a_thread_can_lock() {
    thread_local! {
        static BEFORE: RefCell<Option<LocksAtTheEnd>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<LocksAtTheEnd>> = const { RefCell::new(None) };
    }
    each(|algorithm| {
        let (counter, start) = (Arc::new(Counter::new(algorithm)), Arc::new(Barrier::new(THREADS)));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (counter, start) = (Arc::clone(&counter), Arc::clone(&start));
                thread::spawn(move || {
                    BEFORE.set(Some(LocksAtTheEnd(Arc::clone(&counter))));
                    counter.add();
                    AFTER.set(Some(LocksAtTheEnd(Arc::clone(&counter))));
                    start.wait();
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        counter.lock.lock().expect("it is free");
        // SAFETY: the lock is held.
        counter.count.with(|count| assert_eq!(unsafe { *count }, THREADS * 201, "{algorithm}"));
    });
}
