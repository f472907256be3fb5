//! Locks that do not fit into a mutex, by the address of theirs.
//!
//! A mutex has the address of its record, and a record that of its mutex: a mutex that was copied elsewhere is found out, and
//! so is one whose memory was reused. A program that frees mutexes without destroying them, as C++'s `std::mutex` does, leaves
//! records, and a new mutex at the same address gets the one that is there. The others are found when there are many records:
//! those of which the mutex's memory is no more, or has other contents.
//!
//! - this file: a record; `table`: records by address; `sweep`: records that were left; `memory`: a look at memory that may be
//!   gone.

mod memory;
mod sweep;
mod table;

use std::mem::MaybeUninit;
use std::ptr;

use corecast_base::sync::{AtomicPtr, AtomicUsize, Ordering, UnsafeCell};
use corecast_lock::{RawLock, Setup};

use self::table::Table;

/// The bytes of a record for a lock; a larger lock is boxed. With the address it makes a line for `auto`.
const ROOM: usize = 56;

/// A lock beside its mutex.
#[repr(C, align(128))]
pub(super) struct Record {
    /// The lock, or a pointer to it. Written by the thread that puts the mutex in order, and by the lock itself.
    room: UnsafeCell<MaybeUninit<[u64; ROOM / 8]>>,
    /// The address of its mutex, 0 if it is free. Written under the lock of its list, or while it is in none.
    address: AtomicUsize,
    /// The next record of the bucket, or free one. Written under the lock of that list.
    next: AtomicPtr<Self>,
    /// The function that ends the lock in it; null if there is none. Written by the thread that puts the mutex in order, or
    /// destroys it.
    end: AtomicPtr<()>,
}

static TABLE: Table = Table::new();

/// The record of the mutex at this address: the one that is there, or another one. One thread at a time asks for an address.
pub(super) fn of(address: usize) -> &'static Record {
    TABLE.find(address).unwrap_or_else(|| {
        if TABLE.is_due() {
            sweep::free_left(&TABLE);
        }
        TABLE.add(address)
    })
}

/// Frees the record of the mutex at this address, if there is one.
///
/// # Safety
/// - No thread uses that mutex any more.
pub(super) unsafe fn free(address: usize) {
    // SAFETY: the caller's promise.
    unsafe { TABLE.free(address) };
}

const fn is_inside<L>() -> bool {
    size_of::<L>() <= ROOM && align_of::<L>() <= align_of::<Record>()
}

impl Record {
    /// The address of its mutex.
    #[inline]
    pub(super) fn address(&self) -> usize {
        // ORDERING: Acquire, pairs with the Release in set_address: the epoch that is read behind it is no older [record-address]
        self.address.load(Ordering::Acquire)
    }

    /// The lock in it.
    ///
    /// # Safety
    /// - A lock of this type was [made](Self::make) in it.
    #[inline]
    pub(super) unsafe fn lock<L>(&self) -> &L {
        let room = self.room.with(|room| room.cast::<L>());
        // SAFETY: the lock is there, or a pointer to it.
        let lock = if is_inside::<L>() { room } else { unsafe { room.cast::<*const L>().read() } };
        // SAFETY: made, as the caller promises.
        unsafe { &*lock }
    }

    /// Makes a free lock in it; the one before is ended.
    ///
    /// # Safety
    /// - No other thread uses it.
    pub(super) unsafe fn make<L: RawLock>(&self, setup: &Setup) {
        // SAFETY: the caller's promise.
        unsafe { self.end() };
        let (lock, room) = (L::new(setup), self.room.with_mut(|room| room.cast::<L>()));
        if is_inside::<L>() {
            // SAFETY: it has room, and nobody else uses it.
            unsafe { room.write(lock) };
        } else {
            let boxed = Box::into_raw(Box::new(lock));
            // SAFETY: room for an address.
            unsafe { room.cast::<*mut L>().write(boxed) };
        }
        // ORDERING: Relaxed, nobody else uses it meanwhile
        self.end.store(end::<L> as *mut (), Ordering::Relaxed);
    }

    /// Ends the lock in it, if there is one.
    ///
    /// # Safety
    /// - No other thread uses it.
    unsafe fn end(&self) {
        // ORDERING: Relaxed, nobody else uses it meanwhile
        let end = self.end.load(Ordering::Relaxed);
        if end.is_null() {
            return;
        }
        // ORDERING: Relaxed, as at the access above
        self.end.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: make has put a function of this type.
        let end = unsafe { std::mem::transmute::<*mut (), unsafe fn(&Self)>(end) };
        // SAFETY: made for this type, and used no more.
        unsafe { end(self) };
    }

    fn set_address(&self, address: usize) {
        // ORDERING: Release, pairs with the Acquire in address [record-address]
        self.address.store(address, Ordering::Release);
    }

    fn next(&self) -> *mut Self {
        // ORDERING: Relaxed, under the list's lock
        self.next.load(Ordering::Relaxed)
    }
}

/// # Safety
/// - The record has a lock of this type, which nobody uses any more.
unsafe fn end<L>(record: &Record) {
    let room = record.room.with_mut(|room| room.cast::<L>());
    if is_inside::<L>() {
        // SAFETY: the caller's promise.
        unsafe { room.drop_in_place() };
    } else {
        // SAFETY: make has put a pointer there.
        let boxed = unsafe { room.cast::<*mut L>().read() };
        // SAFETY: from a box.
        drop(unsafe { Box::from_raw(boxed) });
    }
}

/// A record of no mutex yet.
fn make() -> &'static Record {
    Box::leak(Box::new(Record {
        room: UnsafeCell::new(MaybeUninit::uninit()),
        address: AtomicUsize::new(0),
        next: AtomicPtr::new(ptr::null_mut()),
        end: AtomicPtr::new(ptr::null_mut()),
    }))
}

// SAFETY: the room is reached as its lock, of which every one is Sync, or by one thread.
unsafe impl Sync for Record {}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_lock::{Array, Auto};

    #[test]
    fn small_locks_lie_inside_and_large_ones_in_a_box() {
        assert!(is_inside::<Auto>() && !is_inside::<Array>());
        let record = make();
        for _ in 0..2 {
            // SAFETY: nobody else uses it.
            unsafe { record.make::<Array>(&Setup::of_threads(4)) };
            // SAFETY: made above.
            let lock = unsafe { record.lock::<Array>() };
            // SAFETY: the node stays where it is, and the lock is not unlocked.
            assert!(unsafe { lock.try_lock(&std::cell::Cell::new(0)) });
        }
        // SAFETY: nobody uses it.
        unsafe { record.end() };
    }
}
