//! Reader-writer locks: each algorithm, limits, wrong use, and the list of algorithms, which is the registry's.

use std::ffi::CString;
use std::ptr;
use std::thread;

use corecast::base::sync::UnsafeCell;
use corecast::lock::RwAlgorithm;
use corecast_c::rw_lock::*;
use corecast_c::status::Status;

use crate::calling::{output, owned, status, words};

const MILLISECOND: u64 = 1_000_000;

/// Two counts that are equal whenever no thread writes, and the lock that guards them.
struct Shared {
    lock: Box<RwLock>,
    counts: UnsafeCell<[u64; 2]>,
}

// SAFETY: the lock is made for that, and the counts are reached while it is held.
unsafe impl Sync for Shared {}

impl Shared {
    fn new(algorithm: u32) -> Self {
        let lock = owned(output(|lock| corecast_rw_lock_create(algorithm, lock))).expect("an object was given");
        Self { lock, counts: UnsafeCell::new([0; 2]) }
    }

    fn read(&self, reader: &mut RwReader) -> Status {
        // SAFETY: room for a reader.
        unsafe { corecast_rw_lock_read(Some(&self.lock), reader) }
    }

    fn try_read(&self, reader: &mut RwReader) -> Status {
        // SAFETY: room for a reader.
        unsafe { corecast_rw_lock_try_read(Some(&self.lock), reader) }
    }

    fn unlock_read(&self, reader: &mut RwReader) -> Status {
        // SAFETY: a reader.
        unsafe { corecast_rw_lock_unlock_read(Some(&self.lock), reader) }
    }

    /// The counts, read by a reader of its own.
    fn seen(&self) -> [u64; 2] {
        let mut reader = nobody();
        assert_eq!(self.read(&mut reader), Status::Ok, "{}", words());
        // SAFETY: the lock is held by a reader.
        let seen = self.counts.with(|counts| unsafe { *counts });
        assert_eq!(self.unlock_read(&mut reader), Status::Ok, "{}", words());
        seen
    }

    fn add(&self) {
        assert_eq!(corecast_rw_lock_write(Some(&self.lock)), Status::Ok, "{}", words());
        // SAFETY: the lock is held by a writer.
        let counts = self.counts.with_mut(|counts| unsafe { &mut *counts });
        counts.iter_mut().for_each(|count| *count += 1);
        assert_eq!(corecast_rw_lock_unlock_write(Some(&self.lock)), Status::Ok, "{}", words());
    }
}

fn nobody() -> RwReader {
    RwReader { opaque: [0; 2] }
}

/// The same with each algorithm.
fn with_each(body: impl Fn(&Shared)) {
    use RwLockAlgorithm::{Phase, Spread, Ttas};
    [Ttas, Phase, Spread].into_iter().for_each(|algorithm| body(&Shared::new(algorithm as u32)));
}

#[test]
fn readers_see_whole_changes_whatever_the_lock() {
    with_each(|shared| {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..500).for_each(|_| shared.add()));
                scope.spawn(|| (0..500).map(|_| shared.seen()).for_each(|[one, other]| assert_eq!(one, other)));
            }
        });
        assert_eq!(shared.seen(), [1000; 2]);
    });
}

#[test]
fn many_read_at_once_and_one_writes_alone() {
    with_each(|shared| {
        let (mut one, mut other) = (nobody(), nobody());
        assert_eq!((shared.read(&mut one), shared.try_read(&mut other)), (Status::Ok, Status::Ok));
        let writes = || {
            let told = corecast_rw_lock_try_write(Some(&shared.lock));
            assert_eq!((told, words().as_str()), (Status::Taken, "the lock is held"));
            let told = corecast_rw_lock_write_timeout_ns(Some(&shared.lock), MILLISECOND);
            assert_eq!((told, words().as_str()), (Status::Timeout, "the lock stayed held until the deadline"));
        };
        thread::scope(|scope| scope.spawn(writes).join().expect("it waits in vain"));
        assert_eq!((shared.unlock_read(&mut one), shared.unlock_read(&mut other)), (Status::Ok, Status::Ok));

        assert_eq!(corecast_rw_lock_write_timeout_ns(Some(&shared.lock), u64::MAX), Status::Ok);
        let reads = || {
            let mut reader = nobody();
            assert_eq!((shared.try_read(&mut reader), words().as_str()), (Status::Taken, "the lock is held"));
            // SAFETY: room for a reader.
            let told = unsafe { corecast_rw_lock_read_timeout_ns(Some(&shared.lock), MILLISECOND, &raw mut reader) };
            assert_eq!((told, reader.opaque[0]), (Status::Timeout, 0), "there is no reader");
        };
        thread::scope(|scope| scope.spawn(reads).join().expect("it waits in vain"));

        // SAFETY: room for a reader.
        assert_eq!(unsafe { corecast_rw_lock_downgrade(Some(&shared.lock), &raw mut one) }, Status::Ok);
        thread::scope(|scope| scope.spawn(|| shared.seen()).join().expect("it reads, too"));
        assert_eq!(shared.unlock_read(&mut one), Status::Ok);
        assert_eq!(corecast_rw_lock_try_write(Some(&shared.lock)), Status::Ok, "all readers have ended");
        assert_eq!(corecast_rw_lock_unlock_write(Some(&shared.lock)), Status::Ok);
    });
}

