//! Locks among the threads of this process.

use std::ffi::c_char;
use std::time::{Duration, Instant};

use corecast::lock::{Algorithm, AnyLock, Setup};

use crate::argument::required;
use crate::error::{Failure, call, copy_text};
use crate::status::Status;
use crate::thread_number;

/// The algorithm of a lock. `corecast list locks` describes each, and says when to take it. The number of an algorithm
/// never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
#[non_exhaustive]
pub enum LockAlgorithm {
    /// Swaps one word until the lock was free.
    Tas = 1,
    /// Reads one word until it is free, with exponential back-off.
    Ttas = 2,
    /// Draws a number, with back-off in proportion to those ahead.
    Ticket = 3,
    /// Draws a number; each thread polls a line of its own.
    Array = 4,
    /// A queue; each thread polls its own node.
    Mcs = 5,
    /// A queue; each thread polls the node of the one before.
    Clh = 6,
    /// One word, spins for a while and then sleeps.
    Word = 7,
    /// Moves between polling, a queue and sleep. Take it unless you know better.
    Auto = 8,
    /// One byte; its threads sleep in a table that all such locks share.
    Byte = 9,
    /// A queue whose threads sleep.
    Qword = 10,
    /// A tree of queues: hands the lock to a thread nearby, a limited number of times in a row.
    Hmcs = 11,
}

/// How the threads at a lock of the algorithm auto wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
#[non_exhaustive]
pub enum LockMode {
    /// All threads poll one word.
    Spin = 0,
    /// The first thread of a queue polls the word, each other one a line of its own.
    Queue = 1,
    /// All threads poll the word for as long as a wake-up costs, then sleep.
    Park = 2,
}

/// A lock. All zeroes are a free lock of the algorithm auto, so a lock in zeroed memory, such as a static one, needs no
/// corecast_lock_create. It lies where its user puts it, aligned to its size; while no thread waits for it, it may be
/// moved.
///
/// The thread that locked it unlocks it. Wrong use returns CORECAST_INVALID_ARGUMENT, with a message, and changes nothing:
/// locking a lock that this thread holds; unlocking one that it does not hold; using a lock that was destroyed; an address
/// that is not aligned.
///
/// Not checked: memory that never was a lock, if it happens to look like one; a lock in memory that is freed; creating a
/// lock, or destroying it, while others use it or wait for it. A lock whose holder ends without unlocking it is held for
/// ever. A lock in memory that processes share serves the threads of one of them. A child of fork() holds the locks that
/// the forking thread held, and must not use locks that other threads held then.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Lock {
    /// For the library.
    pub opaque: [u64; 8],
}

const _: () = assert!(size_of::<Lock>() == size_of::<AnyLock>() && align_of::<Lock>() == align_of::<AnyLock>());

/// Statistics of a lock of the algorithm auto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct LockStats {
    /// A corecast_lock_mode: how its threads wait now.
    pub mode: u32,
    /// How often the mode has changed.
    pub switches: u32,
    /// How often a thread had to wait for it, modulo 2^32.
    pub waits: u64,
}

impl Lock {
    /// The lock at an address that C passes.
    ///
    /// # Safety
    /// - `lock` is NULL, or writable for the bytes of a lock for `'a`, which are reached by this library alone.
    #[inline]
    pub(crate) unsafe fn at<'a>(lock: *mut Self) -> Result<&'a AnyLock, Failure> {
        required((!lock.is_null()).then_some(()), "lock")?;
        if !lock.is_aligned() {
            return Err(Failure::argument("lock", format_args!("is not aligned to {} bytes", align_of::<Self>())));
        }
        // SAFETY: neither NULL nor askew; any bytes are a line, and otherwise the caller's promise.
        Ok(unsafe { &*lock.cast::<AnyLock>() })
    }
}

/// The algorithm with a number that C passes.
pub(crate) fn algorithm_of(number: u32) -> Result<Algorithm, Failure> {
    let unknown = || Failure::new(Status::NotFound, format!("there is no lock with the number {number}"));
    Algorithm::of_number(number).ok_or_else(unknown)
}

/// Tries to take it in a step that needs neither a message nor a frame: it cannot panic, and returns false where it would have
/// to explain, or where this thread has not kept its number yet.
///
/// # Safety
/// - As of [`Lock::at`].
#[inline]
unsafe fn lock_at_once(lock: *mut Lock) -> bool {
    if lock.is_null() || !lock.is_aligned() {
        return false;
    }
    // SAFETY: neither NULL nor askew; any bytes are a line, and otherwise the caller's promise.
    let lock = unsafe { &*lock.cast::<AnyLock>() };
    // SAFETY: the number is this thread's, or 0.
    unsafe { lock.lock_at_once(thread_number::kept()) }
}

/// The same for freeing it.
///
/// # Safety
/// - As of [`Lock::at`].
#[inline]
unsafe fn unlock_at_once(lock: *mut Lock) -> bool {
    if lock.is_null() || !lock.is_aligned() {
        return false;
    }
    // SAFETY: neither NULL nor askew; any bytes are a line, and otherwise the caller's promise.
    let lock = unsafe { &*lock.cast::<AnyLock>() };
    // SAFETY: the number is this thread's, or 0.
    unsafe { lock.unlock_at_once(thread_number::kept()) }
}

