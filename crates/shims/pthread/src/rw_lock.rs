//! `pthread_rwlock_*` over [`RwWord`].
//!
//! Ours are those of the two kinds that prefer readers (glibc treats both alike), within a process. The kind that prefers
//! writers, and locks among processes, are the C library's. As with mutexes the decision follows from what the static
//! initialiser or `pthread_rwlock_init`, which is the C library's, has written. Zeroes are a free lock of ours.

use std::ffi::{c_int, c_void};
use std::mem::{offset_of, transmute};
use std::time::Duration;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::LONGEST_SLEEP;
use corecast_preload::{Errno, Real};
use libc::{clockid_t, pthread_rwlock_t, timespec};

use crate::chosen;
use crate::counts::{RW_LOCK, RW_TRY_LOCK};
use crate::rw_word::{Refusal, RwWord};
use crate::slot::export;

use crate::thread;
use crate::until::{is_valid, time_until};

/// glibc's kind that prefers writers, and does not let a thread read twice.
const WRITERS_FIRST: u32 = 2;

type Call = unsafe extern "C" fn(*mut pthread_rwlock_t) -> c_int;
type Timed = unsafe extern "C" fn(*mut pthread_rwlock_t, *const timespec) -> c_int;
type Clocked = unsafe extern "C" fn(*mut pthread_rwlock_t, clockid_t, *const timespec) -> c_int;

// Old objects know some of them by a second name.
export! { "C":
    READ: Call = first_read, pthread_rwlock_rdlock, __pthread_rwlock_rdlock (lock: *mut pthread_rwlock_t);
    WRITE: Call = first_write, pthread_rwlock_wrlock, __pthread_rwlock_wrlock (lock: *mut pthread_rwlock_t);
    TRY_READ: Call = first_try_read, pthread_rwlock_tryrdlock, __pthread_rwlock_tryrdlock (lock: *mut pthread_rwlock_t);
    TRY_WRITE: Call = first_try_write, pthread_rwlock_trywrlock, __pthread_rwlock_trywrlock (lock: *mut pthread_rwlock_t);
    UNLOCK: Call = first_unlock, pthread_rwlock_unlock, __pthread_rwlock_unlock (lock: *mut pthread_rwlock_t);
    TIMED_READ: Timed = first_timed_read,
        pthread_rwlock_timedrdlock (lock: *mut pthread_rwlock_t, until: *const timespec);
    TIMED_WRITE: Timed = first_timed_write,
        pthread_rwlock_timedwrlock (lock: *mut pthread_rwlock_t, until: *const timespec);
    CLOCK_READ: Clocked = first_clock_read,
        pthread_rwlock_clockrdlock (lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec);
    CLOCK_WRITE: Clocked = first_clock_write,
        pthread_rwlock_clockwrlock (lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec);
}

static REAL_READ: Real = Real::new(c"pthread_rwlock_rdlock");
static REAL_WRITE: Real = Real::new(c"pthread_rwlock_wrlock");
static REAL_TRY_READ: Real = Real::new(c"pthread_rwlock_tryrdlock");
static REAL_TRY_WRITE: Real = Real::new(c"pthread_rwlock_trywrlock");
static REAL_UNLOCK: Real = Real::new(c"pthread_rwlock_unlock");
static REAL_TIMED_READ: Real = Real::new(c"pthread_rwlock_timedrdlock");
static REAL_TIMED_WRITE: Real = Real::new(c"pthread_rwlock_timedwrlock");
static REAL_CLOCK_READ: Real = Real::new(c"pthread_rwlock_clockrdlock");
static REAL_CLOCK_WRITE: Real = Real::new(c"pthread_rwlock_clockwrlock");

/// A lock of the C library's layout.
#[repr(C, align(8))]
struct Object {
    /// glibc's count of readers; here the lock.
    lock: RwWord,
    unused: [u32; 5],
    /// The number of the thread that writes, or 0, as glibc has it. Written by that thread.
    writer: AtomicU32,
    /// Not 0 if it is shared among processes. Written by the C library.
    is_shared: AtomicU32,
    rest: [u32; 4],
    /// Written by the C library.
    kind: AtomicU32,
    end: u32,
}

const _: () = assert!(size_of::<Object>() == size_of::<pthread_rwlock_t>());
const _: () = assert!(offset_of!(Object, writer) == 24 && offset_of!(Object, kind) == 48);

