//! Condition variables: the C library's, also with mutexes of ours.
//!
//! A thread that waits sleeps in the C library's function with a mutex of the library's in the place of ours: one of a table,
//! by the address of the condition variable. It locks that one, frees ours, and sleeps; so a thread that notifies locks it,
//! too, for a moment, and comes before no sleeper that had freed our mutex before. Clocks, cancellation, the order of
//! wake-ups and the rules for destroying stay the library's.
//!
//! A thread that is cancelled in its sleep takes our mutex before the program's own handlers run. No frame here has anything to
//! drop: the library's handler does it, as a stack that is unwound by force must not run Rust's destructors.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU32, Ordering, UnsafeCell};
use corecast_lock::RawTimed;
use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

use super::lock::{lock, unlock};
use super::object::{Manner, Object};
use super::order::{is_in_order, put_in_order};
use super::real;
use crate::counts::COND_WAIT;
use crate::epoch::EpochWord;
use crate::{fork, thread};

const PLACES: usize = 64;

/// Where threads wait at the condition variables of some addresses.
struct Place {
    /// The C library's. Held by a thread that goes to sleep, until it is counted as asleep, and by one that notifies for a
    /// moment.
    mutex: UnsafeCell<pthread_mutex_t>,
    /// Threads that sleep here or are about to. Written by them.
    sleepers: AtomicU32,
    /// The epoch in which it was first used. Written by the thread that puts it in order.
    epoch: EpochWord,
}

// SAFETY: the mutex is reached by the C library's functions only.
unsafe impl Sync for Place {}

static TABLE: [CacheLine<Place>; PLACES] = [const { CacheLine::new(Place::new()) }; PLACES];

impl Place {
    const fn new() -> Self {
        let mutex = UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER);
        Self { mutex, sleepers: AtomicU32::new(0), epoch: EpochWord::new() }
    }

    /// The one of this condition variable. A child of `fork` finds its mutex free, whatever its parent's threads did, as soon as
    /// it looks: handlers that were registered before this object's use condition variables, too.
    #[inline]
    fn of(cond: *const pthread_cond_t) -> &'static Self {
        // Spreads neighbours: D. Knuth, The Art of Computer Programming, volume 3, multiplicative hashing.
        let hash = (cond.addr() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let place = &TABLE[hash as usize % PLACES];
        if !place.epoch.is_of(fork::epoch_or_none()) {
            place.put_in_order();
        }
        place
    }

    #[cold]
    fn put_in_order(&self) {
        let renew = |_epoch| {
            // SAFETY: no thread of this process uses it before it is in order.
            self.mutex.with_mut(|mutex| unsafe { mutex.write(libc::PTHREAD_MUTEX_INITIALIZER) });
            // ORDERING: Relaxed, released with the epoch
            self.sleepers.store(0, Ordering::Relaxed);
        };
        self.epoch.put_in_order(fork::epoch(), || true, renew);
    }

    fn mutex(&self) -> *mut pthread_mutex_t {
        self.mutex.with_mut(|mutex| mutex)
    }
}

/// glibc's record of a handler that runs where a thread is cancelled.
#[repr(C)]
struct CleanupBuffer {
    routine: Option<unsafe extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
    cancel_type: c_int,
    previous: *mut Self,
}

unsafe extern "C" {
    fn _pthread_cleanup_push(
        buffer: *mut CleanupBuffer,
        routine: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut CleanupBuffer, execute: c_int);
}

/// A thread that sleeps without its mutex.
struct Sleeper {
    place: &'static Place,
    mutex: *mut pthread_mutex_t,
}

/// The end of a sleep, by a wake-up or by cancellation: the library's mutex is held, and ours is to be.
unsafe extern "C" fn wake<L: RawTimed + 'static>(sleeper: *mut c_void) {
    // SAFETY: from sleep, whose frame is still there.
    let sleeper = unsafe { &*sleeper.cast::<Sleeper>() };
    // SAFETY: held by this thread.
    unsafe { real::unlock()(sleeper.place.mutex()) };
    // ORDERING: Relaxed, one that is counted too long costs a lock
    sleeper.place.sleepers.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: the caller's mutex.
    unsafe { lock::<L>(sleeper.mutex) };
    // SAFETY: the caller's mutex.
    let object = unsafe { Object::at(sleeper.mutex) };
    object.set_sleepers(object.sleepers().saturating_sub(1));
}