/// Runs the rest, in a frame of its own that those at once do without.
///
/// # Safety
/// - As of [`Lock::at`].
#[cold]
#[inline(never)]
unsafe fn with_words(lock: *mut Lock, body: impl FnOnce(&AnyLock) -> Result<(), Failure>) -> Status {
    call(|| {
        thread_number::keep();
        // SAFETY: the caller's promise.
        body(unsafe { Lock::at(lock) }?)
    })
}

c_functions! {
    /// The corecast_lock_algorithm with this name, such as "mcs". CORECAST_NOT_FOUND if there is none; the message lists all.
    unsafe fn corecast_lock_algorithm_of_name(name: text) -> (algorithm: u32) {
        name.parse::<Algorithm>()? as u32
    }

    /// Makes a free lock where `lock` points. `algorithm` is a corecast_lock_algorithm. Most locks lie in these 64 bytes; array
    /// and hmcs allocate, until they are destroyed. From C hmcs knows of one domain, and is a queue. CORECAST_NOT_FOUND if
    /// there is no such algorithm.
    unsafe fn corecast_lock_create(algorithm: u32, lock: *mut Lock) {
        // SAFETY: C passes memory for a lock.
        unsafe { Lock::at(lock) }?;
        let made = AnyLock::new(algorithm_of(algorithm)?, &Setup::default());
        // SAFETY: aligned, and C passes memory for a lock; its old content is not looked at.
        unsafe { lock.cast::<AnyLock>().write(made) };
    }

    /// Waits until the lock is free, and takes it.
    unsafe fn corecast_lock_lock(lock: *mut Lock) => (Status) {
        // SAFETY: C passes a lock.
        if unsafe { lock_at_once(lock) } {
            return Status::Ok;
        }
        // SAFETY: C passes a lock.
        unsafe { with_words(lock, |lock| Ok(lock.lock()?)) }
    }

    /// Takes the lock if it is free; CORECAST_TAKEN if not, even if this thread holds it.
    unsafe fn corecast_lock_try_lock(lock: *mut Lock) => (Status) {
        // SAFETY: C passes a lock.
        if unsafe { lock_at_once(lock) } {
            return Status::Ok;
        }
        let try_lock = |lock: &AnyLock| match lock.try_lock()? {
            true => Ok(()),
            false => Err(Failure::new(Status::Taken, "the lock is held")),
        };
        // SAFETY: C passes a lock.
        unsafe { with_words(lock, try_lock) }
    }

    /// Waits until the lock is free, for at most `timeout_ns` nanoseconds, and takes it; CORECAST_TIMEOUT if it was held
    /// all the time. Only with the algorithms word, byte, qword and auto may a waiting thread expect its turn: with the
    /// others it tries again and again.
    unsafe fn corecast_lock_lock_timeout_ns(lock: *mut Lock, timeout_ns: u64) => (Status) {
        // SAFETY: C passes a lock.
        if unsafe { lock_at_once(lock) } {
            return Status::Ok;
        }
        let lock_until = |lock: &AnyLock| {
            let is_taken = match Instant::now().checked_add(Duration::from_nanos(timeout_ns)) {
                Some(deadline) => lock.lock_until(deadline)?,
                None => lock.lock().map(|()| true)?,
            };
            match is_taken {
                true => Ok(()),
                false => Err(Failure::new(Status::Timeout, "the lock stayed held until the deadline")),
            }
        };
        // SAFETY: C passes a lock.
        unsafe { with_words(lock, lock_until) }
    }

    /// Frees the lock, which this thread holds.
    unsafe fn corecast_lock_unlock(lock: *mut Lock) => (Status) {
        // SAFETY: C passes a lock.
        if unsafe { unlock_at_once(lock) } {
            return Status::Ok;
        }
        // SAFETY: C passes a lock.
        unsafe { with_words(lock, |lock| Ok(lock.unlock()?)) }
    }

    /// The statistics of a lock of the algorithm auto; CORECAST_INVALID_ARGUMENT for others. Waits for the lock.
    unsafe fn corecast_lock_read_stats(lock: in_place Lock) -> (stats: LockStats) {
        let seen = lock.stats()?;
        LockStats { mode: seen.mode as u32, switches: seen.switches, waits: seen.waits.into() }
    }

    /// Why a lock of the algorithm auto lets its threads wait as it does, in some lines for people; CORECAST_INVALID_ARGUMENT for
    /// others. Copies at most `size` bytes to `buffer`, which may be NULL if `size` is 0, as corecast_error_message does, and the
    /// length of the whole text without the zero byte to `len`. Waits for the lock.
    unsafe fn corecast_lock_explain(lock: in_place Lock, buffer: *mut c_char, size: usize) -> (len: usize) {
        let text = lock.explain()?.to_string();
        // SAFETY: C passes a buffer of that size, or NULL.
        unsafe { copy_text(&text, buffer, size) }
    }

    /// Frees what the lock has allocated. To use its memory as a lock again, create one there, or set it to zeroes.
    /// CORECAST_TAKEN if a thread holds it. A lock of zeroes need not be destroyed.
    unsafe fn corecast_lock_destroy(lock: in_place Lock) {
        // SAFETY: the caller promises that no other thread uses it meanwhile.
        unsafe { lock.destroy() }?
    }
}
