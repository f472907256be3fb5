//! `pthread_spin_*`: a word that is polled, by threads that give way.
//!
//! A thread at the C library's spin lock polls for as long as it is held, also where the holder waits for this very CPU. One
//! of ours polls for about as long as a wake-up costs, and gives up its CPU again and again from then on. The word has no
//! room for a lock of the registry beside what tells whose it is: a spin lock of ours has values that the C library's never
//! have. Those among processes, and zeroes that were never initialised, are the C library's.
//!
//! **Progress:** blocking; the first thread that comes takes it. **Memory ordering:** Acquire and Release.

use std::ffi::{c_int, c_void};
use std::mem::transmute;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;
use corecast_preload::Real;
use libc::pthread_spinlock_t;

use crate::chosen;
use crate::counts::{SPIN_LOCK, SPIN_TRY_LOCK};
use crate::slot::export;

/// A free one of ours. The C library's count down from 1, or have 0 and 1.
const FREE: u32 = 0x5c0c_a570;
const HELD: u32 = FREE | 1;

type Init = unsafe extern "C" fn(*mut pthread_spinlock_t, c_int) -> c_int;
type Call = unsafe extern "C" fn(*mut pthread_spinlock_t) -> c_int;

export! { "C":
    INIT: Init = first_init, pthread_spin_init (lock: *mut pthread_spinlock_t, shared: c_int);
    LOCK: Call = first_lock, pthread_spin_lock (lock: *mut pthread_spinlock_t);
    TRY_LOCK: Call = first_try_lock, pthread_spin_trylock (lock: *mut pthread_spinlock_t);
    UNLOCK: Call = first_unlock, pthread_spin_unlock (lock: *mut pthread_spinlock_t);
}

static REAL_INIT: Real = Real::new(c"pthread_spin_init");
static REAL_LOCK: Real = Real::new(c"pthread_spin_lock");
static REAL_TRY_LOCK: Real = Real::new(c"pthread_spin_trylock");
static REAL_UNLOCK: Real = Real::new(c"pthread_spin_unlock");

/// Chooses who serves spin locks.
pub(crate) fn choose() {
    let serves = chosen::algorithm().is_some();
    let [real_init, real_lock, real_try, real_unlock] =
        [&REAL_INIT, &REAL_LOCK, &REAL_TRY_LOCK, &REAL_UNLOCK].map(Real::next);
    if serves {
        UNLOCK.put(unlock);
        LOCK.put(lock);
        TRY_LOCK.put(try_lock);
        INIT.put(init);
    } else {
        UNLOCK.put_real(real_unlock);
        LOCK.put_real(real_lock);
        TRY_LOCK.put_real(real_try);
        INIT.put_real(real_init);
    }
}

/// The word of a lock, if it is ours.
///
/// # Safety
/// - A lock is there.
#[inline]
unsafe fn ours<'a>(lock: *mut pthread_spinlock_t) -> Option<&'a AtomicU32> {
    // SAFETY: the caller's promise; a number.
    let word = unsafe { &*lock.cast::<AtomicU32>() };
    // ORDERING: Relaxed, whose it is was written before it was shared
    (word.load(Ordering::Relaxed) & !1 == FREE).then_some(word)
}

/// The C library's function of this type.
fn real(function: &Real) -> Call {
    // SAFETY: only functions of this type are asked for.
    unsafe { transmute::<*mut c_void, Call>(function.next()) }
}

fn take(word: &AtomicU32) -> bool {
    // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [spin-free]
    word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

unsafe extern "C" fn init(lock: *mut pthread_spinlock_t, shared: c_int) -> c_int {
    if shared != libc::PTHREAD_PROCESS_PRIVATE {
        // SAFETY: the C library's function of this type.
        let real = unsafe { transmute::<*mut c_void, Init>(REAL_INIT.next()) };
        // SAFETY: the caller's promise.
        return unsafe { real(lock, shared) };
    }
    // SAFETY: room for a lock.
    unsafe { lock.cast::<AtomicU32>().write(AtomicU32::new(FREE)) };
    0
}

unsafe extern "C" fn lock(lock: *mut pthread_spinlock_t) -> c_int {
    // SAFETY: the caller's lock.
    let Some(word) = (unsafe { ours(lock) }) else {
        SPIN_LOCK.pass();
        // SAFETY: the caller's promise.
        return unsafe { real(&REAL_LOCK)(lock) };
    };
    SPIN_LOCK.serve();
    let mut spinner = Spinner::new();
    while !take(word) {
        // ORDERING: Relaxed, the exchange looks again
        while word.load(Ordering::Relaxed) == HELD {
            spinner.pause();
        }
    }
    0
}

unsafe extern "C" fn try_lock(lock: *mut pthread_spinlock_t) -> c_int {
    // SAFETY: the caller's lock.
    let Some(word) = (unsafe { ours(lock) }) else {
        SPIN_TRY_LOCK.pass();
        // SAFETY: the caller's promise.
        return unsafe { real(&REAL_TRY_LOCK)(lock) };
    };
    SPIN_TRY_LOCK.serve();
    if take(word) { 0 } else { libc::EBUSY }
}

unsafe extern "C" fn unlock(lock: *mut pthread_spinlock_t) -> c_int {
    // SAFETY: the caller's lock.
    let Some(word) = (unsafe { ours(lock) }) else {
        // SAFETY: the caller's promise.
        return unsafe { real(&REAL_UNLOCK)(lock) };
    };
    // ORDERING: Release, pairs with the Acquire in take [spin-free]
    word.store(FREE, Ordering::Release);
    0
}
