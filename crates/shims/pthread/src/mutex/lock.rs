//! Taking and freeing a mutex of ours, in pthread's words.

use std::ffi::c_int;
use std::time::{Duration, Instant};

use corecast_base::sync::Ordering;
use corecast_lock::RawTimed;
use corecast_preload::Errno;
use libc::{clockid_t, pthread_mutex_t, timespec};

use super::object::{Manner, Object, fits, node_fits};
use super::order::{is_in_order, put_in_order, record};
use super::{real, records};
use crate::counts::{MUTEX_LOCK, MUTEX_TIMED_LOCK, MUTEX_TRY_LOCK};
use crate::until::{is_valid, time_until};
use crate::{nodes, thread};

/// A wait for a time of day is cut into pieces of this length: the clock may be set meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Takes the lock as `how` does, and notes that this thread has it.
///
/// # Safety
/// - The mutex is in order.
#[inline]
pub(super) unsafe fn acquire<L: RawTimed>(object: &Object, how: impl FnOnce(&L, &L::Node) -> bool) -> bool {
    // SAFETY: the caller's promise.
    let lock = unsafe { raw::<L>(object) };
    if node_fits::<L>() {
        let node = L::Node::default();
        if !how(lock, &node) {
            return false;
        }
        // SAFETY: it fits, and the place is the holder's.
        object.node.with_mut(|place| unsafe { place.cast::<L::Node>().write(node) });
    } else {
        let node = nodes::take::<L::Node>();
        // SAFETY: a node of this thread's.
        if !how(lock, unsafe { &*node }) {
            nodes::give(node);
            return false;
        }
        // SAFETY: an address fits, and the place is the holder's.
        object.node.with_mut(|place| unsafe { place.cast::<*mut L::Node>().write(node) });
    }
    object.set_owner(thread::number());
    true
}

/// Frees it. Nothing of the mutex is touched afterwards but by the lock itself.
///
/// # Safety
/// - The mutex is in order, and held.
#[inline]
unsafe fn release<L: RawTimed>(object: &Object) {
    // SAFETY: the caller's promise.
    let lock = unsafe { raw::<L>(object) };
    if node_fits::<L>() {
        // SAFETY: written when it was taken.
        let node = object.node.with(|place| unsafe { place.cast::<L::Node>().read() });
        object.set_owner(0);
        // SAFETY: taken with this node.
        unsafe { lock.unlock(&node) };
    } else {
        // SAFETY: written when it was taken.
        let node = object.node.with(|place| unsafe { place.cast::<*mut L::Node>().read() });
        object.set_owner(0);
        // SAFETY: a node that was taken, and not given back yet.
        let held = unsafe { &*node };
        // SAFETY: taken with this node.
        unsafe { lock.unlock(held) };
        nodes::give(node);
    }
}

/// # Safety
/// - The mutex is in order.
#[inline]
unsafe fn raw<L>(object: &Object) -> &L {
    if fits::<L>() {
        // SAFETY: made there.
        return object.lock.with(|place| unsafe { &*place.cast::<L>() });
    }
    // SAFETY: made there.
    unsafe { record(object).lock::<L>() }
}

#[inline]
fn try_acquire<L: RawTimed + 'static>(object: &Object) -> bool {
    if !is_in_order::<L>(object) {
        put_in_order::<L>(object);
    }
    // SAFETY: the node is acquire's.
    let take = |lock: &L, node: &L::Node| unsafe { lock.try_lock(node) };
    // SAFETY: in order.
    unsafe { acquire::<L>(object, take) }
}

#[cold]
fn acquire_slowly<L: RawTimed>(object: &Object) {
    let _errno = Errno::keep();
    let lock = |lock: &L, node: &L::Node| {
        // SAFETY: the node is acquire's.
        unsafe { lock.lock(node) };
        true
    };
    // SAFETY: a try was made, so it is in order.
    unsafe { acquire::<L>(object, lock) };
}

/// The answer of a mutex that looks at its owner, before it is waited for.
enum Answer {
    Wait,
    Done(c_int),
}

/// `when_held`: the answer of one that checks errors.
#[cold]
fn ask_owner<L: RawTimed + 'static>(object: &Object, manner: Manner, when_held: c_int) -> Answer {
    if !is_in_order::<L>(object) {
        put_in_order::<L>(object);
    }
    if object.owner() != thread::number() {
        return Answer::Wait;
    }
    if manner == Manner::ErrorCheck {
        return Answer::Done(when_held);
    }
    // ORDERING: Relaxed, the owner's
    let count = object.count.load(Ordering::Relaxed);
    if count == u32::MAX {
        return Answer::Done(libc::EAGAIN);
    }
    // ORDERING: Relaxed, the owner's
    object.count.store(count + 1, Ordering::Relaxed);
    Answer::Done(0)
}

/// `pthread_mutex_lock`.
///
/// # Safety
/// - As of that function; so it is of the others.
pub(super) unsafe extern "C" fn lock<L: RawTimed + 'static>(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's mutex.
    let object = unsafe { Object::at(mutex) };
    match object.manner() {
        Manner::Plain => {}
        // SAFETY: the caller's promise.
        Manner::Foreign => return unsafe { real::lock()(mutex) },
        manner => {
            if let Answer::Done(answer) = ask_owner::<L>(object, manner, libc::EDEADLK) {
                return answer;
            }
        }
    }
    if !try_acquire::<L>(object) {
        acquire_slowly::<L>(object);
    }
    0
}

