//! Data behind a lock, as every contender of the lock benchmarks offers it.

use std::mem::MaybeUninit;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU32, Ordering, UnsafeCell};
use corecast::lock::{Mutex, RawLock, Setup};

/// What a lock guards here: a line with a count.
pub(super) type Line = CacheLine<u64>;

/// A line that one thread at a time reaches.
pub(super) trait Guarded: Sync + Sized {
    /// Free, for so many threads.
    fn new(threads: usize) -> Self;

    /// Waits until it is free, and works on the line.
    fn with<R>(&self, work: impl FnOnce(&mut Line) -> R) -> R;
}

impl<L: RawLock> Guarded for Mutex<Line, L> {
    fn new(threads: usize) -> Self {
        Self::for_setup(Line::default(), &Setup::of_threads(threads))
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Line) -> R) -> R {
        Mutex::with(self, work)
    }
}

impl Guarded for std::sync::Mutex<Line> {
    fn new(_threads: usize) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Line) -> R) -> R {
        work(&mut self.lock().expect("no work panics"))
    }
}

impl Guarded for parking_lot::Mutex<Line> {
    fn new(_threads: usize) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Line) -> R) -> R {
        work(&mut self.lock())
    }
}

/// No lock, but the exchange and the store that every lock needs: for threads that take it in turns.
#[derive(Default)]
pub(super) struct BareCas {
    word: AtomicU32,
    line: UnsafeCell<Line>,
}

// SAFETY: who uses it while it is in use is stopped by a panic.
unsafe impl Sync for BareCas {}

impl Guarded for BareCas {
    fn new(_threads: usize) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Line) -> R) -> R {
        // ORDERING: Acquire, pairs with the Release below; Relaxed where it fails, as nothing was taken [bare-cas]
        let exchanged = self.word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
        assert_eq!(exchanged, Ok(0), "it is used in turns");
        // SAFETY: nobody else is between the exchange and the store.
        let result = self.line.with_mut(|line| work(unsafe { &mut *line }));
        // ORDERING: Release, pairs with the Acquire above [bare-cas]
        self.word.store(0, Ordering::Release);
        result
    }
}

/// The C library's mutex of the default kind, in one place for as long as it lives.
pub(super) struct Pthread {
    raw: Box<UnsafeCell<MaybeUninit<libc::pthread_mutex_t>>>,
    line: UnsafeCell<Line>,
}

// SAFETY: the mutex is made to be used by many threads, and lets one at a time reach the line.
unsafe impl Sync for Pthread {}

impl Guarded for Pthread {
    fn new(_threads: usize) -> Self {
        let raw = Box::new(UnsafeCell::new(MaybeUninit::uninit()));
        // SAFETY: it is at its final place and not yet initialised; no attributes mean the default kind.
        let status = raw.with_mut(|raw| unsafe { libc::pthread_mutex_init(raw.cast(), std::ptr::null()) });
        assert_eq!(status, 0, "a mutex of the default kind needs nothing");
        Self { raw, line: UnsafeCell::new(Line::default()) }
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Line) -> R) -> R {
        // SAFETY: initialised; a thread that holds it never comes here.
        self.raw.with_mut(|raw| unsafe { libc::pthread_mutex_lock(raw.cast()) });
        // SAFETY: the mutex is held.
        let result = self.line.with_mut(|line| work(unsafe { &mut *line }));
        // SAFETY: this thread holds it.
        self.raw.with_mut(|raw| unsafe { libc::pthread_mutex_unlock(raw.cast()) });
        result
    }
}

impl Drop for Pthread {
    fn drop(&mut self) {
        // SAFETY: initialised, and nobody holds it or waits for it, as this is the only reference.
        self.raw.with_mut(|raw| unsafe { libc::pthread_mutex_destroy(raw.cast()) });
    }
}
