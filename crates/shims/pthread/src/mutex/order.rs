//! A mutex that a process uses for the first time: a fresh one, one that was moved, or one that a child of `fork` has got.
//!
//! In a child the queue of a lock may have threads that are not there. But the owner says all that matters: a mutex without
//! one is free (a thread that was about to lock or unlock it is gone, and was not inside), one of this thread is held by it,
//! and one of another thread is held for ever, as with the C library. So the lock is made anew, and taken if there is an
//! owner.

use corecast_lock::{RawTimed, Setup};
use corecast_preload::Errno;
use std::ptr;

use super::lock::acquire;
use super::object::{Object, fits};
use super::records::{self, Record};
use crate::{cpus, fork, thread};

/// Whether this process has put it in order, and it is where it was then.
#[inline]
pub(super) fn is_in_order<L>(object: &Object) -> bool {
    let epoch = fork::epoch_or_none();
    if fits::<L>() { object.epoch.is_of(epoch) } else { object.epoch.is_in_order(epoch, || is_here::<L>(object)) }
}

/// Whether a mutex that was put in order is where it was then.
#[inline]
fn is_here<L>(object: &Object) -> bool {
    fits::<L>() || record(object).address() == object.address()
}

/// The record of a mutex that is in order, and whose lock does not fit.
#[inline]
pub(super) fn record(object: &Object) -> &'static Record {
    let handle = ptr::with_exposed_provenance::<Record>(object.handle());
    // SAFETY: put there with the epoch, and never unmapped.
    unsafe { &*handle }
}

/// Puts it in order, unless another thread does.
#[cold]
pub(super) fn put_in_order<L: RawTimed + 'static>(object: &Object) {
    let _errno = Errno::keep();
    object.epoch.put_in_order(fork::epoch(), || is_here::<L>(object), |epoch| renew::<L>(object, epoch));
}

/// Makes a new lock while other threads wait for this one, and takes it for the owner if there is one: the thread that had its
/// number in `epoch`, in which the object was last in order.
fn renew<L: RawTimed + 'static>(object: &Object, epoch: u32) {
    let setup = Setup::of_threads(2 * cpus::allowed().min(1 << 10) as usize);
    if fits::<L>() {
        let lock = L::new(&setup);
        // SAFETY: it fits, and nobody else uses it.
        object.lock.with_mut(|place| unsafe { place.cast::<L>().write(lock) });
    } else {
        let record = records::of(object.address());
        // SAFETY: the mutex is this thread's, and so is its record.
        unsafe { record.make::<L>(&setup) };
        object.set_handle(ptr::from_ref(record).expose_provenance());
    }
    // Those of another process, or of zeroes.
    object.set_sleepers(0);
    let owner = object.owner();
    if owner != 0 {
        // SAFETY: the node is acquire's.
        let take = |lock: &L, node: &L::Node| unsafe { lock.try_lock(node) };
        // SAFETY: the lock was made above.
        let is_taken = unsafe { acquire::<L>(object, take) };
        debug_assert!(is_taken, "a new lock is free");
        object.set_owner(thread::in_this_process(owner, epoch));
    }
}