/// Whether a thread wants to read or to write.
#[derive(Clone, Copy)]
enum Intent {
    Read,
    Write,
}

impl Object {
    /// The lock at this address, if it is ours.
    ///
    /// # Safety
    /// - A lock is there, initialised or of zeroes, for as long as the result is used.
    #[inline]
    unsafe fn at<'a>(lock: *mut pthread_rwlock_t) -> Option<&'a Self> {
        // SAFETY: the caller's promise; it is as large and as aligned, and made of numbers.
        let object = unsafe { &*lock.cast::<Self>() };
        // ORDERING: Relaxed, written before the lock was shared
        let (is_shared, kind) = (object.is_shared.load(Ordering::Relaxed), object.kind.load(Ordering::Relaxed));
        (is_shared == 0 && kind < WRITERS_FIRST).then_some(object)
    }

    fn is_mine(&self) -> bool {
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        self.writer.load(Ordering::Relaxed) == thread::number()
    }

    fn set_writer(&self, thread: u32) {
        // ORDERING: Relaxed, as in is_mine
        self.writer.store(thread, Ordering::Relaxed);
    }

    #[inline]
    fn try_lock(&self, intent: Intent) -> Result<(), Refusal> {
        match intent {
            Intent::Read => self.lock.try_read(),
            Intent::Write => self.lock.try_write().inspect(|()| self.set_writer(thread::number())),
        }
    }

    /// Locks it, in pthread's words; `left` as of [`RwWord::read`].
    fn lock(&self, intent: Intent, left: impl Fn() -> Option<Duration>) -> c_int {
        RW_LOCK.serve();
        match self.try_lock(intent) {
            Ok(()) => 0,
            Err(Refusal::Full) => libc::EAGAIN,
            Err(Refusal::Held) if self.is_mine() => libc::EDEADLK,
            Err(Refusal::Held) => self.wait(intent, left),
        }
    }

    #[cold]
    fn wait(&self, intent: Intent, left: impl Fn() -> Option<Duration>) -> c_int {
        let _errno = Errno::keep();
        let result = match intent {
            Intent::Read => self.lock.read(left),
            Intent::Write => self.lock.write(left).inspect(|()| self.set_writer(thread::number())),
        };
        match result {
            Ok(()) => 0,
            Err(Refusal::Full) => libc::EAGAIN,
            Err(Refusal::Held) => libc::ETIMEDOUT,
        }
    }

    /// Locks it if that is possible at once, in pthread's words.
    fn try_in_words(&self, intent: Intent) -> c_int {
        RW_TRY_LOCK.serve();
        match self.try_lock(intent) {
            Ok(()) => 0,
            Err(Refusal::Full) => libc::EAGAIN,
            Err(Refusal::Held) => libc::EBUSY,
        }
    }

    /// Locks it until then.
    fn lock_until(&self, intent: Intent, clock: clockid_t, until: timespec) -> c_int {
        if self.try_lock(intent).is_ok() {
            RW_LOCK.serve();
            return 0;
        }
        if !is_valid(until) {
            return libc::EINVAL;
        }
        self.lock(intent, || time_until(clock, until).map(|left| left.min(LONGEST_SLEEP)))
    }
}

/// Chooses who serves these locks.
pub(crate) fn choose() {
    if chosen::algorithm().is_some() {
        UNLOCK.put(unlock);
        READ.put(read);
        WRITE.put(write);
        TRY_READ.put(try_read);
        TRY_WRITE.put(try_write);
        TIMED_READ.put(timed_read);
        TIMED_WRITE.put(timed_write);
        CLOCK_READ.put(clock_read);
        CLOCK_WRITE.put(clock_write);
        return;
    }
    UNLOCK.put_real(REAL_UNLOCK.next());
    READ.put_real(REAL_READ.next());
    WRITE.put_real(REAL_WRITE.next());
    TRY_READ.put_real(REAL_TRY_READ.next());
    TRY_WRITE.put_real(REAL_TRY_WRITE.next());
    TIMED_READ.put_real(REAL_TIMED_READ.next());
    TIMED_WRITE.put_real(REAL_TIMED_WRITE.next());
    CLOCK_READ.put_real(REAL_CLOCK_READ.next());
    CLOCK_WRITE.put_real(REAL_CLOCK_WRITE.next());
}

