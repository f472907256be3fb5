//! The C library's functions for mutexes and condition variables.

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use corecast_preload::Real;
use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

pub(super) type Mutex = unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int;
pub(super) type Timed = unsafe extern "C" fn(*mut pthread_mutex_t, *const timespec) -> c_int;
pub(super) type Clocked = unsafe extern "C" fn(*mut pthread_mutex_t, clockid_t, *const timespec) -> c_int;
pub(super) type Cond = unsafe extern "C" fn(*mut pthread_cond_t) -> c_int;
/// A thread may be cancelled in these: its stack is unwound.
pub(super) type Wait = unsafe extern "C-unwind" fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int;
pub(super) type TimedWait =
    unsafe extern "C-unwind" fn(*mut pthread_cond_t, *mut pthread_mutex_t, *const timespec) -> c_int;
pub(super) type ClockWait =
    unsafe extern "C-unwind" fn(*mut pthread_cond_t, *mut pthread_mutex_t, clockid_t, *const timespec) -> c_int;

/// Condition variables had another layout before this version, on the architectures that are older.
const COND: &std::ffi::CStr = c"GLIBC_2.3.2";

static LOCK: Real = Real::new(c"pthread_mutex_lock");
static TRY_LOCK: Real = Real::new(c"pthread_mutex_trylock");
static TIMED_LOCK: Real = Real::new(c"pthread_mutex_timedlock");
static CLOCK_LOCK: Real = Real::new(c"pthread_mutex_clocklock");
static UNLOCK: Real = Real::new(c"pthread_mutex_unlock");
static DESTROY: Real = Real::new(c"pthread_mutex_destroy");
static WAIT: Real = Real::versioned(c"pthread_cond_wait", COND);
static TIMED_WAIT: Real = Real::versioned(c"pthread_cond_timedwait", COND);
static CLOCK_WAIT: Real = Real::new(c"pthread_cond_clockwait");
static SIGNAL: Real = Real::versioned(c"pthread_cond_signal", COND);
static BROADCAST: Real = Real::versioned(c"pthread_cond_broadcast", COND);

macro_rules! functions {
    ($($function:ident: $kind:ty = $real:ident;)*) => {
        $(pub(super) fn $function() -> $kind {
            // SAFETY: the C library's function of this name has this type. A program that calls one that the library has not
            // would not have started.
            unsafe { transmute::<*mut c_void, $kind>($real.next()) }
        })*

        /// Looks for all of them: some of a newer C library may be missing.
        pub(super) fn find() -> [*mut c_void; 11] {
            [$($real.next()),*]
        }
    };
}

functions! {
    lock: Mutex = LOCK;
    try_lock: Mutex = TRY_LOCK;
    timed_lock: Timed = TIMED_LOCK;
    clock_lock: Clocked = CLOCK_LOCK;
    unlock: Mutex = UNLOCK;
    destroy: Mutex = DESTROY;
    wait: Wait = WAIT;
    timed_wait: TimedWait = TIMED_WAIT;
    clock_wait: ClockWait = CLOCK_WAIT;
    signal: Cond = SIGNAL;
    broadcast: Cond = BROADCAST;
}
