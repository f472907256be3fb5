//! The exported functions, and the choice of those behind them.

use corecast_lock::{Algorithm, RawTimed, for_each_lock};
use corecast_preload::Settings;
use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

use super::object::{Manner, Object};
use super::{cond, lock, real};
use crate::slot::export;
use crate::{chosen, fork, thread};

// Old objects know some of them by a second name.
export! { "C", unless is_foreign:
    LOCK, PASSED_LOCK: real::Mutex = first_lock, pthread_mutex_lock, __pthread_mutex_lock (mutex: *mut pthread_mutex_t);
    TRY_LOCK, PASSED_TRY_LOCK: real::Mutex = first_try_lock,
        pthread_mutex_trylock, __pthread_mutex_trylock (mutex: *mut pthread_mutex_t);
    UNLOCK, PASSED_UNLOCK: real::Mutex = first_unlock,
        pthread_mutex_unlock, __pthread_mutex_unlock (mutex: *mut pthread_mutex_t);
}

export! { "C":
    TIMED_LOCK: real::Timed = first_timed_lock,
        pthread_mutex_timedlock (mutex: *mut pthread_mutex_t, until: *const timespec);
    CLOCK_LOCK: real::Clocked = first_clock_lock,
        pthread_mutex_clocklock (mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec);
    DESTROY: real::Mutex = first_destroy, pthread_mutex_destroy, __pthread_mutex_destroy (mutex: *mut pthread_mutex_t);
    SIGNAL: real::Cond = first_signal, pthread_cond_signal (cond: *mut pthread_cond_t);
    BROADCAST: real::Cond = first_broadcast, pthread_cond_broadcast (cond: *mut pthread_cond_t);
}

export! { "C-unwind":
    WAIT: real::Wait = first_wait, pthread_cond_wait (cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t);
    TIMED_WAIT: real::TimedWait = first_timed_wait,
        pthread_cond_timedwait (cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec);
    CLOCK_WAIT: real::ClockWait = first_clock_wait,
        pthread_cond_clockwait
        (cond: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, until: *const timespec);
}

/// Whether a mutex is the C library's.
///
/// # Safety
/// - A mutex is there.
#[inline(always)]
unsafe fn is_foreign(mutex: *mut pthread_mutex_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe { Object::at(mutex) }.manner() == Manner::Foreign
}

/// Chooses who serves mutexes.
pub(crate) fn choose() {
    match chosen::algorithm() {
        Some(algorithm) => {
            fork::prepare(in_child);
            serve(algorithm, Settings::get().counts());
            pass_foreign(Settings::get().counts());
        }
        None => pass(),
    }
}

/// A child of `fork` begins: before its thread makes others it tells who it was.
fn in_child() {
    thread::number();
}

/// Mutexes that are not ours go straight to the C library, but for those that are counted.
fn pass_foreign(counts: bool) {
    let [lock, try_lock, _, _, unlock, ..] = real::find();
    PASSED_UNLOCK.put_real(unlock);
    if counts {
        PASSED_TRY_LOCK.put(TRY_LOCK.get());
        PASSED_LOCK.put(LOCK.get());
    } else {
        PASSED_TRY_LOCK.put_real(try_lock);
        PASSED_LOCK.put_real(lock);
    }
}

fn pass() {
    pass_foreign(false);
    let [lock, try_lock, timed_lock, clock_lock, unlock, destroy, wait, timed_wait, clock_wait, signal, broadcast] =
        real::find();
    LOCK.put_real(lock);
    TRY_LOCK.put_real(try_lock);
    TIMED_LOCK.put_real(timed_lock);
    CLOCK_LOCK.put_real(clock_lock);
    UNLOCK.put_real(unlock);
    DESTROY.put_real(destroy);
    WAIT.put_real(wait);
    TIMED_WAIT.put_real(timed_wait);
    CLOCK_WAIT.put_real(clock_wait);
    SIGNAL.put_real(signal);
    BROADCAST.put_real(broadcast);
}

macro_rules! by_algorithm {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        fn serve(algorithm: Algorithm, counts: bool) {
            match algorithm {
                $(Algorithm::$variant => put::<$lock>(counts),)*
                _ => pass(),
            }
        }
    };
}

for_each_lock!(by_algorithm);

/// All functions of one kind of lock. The one that frees comes first: a mutex that was locked by ours is never freed by another.
fn put<L: RawTimed + 'static>(counts: bool) {
    UNLOCK.put(lock::unlock::<L>);
    WAIT.put(cond::wait::<L>);
    TIMED_WAIT.put(cond::timed_wait::<L>);
    CLOCK_WAIT.put(cond::clock_wait::<L>);
    SIGNAL.put(cond::signal);
    BROADCAST.put(cond::broadcast);
    DESTROY.put(lock::destroy::<L>);
    TRY_LOCK.put(if counts { lock::counted_try_lock::<L> } else { lock::try_lock::<L> });
    TIMED_LOCK.put(lock::timed_lock::<L>);
    CLOCK_LOCK.put(lock::clock_lock::<L>);
    LOCK.put(if counts { lock::counted_lock::<L> } else { lock::lock::<L> });
}
