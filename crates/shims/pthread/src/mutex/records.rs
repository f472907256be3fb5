//! Locks that do not fit into a mutex, by the address of theirs.
//!
//! A mutex has the address of its record, and a record that of its mutex: a mutex that was copied elsewhere is found out, and
//! so is one whose memory was reused. A program that frees mutexes without destroying them leaves records, and a new mutex at
//! the same address gets the one that is there. So there are as many as addresses at which mutexes were used.

use std::mem::MaybeUninit;
use std::ptr;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicPtr, AtomicUsize, Ordering, UnsafeCell};
use corecast_lock::{RawLock, Setup};

use crate::fork::ForkLock;

/// The bytes of a record for a lock; a larger lock is boxed. With the address it makes a line for `auto`.
const ROOM: usize = 56;
const BUCKETS: usize = 1024;

/// A lock beside its mutex.
#[repr(C, align(128))]
pub(super) struct Record {
    /// The lock, or a pointer to it. Written by the thread that puts the mutex in order, and by the lock itself.
    room: UnsafeCell<MaybeUninit<[u64; ROOM / 8]>>,
    /// The address of its mutex, 0 if it is free. Written under the bucket's lock.
    address: AtomicUsize,
    /// The next record of the bucket, or free one. Written under the lock of that list.
    next: AtomicPtr<Self>,
    /// The function that ends the lock in it; null if there is none. Written by the thread that puts the mutex in order, or
    /// destroys it.
    end: AtomicPtr<()>,
}

/// Records of which the addresses fall together.
struct Bucket {
    lock: ForkLock,
    /// Written under the lock.
    first: AtomicPtr<Record>,
}

static TABLE: [Bucket; BUCKETS] =
    [const { Bucket { lock: ForkLock::new(), first: AtomicPtr::new(ptr::null_mut()) } }; BUCKETS];
static FREE: CacheLine<Bucket> =
    CacheLine::new(Bucket { lock: ForkLock::new(), first: AtomicPtr::new(ptr::null_mut()) });

const fn is_inside<L>() -> bool {
    size_of::<L>() <= ROOM && align_of::<L>() <= align_of::<Record>()
}

impl Record {
    /// The address of its mutex.
    #[inline]
    pub(super) fn address(&self) -> usize {
        // ORDERING: Acquire, pairs with the Release in of: the epoch that is read behind it is no older [record-address]
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

fn bucket(address: usize) -> &'static Bucket {
    // Spreads neighbours: D. Knuth, The Art of Computer Programming, volume 3, multiplicative hashing.
    let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    &TABLE[hash as usize % BUCKETS]
}

impl Bucket {
    fn first(&self) -> *mut Record {
        // ORDERING: Relaxed, under the lock
        self.first.load(Ordering::Relaxed)
    }

    /// The record of this address, if it is here.
    fn find(&self, address: usize) -> Option<&'static Record> {
        let mut at = self.first();
        loop {
            // SAFETY: null, or a record, which is never unmapped.
            let record = unsafe { at.as_ref() }?;
            if record.address() == address {
                return Some(record);
            }
            at = record.next();
        }
    }

    fn push(&self, record: &'static Record) {
        // ORDERING: Relaxed, under the lock
        record.next.store(self.first(), Ordering::Relaxed);
        // ORDERING: Relaxed, under the lock
        self.first.store(ptr::from_ref(record).cast_mut(), Ordering::Relaxed);
    }

    fn remove(&self, record: &Record) {
        let mut place = &self.first;
        loop {
            // ORDERING: Relaxed, under the lock
            let at = place.load(Ordering::Relaxed);
            // SAFETY: null, or a record, which is never unmapped.
            let Some(here) = (unsafe { at.as_ref() }) else { return };
            if ptr::eq(here, record) {
                // ORDERING: Relaxed, under the lock
                return place.store(record.next(), Ordering::Relaxed);
            }
            place = &here.next;
        }
    }
}

/// The record of the mutex at this address: the one that is there, or another one.
pub(super) fn of(address: usize) -> &'static Record {
    let bucket = bucket(address);
    bucket.lock.with(|| {
        bucket.find(address).unwrap_or_else(|| {
            let record = take_free().unwrap_or_else(make);
            // ORDERING: Release, pairs with the Acquire in address [record-address]
            record.address.store(address, Ordering::Release);
            bucket.push(record);
            record
        })
    })
}

/// Frees the record of the mutex at this address, if there is one.
///
/// # Safety
/// - No thread uses that mutex any more.
pub(super) unsafe fn free(address: usize) {
    let bucket = bucket(address);
    let freed = bucket.lock.with(|| {
        let record = bucket.find(address)?;
        bucket.remove(record);
        // ORDERING: Relaxed, under the lock
        record.address.store(0, Ordering::Relaxed);
        Some(record)
    });
    if let Some(record) = freed {
        // SAFETY: the caller's promise.
        unsafe { record.end() };
        FREE.lock.with(|| FREE.push(record));
    }
}

fn take_free() -> Option<&'static Record> {
    FREE.lock.with(|| {
        // SAFETY: null, or a record, which is never unmapped.
        let record = unsafe { FREE.first().as_ref() }?;
        FREE.remove(record);
        Some(record)
    })
}

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
    fn an_address_keeps_its_record_until_it_is_freed() {
        let [a, b] = [of(0x1000), of(0x2000)];
        assert!(ptr::eq(a, of(0x1000)) && !ptr::eq(a, b));
        // SAFETY: nobody uses it.
        unsafe { free(0x1000) };
        assert_eq!((a.address(), b.address()), (0, 0x2000));
        assert!(ptr::eq(of(0x3000), a), "a freed record serves another mutex");
        // SAFETY: nobody uses it.
        unsafe { free(0x4000) };
    }

    #[test]
    fn small_locks_lie_inside_and_large_ones_in_a_box() {
        assert!(is_inside::<Auto>() && !is_inside::<Array>());
        let record = of(0x5000);
        for _ in 0..2 {
            // SAFETY: nobody else uses it.
            unsafe { record.make::<Array>(&Setup::of_threads(4)) };
            // SAFETY: made above.
            let lock = unsafe { record.lock::<Array>() };
            // SAFETY: the node stays where it is, and the lock is not unlocked.
            assert!(unsafe { lock.try_lock(&std::cell::Cell::new(0)) });
        }
        // SAFETY: nobody uses it.
        unsafe { free(0x5000) };
    }
}
