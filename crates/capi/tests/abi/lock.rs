//! Locks: each algorithm, wrong use, and the list of algorithms, which is the registry's.

use std::ffi::{CString, c_char};
use std::thread;

use corecast::base::sync::UnsafeCell;
use corecast::lock::{Algorithm, Mode};
use corecast_c::lock::*;
use corecast_c::status::Status;

use crate::calling::{Out, output, status, words};

const MILLISECOND: u64 = 1_000_000;

/// A lock that threads share, as those of C do, and what it guards.
struct Shared {
    lock: UnsafeCell<Lock>,
    count: UnsafeCell<u64>,
}

// SAFETY: the lock is made for that, and the count is reached while it is held.
unsafe impl Sync for Shared {}

/// A call for a lock by its address.
type Call = unsafe extern "C" fn(*mut Lock) -> Status;

impl Shared {
    /// A free auto, that no call has made.
    fn zeroed() -> Self {
        Self { lock: UnsafeCell::new(Lock { opaque: [0; 8] }), count: UnsafeCell::new(0) }
    }

    fn new(algorithm: u32) -> Self {
        let shared = Self::zeroed();
        // SAFETY: memory for a lock.
        assert_eq!(unsafe { corecast_lock_create(algorithm, shared.at()) }, Status::Ok, "{}", words());
        shared
    }

    /// Where it is.
    fn at(&self) -> *mut Lock {
        self.lock.with_mut(|lock| lock)
    }

    fn call(&self, call: Call) -> Status {
        // SAFETY: a lock.
        unsafe { call(self.at()) }
    }

    fn lock_timeout_ns(&self, timeout_ns: u64) -> Status {
        // SAFETY: a lock.
        unsafe { corecast_lock_lock_timeout_ns(self.at(), timeout_ns) }
    }

    fn stats(&self, stats: Out<'_, LockStats>) -> Status {
        // SAFETY: a lock.
        unsafe { corecast_lock_read_stats(self.at(), stats) }
    }

    /// Adds while the lock is held, and frees it.
    fn add(&self) {
        // SAFETY: the lock is held.
        self.count.with_mut(|count| unsafe { *count += 1 });
        assert_eq!(self.call(corecast_lock_unlock), Status::Ok, "{}", words());
    }
}

/// Does it on another thread.
fn elsewhere(body: impl FnOnce() + Send) {
    thread::scope(|scope| _ = scope.spawn(body));
}

#[test]
fn threads_exclude_each_other_whatever_the_lock() {
    let zeroed = std::iter::once(Shared::zeroed());
    for shared in zeroed.chain(Algorithm::ALL.iter().map(|&algorithm| Shared::new(algorithm as u32))) {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..500 {
                        let told = match round % 3 {
                            0 => shared.call(corecast_lock_lock),
                            1 => shared.lock_timeout_ns(u64::MAX),
                            _ => loop {
                                match shared.call(corecast_lock_try_lock) {
                                    Status::Taken => thread::yield_now(),
                                    told => break told,
                                }
                            },
                        };
                        assert_eq!(told, Status::Ok, "{}", words());
                        shared.add();
                    }
                });
            }
        });
        assert_eq!(shared.call(corecast_lock_destroy), Status::Ok, "{}", words());
        assert_eq!(shared.count.into_inner(), 2000);
    }
}

#[test]
fn a_held_lock_is_taken_to_all_and_wrong_use_is_told() {
    for &algorithm in Algorithm::ALL {
        let shared = Shared::new(algorithm as u32);
        let wrong =
            |told, why: &str| assert_eq!((told, words()), (Status::InvalidArgument, why.to_owned()), "{algorithm}");
        wrong(shared.call(corecast_lock_unlock), "this thread does not hold the lock");
        assert_eq!(shared.call(corecast_lock_lock), Status::Ok);
        wrong(shared.call(corecast_lock_lock), "this thread holds the lock already");
        wrong(shared.lock_timeout_ns(0), "this thread holds the lock already");
        assert_eq!((shared.call(corecast_lock_try_lock), words()), (Status::Taken, "the lock is held".to_owned()));
        elsewhere(|| {
            wrong(shared.call(corecast_lock_unlock), "this thread does not hold the lock");
            let late = "the lock stayed held until the deadline".to_owned();
            assert_eq!((shared.lock_timeout_ns(MILLISECOND), words()), (Status::Timeout, late));
            assert_eq!(shared.call(corecast_lock_try_lock), Status::Taken);
            assert_eq!((shared.call(corecast_lock_destroy), words()), (Status::Taken, "the lock is held".to_owned()));
        });
        shared.add();
        assert_eq!(shared.call(corecast_lock_destroy), Status::Ok);
        for call in [corecast_lock_lock as Call, corecast_lock_try_lock, corecast_lock_unlock, corecast_lock_destroy] {
            wrong(shared.call(call), "the lock was destroyed");
        }
        // SAFETY: memory for a lock.
        assert_eq!(unsafe { corecast_lock_create(algorithm as u32, shared.at()) }, Status::Ok);
        elsewhere(|| assert_eq!(shared.lock_timeout_ns(0), Status::Ok, "{algorithm} is free again"));
    }
}

