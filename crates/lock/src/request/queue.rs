//! The queue of requests, and the right to run them.
//!
//! One word says whether somebody runs requests and names the last one that was pushed, so it can only be freed while nothing is
//! pushed. The runner takes all that were pushed at once, and puts them behind those that are left, the oldest first.

use std::cell::Cell;
use std::ptr;

use corecast_base::sync::{AtomicPtr, Ordering, UnsafeCell};

use super::job::{AnyJob, Job};
use super::progress::Progress;

/// The bit of the word that says taken. Requests are aligned to more.
const TAKEN: usize = 1;

/// One closure that waits.
pub(crate) struct Request<T> {
    /// The one behind: towards the bottom of the stack, and once it was taken from there the next younger one. Written by its
    /// thread before it is pushed, and by the runner.
    next: Cell<*mut Self>,
    job: AnyJob<T>,
    progress: Progress,
    can_be_withdrawn: bool,
}

impl<T> Request<T> {
    /// One that stays with its caller until it is done.
    pub(crate) fn within<F: FnOnce(&mut T) -> R, R>(job: &Job<F, R>, progress: Progress) -> Self {
        Self { next: Cell::new(ptr::null_mut()), job: job.forget_type(), progress, can_be_withdrawn: false }
    }

    /// One that lies in a box, and is left there if it is withdrawn.
    pub(crate) fn to_withdraw<F: FnOnce(&mut T) -> R, R>(job: &Job<F, R>, progress: Progress) -> Self {
        Self { can_be_withdrawn: true, ..Self::within(job, progress) }
    }
}

/// A request that nobody else runs, and that cannot be withdrawn any more.
pub(crate) struct Begun<T>(*mut Request<T>);

impl<T> Begun<T> {
    /// Runs it and tells its thread.
    pub(crate) fn run(self, data: &mut T) {
        // SAFETY: a request that has begun stays until it is done, which is told in the last line.
        let request = unsafe { &*self.0 };
        let progress = request.progress;
        // SAFETY: the job stays as the request does; it was taken from the queue, so nobody else runs it.
        unsafe { request.job.run(data) };
        progress.finish();
    }
}

pub(crate) struct Queue<T> {
    /// The last request that was pushed, and [`TAKEN`]; null if nobody runs requests. Written by newcomers, and by the thread
    /// that runs them.
    word: AtomicPtr<Request<T>>,
    /// Read and written by the thread that runs requests.
    left: UnsafeCell<Left<T>>,
}

