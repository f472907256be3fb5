//! Models of the barrier's tickets, of the word for readers and writers, and of objects that are put in order.
#![cfg(loom)]

use corecast_base::sync::{Arc, AtomicU32, AtomicU64, Ordering, UnsafeCell};
use corecast_base::wait::{CpuSharing, LONGEST_SLEEP, Wait, Waiter};
use corecast_pthread::{EpochWord, ReleaseFlag, RwWord, Ticket};
use loom::thread;

/// A waiter that looks again and again, or sleeps after its first look.
fn waiter(policy: Wait) -> Waiter {
    Waiter::new(policy, CpuSharing::among(2, 2), None)
}

struct Shared<const THREADS: usize> {
    barrier: Ticket,
    /// The word of the barrier's flag.
    flag: AtomicU64,
    /// Each thread writes its own before the barrier, and the others read it behind.
    parts: [UnsafeCell<u32>; THREADS],
}

// SAFETY: the barrier orders what is done to the parts, which the model checks.
unsafe impl<const THREADS: usize> Sync for Shared<THREADS> {}
// SAFETY: as above.
unsafe impl<const THREADS: usize> Send for Shared<THREADS> {}

impl<const THREADS: usize> Shared<THREADS> {
    fn new() -> Arc<Self> {
        let parts = std::array::from_fn(|_| UnsafeCell::new(0));
        Arc::new(Self { barrier: Ticket::new(THREADS as u32), flag: AtomicU64::new(0), parts })
    }

    fn wait(&self, waiter: &mut Waiter) -> bool {
        self.barrier.wait(Some(ReleaseFlag::within(&self.flag, 1)), waiter)
    }

    /// Waits once; true for the last thread.
    fn pass(&self, mine: usize, round: u32, waiter: &mut Waiter) -> bool {
        // SAFETY: the others read it behind the barrier.
        self.parts[mine].with_mut(|part| unsafe { *part = round });
        let is_last = self.wait(waiter);
        for part in &self.parts {
            // SAFETY: its thread has written it before the barrier.
            assert_eq!(part.with(|part| unsafe { *part }), round);
        }
        is_last
    }
}

fn pass_twice(policy: Wait) {
    let pass_twice = move |shared: &Shared<2>, mine| {
        let mut waiter = waiter(policy);
        u32::from(shared.pass(mine, 1, &mut waiter)) + u32::from(shared.wait(&mut waiter))
    };
    loom::model(move || {
        let shared = Shared::new();
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || pass_twice(&theirs, 1));
        let serial = pass_twice(&shared, 0) + other.join().expect("it passes");
        assert_eq!(serial, 2);
    });
}

#[test]
fn what_was_written_before_is_read_behind() {
    pass_twice(Wait::Yield);
}

#[test]
fn what_was_written_before_is_read_by_a_thread_that_has_slept() {
    pass_twice(Wait::Park);
}

/// The last of three passes on to each waiter what the other one had written: a waiter hears of it by the last thread only.
#[test]
fn what_one_waiter_has_written_is_read_by_another() {
    loom::model(|| {
        let shared = Shared::<3>::new();
        let others = [1, 2].map(|mine| {
            let theirs = Arc::clone(&shared);
            thread::spawn(move || theirs.pass(mine, 1, &mut waiter(Wait::Yield)))
        });
        let serial = u32::from(shared.pass(0, 1, &mut waiter(Wait::Yield)));
        let serial = serial + others.map(|other| u32::from(other.join().expect("it passes"))).iter().sum::<u32>();
        assert_eq!(serial, 1);
    });
}

/// Three threads at a barrier for two: each pair is a round, whoever is in it.
#[test]
fn more_threads_come_than_it_counts() {
    loom::model(|| {
        let shared = Arc::new((Ticket::new(2), AtomicU32::new(0), AtomicU64::new(0)));
        let come = |shared: &(Ticket, AtomicU32, AtomicU64)| {
            let (mut serial, mut waiter) = (0, waiter(Wait::Park));
            // All waits together are even, so that nobody is left over.
            // ORDERING: Relaxed, each wait is drawn once
            while shared.1.fetch_add(1, Ordering::Relaxed) < 4 {
                let flag = ReleaseFlag::within(&shared.2, 1);
                serial += u32::from(shared.0.wait(Some(flag), &mut waiter));
            }
            serial
        };
        let others = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || come(&shared))
        });
        let serial = come(&shared) + others.map(|other| other.join().expect("it waits")).iter().sum::<u32>();
        assert_eq!(serial, 2);
        assert!(shared.0.is_between_rounds());
    });
}

/// Another barrier sets the flag, too, at any time: the waiter may find its own barrier's name there, the other's, or its own
/// again.
fn pass_beside_another(policy: Wait) {
    loom::model(move || {
        let shared = Shared::<2>::new();
        let [theirs, beside] = [Arc::clone(&shared), Arc::clone(&shared)];
        let another = thread::spawn(move || {
            let other = ReleaseFlag::within(&beside.flag, 2);
            other.set(7);
            other.clear();
            other.set(8);
        });
        let other = thread::spawn(move || theirs.pass(1, 1, &mut waiter(policy)));
        let serial = u32::from(shared.pass(0, 1, &mut waiter(policy)));
        assert_eq!(serial + u32::from(other.join().expect("it passes")), 1);
        another.join().expect("it sets the flag");
    });
}

#[test]
fn barriers_may_share_a_flag() {
    pass_beside_another(Wait::Yield);
}

