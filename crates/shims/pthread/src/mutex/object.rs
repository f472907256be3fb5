//! The forty bytes of a `pthread_mutex_t`, and what is ours in them.
//!
//! The layout is glibc's on x86-64. Its kind says which mutexes are ours, to all threads alike: it is written by the static
//! initialiser or by `pthread_mutex_init`, which is the C library's, before a mutex is shared. The owner is where glibc has
//! it, for debuggers. The rest is unused by glibc in mutexes of these kinds as long as none of its functions locks them.
//!
//! A mutex of zeroes is a free one that nobody has used yet.

use std::mem::offset_of;

use corecast_base::sync::{AtomicU32, AtomicUsize, Ordering, UnsafeCell};
use corecast_lock::{NodeKind, RawLock};
use libc::pthread_mutex_t;

use crate::epoch::EpochWord;

/// The kinds of glibc's mutexes.
const RECURSIVE: u32 = 1;
const ERROR_CHECK: u32 = 2;
const ADAPTIVE: u32 = 3;
/// Whether glibc may elide the lock: it says nothing about a mutex of ours.
const ELISION: u32 = 0x300;

/// How a mutex treats its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// It does not look who it is.
    Plain,
    /// The owner may lock it again.
    Recursive,
    /// Wrong uses are errors.
    ErrorCheck,
    /// It is robust, shared among processes, has a priority or was destroyed: the C library's.
    Foreign,
}

/// A mutex.
#[repr(C, align(8))]
pub(super) struct Object {
    /// glibc's lock word. Stays 0.
    word: AtomicU32,
    /// How often the owner of a recursive one has locked it beyond the first time. Written by the owner.
    pub(super) count: AtomicU32,
    /// The number of the thread that holds it, or 0. Written by that thread, after it has taken and before it frees the lock; in
    /// a child of `fork` by the thread that puts the mutex in order.
    pub(super) owner: AtomicU32,
    /// The epoch in which it was put in order. Written by the thread that does so.
    pub(super) epoch: EpochWord,
    /// Written by the C library.
    kind: AtomicU32,
    /// The threads that sleep at a condition variable without it, and take it when they wake. Written by its holder.
    sleepers: AtomicU32,
    /// A lock that fits, or the address of its record. Written by the thread that puts the mutex in order, and by the lock
    /// itself.
    pub(super) lock: UnsafeCell<u64>,
    /// The node with which it is held, or its address. Written and read by the holder.
    pub(super) node: UnsafeCell<u64>,
}

const _: () = assert!(size_of::<Object>() == size_of::<pthread_mutex_t>());
const _: () = assert!(offset_of!(Object, owner) == 8 && offset_of!(Object, kind) == 16);
const _: () = assert!(offset_of!(Object, epoch) == 12 && offset_of!(Object, lock) == 24);

// SAFETY: atomics, and cells that the lock guards, or that are written before the epoch.
unsafe impl Sync for Object {}

impl Object {
    /// The mutex at this address.
    ///
    /// # Safety
    /// - A mutex is there, initialised or of zeroes, for as long as the result is used.
    #[inline]
    pub(super) unsafe fn at<'a>(mutex: *mut pthread_mutex_t) -> &'a Self {
        // SAFETY: the caller's promise; it is as large and as aligned, and made of numbers.
        unsafe { &*mutex.cast::<Self>() }
    }

    #[inline]
    pub(super) fn manner(&self) -> Manner {
        // ORDERING: Relaxed, written before the mutex was shared
        match self.kind.load(Ordering::Relaxed) & !ELISION {
            0 | ADAPTIVE => Manner::Plain,
            RECURSIVE => Manner::Recursive,
            ERROR_CHECK => Manner::ErrorCheck,
            _ => Manner::Foreign,
        }
    }

    /// The number of the thread that holds it, or 0; of other threads perhaps an old one.
    #[inline]
    pub(super) fn owner(&self) -> u32 {
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        self.owner.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn set_owner(&self, thread: u32) {
        // ORDERING: Relaxed, as in owner
        self.owner.store(thread, Ordering::Relaxed);
    }

    /// The threads that sleep at a condition variable and will take it.
    pub(super) fn sleepers(&self) -> u32 {
        // ORDERING: Relaxed, it only tells users who destroy a mutex too early
        self.sleepers.load(Ordering::Relaxed)
    }

    /// For the holder, or for a thread that puts it in order.
    pub(super) fn set_sleepers(&self, count: u32) {
        // ORDERING: Relaxed, under the lock
        self.sleepers.store(count, Ordering::Relaxed);
    }

    /// Of a lock in a record: where that is.
    #[inline]
    pub(super) fn handle(&self) -> usize {
        // ORDERING: Acquire, pairs with the Release in set_handle: the epoch that is read behind it is no older [mutex-handle]
        self.handle_word().load(Ordering::Acquire)
    }

    pub(super) fn set_handle(&self, address: usize) {
        // ORDERING: Release, pairs with the Acquire in handle [mutex-handle]
        self.handle_word().store(address, Ordering::Release);
    }

    #[inline]
    fn handle_word(&self) -> &AtomicUsize {
        // SAFETY: eight aligned bytes that are reached as this while the lock lies in a record.
        self.lock.with_mut(|lock| unsafe { &*lock.cast::<AtomicUsize>() })
    }

    pub(super) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// Whether memory that begins with these words may be of a mutex that uses the record at this address in this epoch, or is about
/// to get one.
pub(super) fn may_use(words: [u64; 4], epoch: u32, record: usize) -> bool {
    let word_of_epoch = (words[1] >> 32) as u32;
    word_of_epoch == epoch || word_of_epoch == epoch + 1 && words[3] == record as u64
}

/// Whether a lock lies in the mutex itself.
pub(super) const fn fits<L>() -> bool {
    size_of::<L>() <= size_of::<u64>() && align_of::<L>() <= align_of::<u64>()
}

/// Whether the node of an acquisition does: it is small, and nobody else looks at it.
pub(super) const fn node_fits<L: RawLock>() -> bool {
    let may_move = !matches!(L::FACTS.node, NodeKind::Stack);
    may_move && size_of::<L::Node>() <= size_of::<u64>() && align_of::<L::Node>() <= align_of::<u64>()
}