#[test]
fn wrong_uses_are_told_and_change_nothing() {
    with_each(|shared| {
        let mut reader = nobody();
        assert_eq!(shared.unlock_read(&mut reader), Status::InvalidArgument);
        assert_eq!(words(), "argument 'reader': is no reader of this lock");
        assert_eq!(shared.read(&mut reader), Status::Ok);
        let other = Shared::new(RwLockAlgorithm::Ttas as u32);
        assert_eq!(other.unlock_read(&mut reader), Status::InvalidArgument, "of another lock");
        assert_eq!((shared.unlock_read(&mut reader), shared.unlock_read(&mut reader)), {
            (Status::Ok, Status::InvalidArgument)
        });

        let not_held = (Status::InvalidArgument, "this thread does not hold the lock".to_owned());
        assert_eq!((corecast_rw_lock_unlock_write(Some(&shared.lock)), words()), not_held);
        assert_eq!(corecast_rw_lock_write(Some(&shared.lock)), Status::Ok);
        let held = (Status::InvalidArgument, "this thread holds the lock already".to_owned());
        assert_eq!((corecast_rw_lock_write(Some(&shared.lock)), words()), held);
        assert_eq!((shared.read(&mut reader), words()), held);
        let elsewhere = || (corecast_rw_lock_unlock_write(Some(&shared.lock)), words());
        assert_eq!(thread::scope(|scope| scope.spawn(elsewhere).join().expect("it is told")), not_held);
        assert_eq!(corecast_rw_lock_unlock_write(Some(&shared.lock)), Status::Ok);
        // SAFETY: NULL is refused.
        assert_eq!(unsafe { corecast_rw_lock_read(Some(&shared.lock), ptr::null_mut()) }, Status::InvalidArgument);
        assert_eq!(words(), "argument 'reader': is NULL, or not aligned");
    });
    assert_eq!(corecast_rw_lock_write(None), Status::InvalidArgument);
    corecast_rw_lock_destroy(None);
}

#[test]
fn algorithms_are_those_of_the_registry() {
    use RwLockAlgorithm::{Phase, Spread, Ttas, Word};
    let listed = [(Ttas, "rw_ttas"), (Phase, "rw_phase"), (Spread, "rw_spread"), (Word, "rw_word")];
    let listed = listed.map(|(algorithm, name)| (algorithm as u32, name));
    let registered: Vec<_> = RwAlgorithm::ALL.iter().map(|&lock| (lock as u32, lock.facts().name)).collect();
    assert_eq!(listed.to_vec(), registered, "the numbers in crates/capi/src/rw_lock.rs are those of the registry");
    for &algorithm in RwAlgorithm::ALL {
        let name = CString::new(algorithm.facts().name).expect("no zero byte");
        // SAFETY: a text.
        let number = output(|number| unsafe { corecast_rw_lock_algorithm_of_name(name.as_ptr(), number) });
        assert_eq!(number, algorithm as u32);
        Shared::new(number).add();
    }
    // SAFETY: a text.
    let told = status(|number| unsafe { corecast_rw_lock_algorithm_of_name(c"mcs".as_ptr(), number) });
    assert_eq!((told, words().as_str()), (Status::NotFound, "there is no reader-writer lock 'mcs'"));
    assert_eq!(status(|lock| corecast_rw_lock_create(0, lock)), Status::NotFound);
    assert_eq!(words(), "there is no reader-writer lock with the number 0");
}