#[test]
fn barriers_of_sleepers_may_share_a_flag() {
    pass_beside_another(Wait::Park);
}

/// Once the barrier is empty its memory can be used otherwise: no thread of its rounds touches it any more.
fn all_leave<const THREADS: usize>(policy: Wait) {
    loom::model(move || {
        let barrier = Arc::new(Ticket::new(THREADS as u32));
        let others: Vec<_> = (1..THREADS)
            .map(|_| {
                let theirs = Arc::clone(&barrier);
                thread::spawn(move || theirs.wait(None, &mut waiter(policy)))
            })
            .collect();
        let mut waiter = waiter(policy);
        barrier.wait(None, &mut waiter);
        barrier.empty(&mut waiter);
        barrier.use_otherwise();
        for other in others {
            other.join().expect("it waits");
        }
    });
}

#[test]
fn an_empty_barrier_is_left_by_one() {
    all_leave::<2>(Wait::Yield);
}

#[test]
fn an_empty_barrier_is_left_by_two() {
    all_leave::<3>(Wait::Yield);
}

#[test]
fn a_thread_that_sleeps_hears_that_the_barrier_is_empty() {
    all_leave::<2>(Wait::Park);
}

/// An object whose memory is used by threads that find it in order.
struct Fresh {
    epoch: EpochWord,
    made: UnsafeCell<u32>,
    /// Where it is in order, as far as that depends on its place.
    place: AtomicU32,
}

// SAFETY: the memory is made by one thread, before the others look, which the model checks.
unsafe impl Sync for Fresh {}
// SAFETY: as above.
unsafe impl Send for Fresh {}

const EPOCH: u32 = 2;

impl Fresh {
    fn is_here(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in find, as a mutex's handle [place]
        self.place.load(Ordering::Acquire) == 1
    }

    /// As a thread that locks it: how often it was made.
    fn find(&self) -> u32 {
        if !self.epoch.is_in_order(EPOCH, || self.is_here()) {
            self.epoch.put_in_order(
                EPOCH,
                || self.is_here(),
                |_epoch| {
                    // As the address of a record: before the lock is made.
                    // ORDERING: Release, pairs with the Acquire in is_here [place]
                    self.place.store(1, Ordering::Release);
                    // SAFETY: no other thread looks meanwhile.
                    self.made.with_mut(|made| unsafe { *made += 1 });
                },
            );
        }
        // SAFETY: made before.
        self.made.with(|made| unsafe { *made })
    }
}

/// Two threads come to it first: it is made once, and both find it so.
fn made_once(fresh: fn() -> Fresh) {
    loom::model(move || {
        let object = Arc::new(fresh());
        let others = [(); 2].map(|()| {
            let theirs = Arc::clone(&object);
            thread::spawn(move || theirs.find())
        });
        assert_eq!(object.find(), 1);
        for other in others {
            assert_eq!(other.join().expect("it finds it"), 1);
        }
    });
}

#[test]
fn a_fresh_object_is_made_once() {
    made_once(|| Fresh { epoch: EpochWord::new(), made: UnsafeCell::new(0), place: AtomicU32::new(0) });
}

#[test]
fn a_moved_object_is_made_once() {
    made_once(|| {
        let object = Fresh { epoch: EpochWord::new(), made: UnsafeCell::new(0), place: AtomicU32::new(1) };
        object.epoch.put_in_order(EPOCH, || true, |_epoch| {});
        // ORDERING: Relaxed, not shared yet
        object.place.store(0, Ordering::Relaxed);
        object
    });
}

/// Data that a lock guards.
struct Guarded {
    lock: RwWord,
    value: UnsafeCell<u32>,
}

// SAFETY: the lock orders what is done to the value, which the model checks.
unsafe impl Sync for Guarded {}
// SAFETY: as above.
unsafe impl Send for Guarded {}

impl Guarded {
    fn new() -> Self {
        Self { lock: RwWord::new(), value: UnsafeCell::new(0) }
    }

    fn write(&self) {
        self.lock.write(|| Some(LONGEST_SLEEP)).expect("it waits");
        // SAFETY: this thread writes.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.lock.unlock();
    }

    fn read(&self) -> u32 {
        self.lock.read(|| Some(LONGEST_SLEEP)).expect("it waits");
        // SAFETY: nobody writes.
        let value = self.value.with(|value| unsafe { *value });
        self.lock.unlock();
        value
    }
}

#[test]
fn writers_exclude_each_other_and_a_reader() {
    loom::model(|| {
        let guarded = Arc::new(Guarded::new());
        let [writes, reads] = [(); 2].map(|()| Arc::clone(&guarded));
        let writer = thread::spawn(move || writes.write());
        let reader = thread::spawn(move || reads.read());
        guarded.write();
        writer.join().expect("it writes");
        assert!(reader.join().expect("it reads") <= 2);
        assert_eq!(guarded.read(), 2);
    });
}

/// A thread that reads does so once more, whether or not a writer waits for it by then.
#[test]
fn a_reader_reads_again_beside_a_writer_that_waits() {
    loom::model(|| {
        let guarded = Arc::new(Guarded::new());
        let writes = Arc::clone(&guarded);
        guarded.lock.read(|| Some(LONGEST_SLEEP)).expect("it waits");
        let writer = thread::spawn(move || writes.write());
        assert_eq!(guarded.read(), 0);
        guarded.lock.unlock();
        writer.join().expect("it writes");
        assert_eq!(guarded.read(), 1);
    });
}
