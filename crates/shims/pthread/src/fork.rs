//! The process, and its children made by `fork`.
//!
//! A child has one thread, and memory as its parent's threads had left it: queues of threads that are not there, locks of the
//! allocator held by nobody. So each process has an epoch, a number that a child changes. An object remembers the epoch in which
//! it was last put in order, and a thread that finds another one does that first.
//!
//! The number lies on a page that the kernel empties in a child (`MADV_WIPEONFORK`): the child notices before the first handler
//! runs, whoever has registered handlers in which order. Where the kernel is too old a handler does it.

use std::ptr;

use corecast_base::Clock;
use corecast_base::sync::{AtomicPtr, AtomicU32, Ordering};
use corecast_base::wait::Spinner;

/// The page of the number. An epoch is even, and not 0.
#[repr(C, align(4096))]
struct Page {
    /// The epoch; 0 at the start of a child. Written by the first thread that finds it so.
    epoch: AtomicU32,
    rest: [u32; 1023],
}

static PAGE: Page = Page { epoch: AtomicU32::new(0), rest: [0; 1023] };
/// The largest epoch of this process and its parents. Written by the first thread of a process that asks.
static LARGEST: AtomicU32 = AtomicU32::new(0);
/// Whether the kernel empties the page: 1 if so. Written at the start.
static IS_WIPED: AtomicU32 = AtomicU32::new(0);
/// The function to call in a child; null before there is one. Written at the start.
static IN_CHILD: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

/// The epoch, or 0 in a child that has not begun its own. For a comparison with what an object remembers, which is odd.
#[inline]
pub(crate) fn epoch_or_none() -> u32 {
    // ORDERING: Relaxed, the number is all there is: an object that was put in order says so itself
    PAGE.epoch.load(Ordering::Relaxed)
}

/// The epoch of this process.
pub(crate) fn epoch() -> u32 {
    match epoch_or_none() {
        0 => begin(),
        epoch => epoch,
    }
}

#[cold]
fn begin() -> u32 {
    // Said first: a child made between the two has a larger one.
    // ORDERING: Relaxed, numbers differ, and that is all there is
    let epoch = LARGEST.fetch_add(2, Ordering::Relaxed) + 2;
    // ORDERING: Relaxed, as in epoch_or_none
    match PAGE.epoch.compare_exchange(0, epoch, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => epoch,
        Err(theirs) => theirs,
    }
}

/// Prepares for children, in which `then` is called first. Called at the start, perhaps by several threads.
pub(crate) fn prepare(then: fn()) {
    static IS_PREPARED: AtomicU32 = AtomicU32::new(0);
    // ORDERING: Relaxed, it only keeps one from doing it twice
    if IS_PREPARED.swap(1, Ordering::Relaxed) != 0 {
        return;
    }
    let page = ptr::from_ref(&PAGE).cast_mut().cast();
    // SAFETY: the page is a whole one of this object's zeroed memory, which is private.
    let is_wiped = unsafe { libc::madvise(page, size_of::<Page>(), libc::MADV_WIPEONFORK) } == 0;
    // ORDERING: Relaxed, read by a child's only thread
    IS_WIPED.store(is_wiped.into(), Ordering::Relaxed);
    epoch();
    // ORDERING: Relaxed, read by a child's only thread
    IN_CHILD.store(then as *mut (), Ordering::Relaxed);
    // SAFETY: the handlers are functions of an object that stays.
    unsafe { libc::pthread_atfork(Some(before), None, Some(in_child)) };
}

unsafe extern "C" {
    /// glibc's: 0 once the process has had a second thread.
    static __libc_single_threaded: u8;
}

extern "C" fn before() {
    // Another thread may be setting the clock for the first time, and a child would wait for it for ever.
    // SAFETY: a byte that glibc keeps.
    if unsafe { ptr::from_ref(&__libc_single_threaded).read_volatile() } == 0 {
        let _ = Clock::get();
    }
}

extern "C" fn in_child() {
    // ORDERING: Relaxed, the only thread
    if IS_WIPED.load(Ordering::Relaxed) == 0 {
        // ORDERING: Relaxed, the only thread
        PAGE.epoch.store(0, Ordering::Relaxed);
    }
    // ORDERING: Relaxed, the only thread
    let then = IN_CHILD.load(Ordering::Relaxed);
    if !then.is_null() {
        // SAFETY: prepare has put a function of this type.
        let then = unsafe { std::mem::transmute::<*mut (), fn()>(then) };
        then();
    }
}

/// A lock for moments, which a child finds free though a thread of its parent held it: what it guards is whole after each store.
#[derive(Debug)]
pub(crate) struct ForkLock {
    /// The epoch of the holder; 0 for none. Written by holders.
    holder: AtomicU32,
}

impl ForkLock {
    pub(crate) const fn new() -> Self {
        Self { holder: AtomicU32::new(0) }
    }

    /// Runs `use_it` while no other thread of this process does.
    pub(crate) fn with<R>(&self, use_it: impl FnOnce() -> R) -> R {
        let epoch = epoch();
        let mut spinner = Spinner::new();
        while !self.take(epoch) {
            spinner.pause_or_sleep();
        }
        let result = use_it();
        self.give_back();
        result
    }

    /// Runs `use_it` if no other thread of this process does.
    pub(crate) fn try_with<R>(&self, use_it: impl FnOnce() -> R) -> Option<R> {
        self.take(epoch()).then(|| {
            let result = use_it();
            self.give_back();
            result
        })
    }

    fn take(&self, epoch: u32) -> bool {
        // ORDERING: Relaxed, the exchange looks again
        let seen = self.holder.load(Ordering::Relaxed);
        // ORDERING: Acquire, pairs with the Release in give_back; Relaxed where it fails, as nothing was taken [fork-lock]
        seen != epoch && self.holder.compare_exchange(seen, epoch, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn give_back(&self) {
        // ORDERING: Release, pairs with the Acquire in take [fork-lock]
        self.holder.store(0, Ordering::Release);
    }
}