unsafe extern "C" fn read(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's lock.
    match unsafe { Object::at(lock) } {
        Some(object) => object.lock(Intent::Read, || Some(LONGEST_SLEEP)),
        None => {
            RW_LOCK.pass();
            // SAFETY: the caller's promise.
            unsafe { pass(&REAL_READ, lock) }
        }
    }
}

unsafe extern "C" fn write(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's lock.
    match unsafe { Object::at(lock) } {
        Some(object) => object.lock(Intent::Write, || Some(LONGEST_SLEEP)),
        None => {
            RW_LOCK.pass();
            // SAFETY: the caller's promise.
            unsafe { pass(&REAL_WRITE, lock) }
        }
    }
}

unsafe extern "C" fn try_read(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's lock.
    match unsafe { Object::at(lock) } {
        Some(object) => object.try_in_words(Intent::Read),
        None => {
            RW_TRY_LOCK.pass();
            // SAFETY: the caller's promise.
            unsafe { pass(&REAL_TRY_READ, lock) }
        }
    }
}

unsafe extern "C" fn try_write(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's lock.
    match unsafe { Object::at(lock) } {
        Some(object) => object.try_in_words(Intent::Write),
        None => {
            RW_TRY_LOCK.pass();
            // SAFETY: the caller's promise.
            unsafe { pass(&REAL_TRY_WRITE, lock) }
        }
    }
}

unsafe extern "C" fn unlock(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's lock.
    let Some(object) = (unsafe { Object::at(lock) }) else {
        // SAFETY: the caller's promise.
        return unsafe { pass(&REAL_UNLOCK, lock) };
    };
    if object.lock.is_written() {
        object.set_writer(0);
    }
    object.lock.unlock();
    0
}

unsafe extern "C" fn timed_read(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { timed(lock, until, Intent::Read, &REAL_TIMED_READ) }
}

unsafe extern "C" fn timed_write(lock: *mut pthread_rwlock_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { timed(lock, until, Intent::Write, &REAL_TIMED_WRITE) }
}

unsafe extern "C" fn clock_read(lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { clocked(lock, clock, until, Intent::Read, &REAL_CLOCK_READ) }
}

unsafe extern "C" fn clock_write(lock: *mut pthread_rwlock_t, clock: clockid_t, until: *const timespec) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { clocked(lock, clock, until, Intent::Write, &REAL_CLOCK_WRITE) }
}

/// # Safety
/// - As of the C library's function, which is of type [`Call`].
unsafe fn pass(function: &Real, lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: the caller's promise.
    let real = unsafe { transmute::<*mut c_void, Call>(function.next()) };
    // SAFETY: the caller's promise.
    unsafe { real(lock) }
}

/// # Safety
/// - As of the C library's function, which is of type [`Timed`].
unsafe fn timed(lock: *mut pthread_rwlock_t, until: *const timespec, intent: Intent, function: &Real) -> c_int {
    // SAFETY: the caller's lock.
    if let Some(object) = unsafe { Object::at(lock) } {
        // SAFETY: the caller's time.
        return object.lock_until(intent, libc::CLOCK_REALTIME, unsafe { until.read() });
    }
    RW_LOCK.pass();
    // SAFETY: the caller's promise.
    let real = unsafe { transmute::<*mut c_void, Timed>(function.next()) };
    // SAFETY: the caller's promise.
    unsafe { real(lock, until) }
}

/// # Safety
/// - As of the C library's function, which is of type [`Clocked`].
unsafe fn clocked(
    lock: *mut pthread_rwlock_t,
    clock: clockid_t,
    until: *const timespec,
    intent: Intent,
    function: &Real,
) -> c_int {
    // SAFETY: the caller's lock.
    let Some(object) = (unsafe { Object::at(lock) }) else {
        RW_LOCK.pass();
        // SAFETY: the caller's promise.
        let real = unsafe { transmute::<*mut c_void, Clocked>(function.next()) };
        // SAFETY: the caller's promise.
        return unsafe { real(lock, clock, until) };
    };
    if clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC {
        return libc::EINVAL;
    }
    // SAFETY: the caller's time.
    object.lock_until(intent, clock, unsafe { until.read() })
}