/// The requests that were taken from the stack and have not run, by age.
struct Left<T> {
    oldest: *mut Request<T>,
    youngest: *mut Request<T>,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        let left = Left { oldest: ptr::null_mut(), youngest: ptr::null_mut() };
        Self { word: AtomicPtr::new(ptr::null_mut()), left: UnsafeCell::new(left) }
    }

    fn taken(request: *mut Request<T>) -> *mut Request<T> {
        request.map_addr(|address| address | TAKEN)
    }

    fn pushed(word: *mut Request<T>) -> *mut Request<T> {
        word.map_addr(|address| address & !TAKEN)
    }

    /// The last request on the stack, null if there is none, or if nobody runs requests.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn last(&self) -> *mut Request<T> {
        // ORDERING: Relaxed, nobody looks at the request
        Self::pushed(self.word.load(Ordering::Relaxed))
    }

    /// Whether nobody runs requests, as far as can be seen here.
    pub(crate) fn is_free(&self) -> bool {
        // ORDERING: Relaxed, a thread that takes it looks again
        self.word.load(Ordering::Relaxed).is_null()
    }

    /// Takes it if nobody has.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        let (free, taken) = (ptr::null_mut(), Self::taken(ptr::null_mut()));
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [combine-free]
        self.word.compare_exchange(free, taken, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes it if nobody has, or pushes the request: false then.
    ///
    /// # Safety
    /// - The request and its job stay until it is done or withdrawn, and the request, if it is withdrawn, until somebody else
    ///   frees it.
    pub(crate) unsafe fn lock_or_push(&self, request: *mut Request<T>) -> bool {
        loop {
            // ORDERING: Relaxed, the exchanges look again
            let word = self.word.load(Ordering::Relaxed);
            if word.is_null() {
                if self.try_lock() {
                    return true;
                }
                continue;
            }
            // SAFETY: nobody else has the request yet.
            unsafe { &*request }.next.set(Self::pushed(word));
            // ORDERING: Release, pairs with the Acquire in collect; Relaxed where it fails, as nothing was pushed
            // [combine-pushed]
            let pushed = self.word.compare_exchange(word, Self::taken(request), Ordering::Release, Ordering::Relaxed);
            if pushed.is_ok() {
                return false;
            }
        }
    }

    /// The oldest request, to run now. Frees those that are withdrawn on the way.
    ///
    /// # Safety
    /// - The queue is locked by this thread.
    pub(crate) unsafe fn begin_oldest(&self) -> Option<Begun<T>> {
        loop {
            // SAFETY: the caller's promise.
            let request = unsafe { self.pop() }?;
            // SAFETY: a request that was not done and not freed is alive.
            let is_begun = { unsafe { &*request } }.begin();
            if is_begun {
                return Some(Begun(request));
            }
            // SAFETY: it is withdrawn, and nobody else has it.
            unsafe { free(request) };
        }
    }

    /// # Safety
    /// - The queue is locked by this thread.
    unsafe fn pop(&self) -> Option<*mut Request<T>> {
        self.left.with_mut(|left| {
            // SAFETY: the queue is locked, so nobody else reaches what is left.
            let left = unsafe { &mut *left };
            if left.oldest.is_null() {
                self.collect(left);
            }
            left.pop()
        })
    }

    /// Puts what was pushed behind what is left.
    fn collect(&self, left: &mut Left<T>) {
        // ORDERING: Relaxed, only the runner takes requests from here, and looks again before it frees the word
        if Self::pushed(self.word.load(Ordering::Relaxed)).is_null() {
            return;
        }
        // ORDERING: Acquire, pairs with the Release in lock_or_push [combine-pushed]
        let mut pushed = Self::pushed(self.word.swap(Self::taken(ptr::null_mut()), Ordering::Acquire));
        let (youngest, mut oldest) = (pushed, ptr::null_mut());
        while !pushed.is_null() {
            // SAFETY: it was pushed and has not run, so it is alive.
            let next = unsafe { &*pushed }.next.replace(oldest);
            (oldest, pushed) = (pushed, next);
        }
        left.append(oldest, youngest);
    }

    /// Frees it. Returns the oldest request that is left, whose thread is to be called.
    ///
    /// # Safety
    /// - The queue is locked by this thread.
    pub(crate) unsafe fn unlock(&self) -> Option<Progress> {
        loop {
            let oldest = self.left.with_mut(|left| {
                // SAFETY: the queue is locked, so nobody else reaches what is left.
                let left = unsafe { &mut *left };
                self.collect(left);
                left.drop_withdrawn();
                // SAFETY: requests that are left are alive.
                unsafe { left.oldest.as_ref() }.map(|request| request.progress)
            });
            let (free, taken) = (ptr::null_mut(), Self::taken(ptr::null_mut()));
            // ORDERING: Release, pairs with the Acquire in try_lock; Relaxed where it fails, as more was pushed [combine-free]
            if self.word.compare_exchange(taken, free, Ordering::Release, Ordering::Relaxed).is_ok() {
                return oldest;
            }
        }
    }
}

impl<T> Request<T> {
    /// False if it is withdrawn.
    fn begin(&self) -> bool {
        !self.can_be_withdrawn || self.progress.begin()
    }
}

impl<T> Left<T> {
    fn append(&mut self, oldest: *mut Request<T>, youngest: *mut Request<T>) {
        // SAFETY: requests that are left are alive.
        match unsafe { self.youngest.as_ref() } {
            Some(last) => last.next.set(oldest),
            None => self.oldest = oldest,
        }
        self.youngest = youngest;
    }

    fn pop(&mut self) -> Option<*mut Request<T>> {
        let request = self.oldest;
        // SAFETY: requests that are left are alive.
        self.oldest = unsafe { request.as_ref() }?.next.get();
        if self.oldest.is_null() {
            self.youngest = ptr::null_mut();
        }
        Some(request)
    }

    /// Frees those that are withdrawn before the first that is not.
    fn drop_withdrawn(&mut self) {
        // SAFETY: requests that are left are alive.
        while unsafe { self.oldest.as_ref() }.is_some_and(|request| request.progress.is_withdrawn()) {
            let request = self.pop().expect("there is an oldest one");
            // SAFETY: it is withdrawn, and taken from where others could find it.
            unsafe { free(request) };
        }
    }
}

/// # Safety
/// - The request is withdrawn, and nobody else has it.
unsafe fn free<T>(request: *mut Request<T>) {
    // SAFETY: only requests in boxes can be withdrawn, and their threads leave them to the thread that finds them.
    let request = unsafe { Box::from_raw(request) };
    request.progress.give_back();
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // Nobody waits any more, so all that is left is withdrawn.
        self.left.with_mut(|left| {
            // SAFETY: this is the only reference to the queue.
            let left = unsafe { &mut *left };
            self.collect(left);
            left.drop_withdrawn();
        });
    }
}