/// Sleeps as `how` does.
///
/// # Safety
/// - As of `pthread_cond_wait`.
unsafe fn sleep<L: RawTimed + 'static>(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    how: impl FnOnce(*mut pthread_mutex_t) -> c_int + Copy,
) -> c_int {
    // SAFETY: the caller's mutex.
    let object = unsafe { Object::at(mutex) };
    let manner = object.manner();
    if manner != Manner::Foreign && !is_in_order::<L>(object) {
        // In a child of fork its owner may have another number.
        put_in_order::<L>(object);
    }
    match manner {
        Manner::Foreign => {
            COND_WAIT.pass();
            return how(mutex);
        }
        Manner::Recursive | Manner::ErrorCheck if object.owner() != thread::number() => return libc::EPERM,
        _ => COND_WAIT.serve(),
    }
    let place = Place::of(cond);
    // ORDERING: Relaxed, released with our mutex: one that notifies has locked that behind this thread
    place.sleepers.fetch_add(1, Ordering::Relaxed);
    // SAFETY: a mutex of the C library's.
    unsafe { real::lock()(place.mutex()) };
    object.set_sleepers(object.sleepers() + 1);
    // SAFETY: the caller's mutex, which this thread holds.
    unsafe { unlock::<L>(mutex) };
    let mut sleeper = Sleeper { place, mutex };
    let argument = ptr::from_mut(&mut sleeper).cast::<c_void>();
    let mut buffer = MaybeUninit::<CleanupBuffer>::uninit();
    // SAFETY: the buffer stays where it is until it is popped.
    unsafe { _pthread_cleanup_push(buffer.as_mut_ptr(), wake::<L>, argument) };
    let result = how(place.mutex());
    // SAFETY: pushed above; runs the function.
    unsafe { _pthread_cleanup_pop(buffer.as_mut_ptr(), 1) };
    result
}

/// `pthread_cond_wait`.
///
/// # Safety
/// - As of that function; so it is of the others.
pub(super) unsafe extern "C-unwind" fn wait<L: RawTimed + 'static>(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    // SAFETY: the caller's condition variable, and a mutex of the library's.
    let how = |theirs| unsafe { real::wait()(cond, theirs) };
    // SAFETY: the caller's promise.
    unsafe { sleep::<L>(cond, mutex, how) }
}

/// `pthread_cond_timedwait`.
pub(super) unsafe extern "C-unwind" fn timed_wait<L: RawTimed + 'static>(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: as in wait.
    let how = |theirs| unsafe { real::timed_wait()(cond, theirs, until) };
    // SAFETY: the caller's promise.
    unsafe { sleep::<L>(cond, mutex, how) }
}

/// `pthread_cond_clockwait`.
pub(super) unsafe extern "C-unwind" fn clock_wait<L: RawTimed + 'static>(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: as in wait.
    let how = |theirs| unsafe { real::clock_wait()(cond, theirs, clock, until) };
    // SAFETY: the caller's promise.
    unsafe { sleep::<L>(cond, mutex, how) }
}

/// Waits until all threads that have freed their mutex count as asleep.
#[inline]
fn let_sleepers_in(cond: *const pthread_cond_t) {
    let place = Place::of(cond);
    // ORDERING: Relaxed, ordered by the program's mutex, as in sleep
    if place.sleepers.load(Ordering::Relaxed) != 0 {
        // SAFETY: a mutex of the C library's.
        unsafe { real::lock()(place.mutex()) };
        // SAFETY: locked above.
        unsafe { real::unlock()(place.mutex()) };
    }
}

/// `pthread_cond_signal`.
pub(super) unsafe extern "C" fn signal(cond: *mut pthread_cond_t) -> c_int {
    let_sleepers_in(cond);
    // SAFETY: the caller's promise.
    unsafe { real::signal()(cond) }
}

/// `pthread_cond_broadcast`.
pub(super) unsafe extern "C" fn broadcast(cond: *mut pthread_cond_t) -> c_int {
    let_sleepers_in(cond);
    // SAFETY: the caller's promise.
    unsafe { real::broadcast()(cond) }
}