/// The same, counted.
pub(super) unsafe extern "C" fn counted_lock<L: RawTimed + 'static>(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's mutex.
    match unsafe { Object::at(mutex) }.manner() {
        Manner::Foreign => MUTEX_LOCK.pass(),
        _ => MUTEX_LOCK.serve(),
    }
    // SAFETY: the caller's promise.
    unsafe { lock::<L>(mutex) }
}

/// `pthread_mutex_trylock`.
pub(super) unsafe extern "C" fn try_lock<L: RawTimed + 'static>(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's mutex.
    let object = unsafe { Object::at(mutex) };
    match object.manner() {
        Manner::Plain => {}
        // SAFETY: the caller's promise.
        Manner::Foreign => return unsafe { real::try_lock()(mutex) },
        manner => {
            if let Answer::Done(answer) = ask_owner::<L>(object, manner, libc::EBUSY) {
                return answer;
            }
        }
    }
    if try_acquire::<L>(object) { 0 } else { libc::EBUSY }
}

/// The same, counted.
pub(super) unsafe extern "C" fn counted_try_lock<L: RawTimed + 'static>(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's mutex.
    match unsafe { Object::at(mutex) }.manner() {
        Manner::Foreign => MUTEX_TRY_LOCK.pass(),
        _ => MUTEX_TRY_LOCK.serve(),
    }
    // SAFETY: the caller's promise.
    unsafe { try_lock::<L>(mutex) }
}

/// `pthread_mutex_timedlock`.
pub(super) unsafe extern "C" fn timed_lock<L: RawTimed + 'static>(
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's mutex.
    if unsafe { Object::at(mutex) }.manner() == Manner::Foreign {
        MUTEX_TIMED_LOCK.pass();
        // SAFETY: the caller's promise.
        return unsafe { real::timed_lock()(mutex, until) };
    }
    // SAFETY: the caller's promise.
    unsafe { lock_until::<L>(mutex, libc::CLOCK_REALTIME, until) }
}

/// `pthread_mutex_clocklock`.
pub(super) unsafe extern "C" fn clock_lock<L: RawTimed + 'static>(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller's mutex.
    if unsafe { Object::at(mutex) }.manner() == Manner::Foreign {
        MUTEX_TIMED_LOCK.pass();
        // SAFETY: the caller's promise.
        return unsafe { real::clock_lock()(mutex, clock, until) };
    }
    if clock != libc::CLOCK_REALTIME && clock != libc::CLOCK_MONOTONIC {
        return libc::EINVAL;
    }
    // SAFETY: the caller's promise.
    unsafe { lock_until::<L>(mutex, clock, until) }
}

unsafe fn lock_until<L: RawTimed + 'static>(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    MUTEX_TIMED_LOCK.serve();
    // SAFETY: the caller's mutex.
    let object = unsafe { Object::at(mutex) };
    let manner = object.manner();
    if manner != Manner::Plain {
        if let Answer::Done(answer) = ask_owner::<L>(object, manner, libc::EDEADLK) {
            return answer;
        }
    }
    if try_acquire::<L>(object) {
        return 0;
    }
    // SAFETY: the caller's time.
    wait_until::<L>(object, clock, unsafe { until.read() })
}

#[cold]
fn wait_until<L: RawTimed>(object: &Object, clock: clockid_t, until: timespec) -> c_int {
    let _errno = Errno::keep();
    if !is_valid(until) {
        return libc::EINVAL;
    }
    loop {
        let Some(left) = time_until(clock, until) else { return libc::ETIMEDOUT };
        let deadline = Instant::now() + left.min(LONGEST_WAIT);
        // SAFETY: the node is acquire's.
        let take = |lock: &L, node: &L::Node| unsafe { lock.lock_until(node, deadline) };
        // SAFETY: a try was made, so it is in order.
        if unsafe { acquire::<L>(object, take) } {
            return 0;
        }
    }
}

/// `pthread_mutex_unlock`.
pub(super) unsafe extern "C" fn unlock<L: RawTimed + 'static>(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's mutex.
    let object = unsafe { Object::at(mutex) };
    let manner = object.manner();
    if manner == Manner::Foreign {
        // SAFETY: the caller's promise.
        return unsafe { real::unlock()(mutex) };
    }
    if !is_in_order::<L>(object) {
        put_in_order::<L>(object);
    }
    let owner = object.owner();
    if manner != Manner::Plain {
        if owner != thread::number() {
            return libc::EPERM;
        }
        // ORDERING: Relaxed, the owner's
        let count = object.count.load(Ordering::Relaxed);
        if count > 0 {
            // ORDERING: Relaxed, the owner's
            object.count.store(count - 1, Ordering::Relaxed);
            return 0;
        }
    }
    // A free one is left alone, as the C library does.
    if owner != 0 {
        // SAFETY: in order, and held by this thread, or by one for which it acts.
        unsafe { release::<L>(object) };
    }
    0
}

/// `pthread_mutex_destroy`.
pub(super) unsafe extern "C" fn destroy<L: RawTimed + 'static>(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's mutex.
    let object = unsafe { Object::at(mutex) };
    if object.manner() != Manner::Foreign {
        if object.owner() != 0 || object.sleepers() != 0 {
            return libc::EBUSY;
        }
        let _errno = Errno::keep();
        if !fits::<L>() {
            // SAFETY: the caller's promise: nobody uses the mutex any more.
            unsafe { records::free(object.address()) };
        }
        object.epoch.forget();
    }
    // SAFETY: the caller's promise.
    unsafe { real::destroy()(mutex) }
}