#[test]
fn auto_explains_itself_in_a_text_that_may_be_cut() {
    let shared = Shared::zeroed();
    let mut buffer = [0x7f_u8; 32];
    let text = "mode spin; 0.0 threads waited at a time\nthe mode has not changed";
    // SAFETY: a lock, and a buffer of 32 bytes.
    let mut explain =
        |lock, len: Out<'_, usize>| unsafe { corecast_lock_explain(lock, buffer.as_mut_ptr().cast(), 32, len) };
    assert_eq!(output(|len| explain(shared.at(), len)), text.len());
    assert_eq!(explain(shared.at(), None), Status::InvalidArgument);
    let ticket = Shared::new(LockAlgorithm::Ticket as u32);
    assert_eq!(status(|len| explain(ticket.at(), len)), Status::InvalidArgument);
    assert_eq!(words(), "only the lock auto keeps statistics");
    assert_eq!(buffer[..31], text.as_bytes()[..31]);
    assert_eq!(buffer[31], 0, "it ends where the buffer does");
    // SAFETY: no buffer is needed for nothing.
    let asked = output(|len| unsafe { corecast_lock_explain(shared.at(), std::ptr::null_mut(), 0, len) });
    assert_eq!(asked, text.len());
}

#[test]
fn auto_tells_what_it_has_seen() {
    let shared = Shared::zeroed();
    assert_eq!(shared.call(corecast_lock_lock), Status::Ok);
    assert_eq!(status(|stats| shared.stats(stats)), Status::InvalidArgument, "it would wait for itself");
    shared.add();
    let stats = output(|stats| shared.stats(stats));
    assert_eq!(stats, LockStats { mode: LockMode::Spin as u32, switches: 0, waits: 0 });
    assert_eq!(shared.stats(None), Status::InvalidArgument);
    let ticket = Shared::new(LockAlgorithm::Ticket as u32);
    assert_eq!(status(|stats| ticket.stats(stats)), Status::InvalidArgument);
    assert_eq!(words(), "only the lock auto keeps statistics");
    let modes = [LockMode::Spin, LockMode::Queue, LockMode::Park].map(|mode| mode as u32);
    assert_eq!(modes, Mode::ALL.map(|mode| mode as u32));
}

#[test]
fn the_header_has_the_algorithms_of_the_registry() {
    let header = include_str!("../../include/corecast.h");
    let listed = |line: &&str| line.trim_start().starts_with("CORECAST_LOCK_ALGORITHM_");
    let mut listed: Vec<&str> = header.lines().filter(listed).map(str::trim_start).collect();
    let line = |lock: &Algorithm| format!("CORECAST_LOCK_ALGORITHM_{} = {},", lock.name().to_uppercase(), *lock as u32);
    let mut registered: Vec<String> = Algorithm::ALL.iter().map(line).collect();
    listed.sort_unstable();
    registered.sort_unstable();
    assert_eq!(listed, registered, "the numbers in crates/capi/src/lock.rs are those of the registry");
}

#[test]
fn names_lead_to_numbers() {
    let number = |name: &str, number: Out<'_, u32>| {
        let name = CString::new(name).expect("no zero byte");
        // SAFETY: a text.
        unsafe { corecast_lock_algorithm_of_name(name.as_ptr(), number) }
    };
    for algorithm in Algorithm::ALL {
        assert_eq!(output(|to| number(algorithm.name(), to)), *algorithm as u32);
    }
    assert_eq!(status(|to| number("spin", to)), Status::NotFound);
    assert!(words().starts_with("unknown lock 'spin': expected one of tas, "), "{}", words());
    assert_eq!((number("tas", None), words()), (Status::InvalidArgument, "argument 'algorithm': is NULL".to_owned()));
    let none: *const c_char = std::ptr::null();
    // SAFETY: NULL is refused.
    assert_eq!(status(|to| unsafe { corecast_lock_algorithm_of_name(none, to) }), Status::InvalidArgument);
}

#[test]
fn wrong_addresses_and_numbers_are_named() {
    let shared = Shared::zeroed();
    // SAFETY: memory for a lock.
    let create = |number| unsafe { corecast_lock_create(number, shared.at()) };
    for number in [0, 99, u32::MAX] {
        assert_eq!((create(number), words()), (Status::NotFound, format!("there is no lock with the number {number}")));
    }
    assert_eq!(shared.call(corecast_lock_try_lock), Status::Ok, "it is what it was");
    let null = std::ptr::null_mut();
    let askew = shared.at().wrapping_byte_add(8);
    // SAFETY: not looked at.
    let told = [null, askew].map(|lock| (unsafe { corecast_lock_lock(lock) }, words()));
    let named = ["argument 'lock': is NULL", "argument 'lock': is not aligned to 64 bytes"];
    assert_eq!(told, named.map(|why| (Status::InvalidArgument, why.to_owned())));
    // SAFETY: not looked at.
    assert_eq!(unsafe { corecast_lock_create(1, null) }, Status::InvalidArgument);
    let garbage =
        Shared { lock: UnsafeCell::new(Lock { opaque: [u64::MAX / 0xff * 0x77; 8] }), count: UnsafeCell::new(0) };
    assert_eq!(garbage.call(corecast_lock_unlock), Status::InvalidArgument);
    assert_eq!(words(), "this is no lock: there is no algorithm with the number 119");
}
