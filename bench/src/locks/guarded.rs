//! Data behind a lock, as every contender of the lock benchmarks offers it.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use corecast::base::sync::{AtomicU32, Ordering, UnsafeCell};
use corecast::base::{CacheLine, CpuId};
use corecast::lock::{Combine, Delegate, Mutex, RawLock, Setup};
use corecast::machine::pin::{self, Pinned};

use corecast_race::failure::Failure;

/// The data that a lock guards here: a line with a count.
pub(crate) type Line = CacheLine<u64>;

/// A line that one thread at a time reaches.
pub(crate) trait Guarded: Sync + Sized {
    /// An error with the reason if there is no such lock here.
    fn is_there() -> Result<(), Failure> {
        Ok(())
    }

    /// Free, made for this, if it is there.
    fn new(setup: &Setup) -> Self;

    /// Threads of its own that work on the line, and count among those of a crowd.
    const SERVERS: usize = 0;

    /// Whether a thread that waits for long gives up its CPU. Other locks are left out where there are more threads than CPUs:
    /// each hand-over would take as long as the system lets a thread run.
    const GIVES_WAY: bool = true;

    /// Binds these to a CPU.
    fn bind(&self, _cpu: CpuId) -> Result<(), Failure> {
        Ok(())
    }

    /// Waits until it is free, and works on the line, or has it worked on.
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R;
}

impl<L: RawLock> Guarded for Mutex<Line, L> {
    fn new(setup: &Setup) -> Self {
        Self::for_setup(Line::default(), setup)
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        Mutex::with(self, work)
    }
}

impl Guarded for Combine<Line> {
    fn new(setup: &Setup) -> Self {
        Self::for_setup(Line::default(), setup)
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        self.run(work)
    }
}

impl Guarded for Delegate<Line> {
    const SERVERS: usize = 1;

    fn new(_setup: &Setup) -> Self {
        Self::new(Line::default()).expect("there can be one more thread")
    }

    fn bind(&self, cpu: CpuId) -> Result<(), Failure> {
        self.run(move |_| pin::pin(cpu).map(Pinned::forever)).map_err(Failure::refused)
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        self.run(work)
    }
}

/// No lock, but the exchange and the store that every lock needs: for threads that take it in turns.
#[derive(Default)]
pub(super) struct BareCas {
    word: AtomicU32,
    line: UnsafeCell<Line>,
}

// SAFETY: a thread that uses it while it is in use is stopped by a panic.
unsafe impl Sync for BareCas {}

impl Guarded for BareCas {
    fn new(_setup: &Setup) -> Self {
        Self::default()
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
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

/// Data behind the C library's mutex of a kind, which is in one place for as long as it lives, on a line of its own: many of
/// them are raced at once.
pub(crate) struct Pthread<const KIND: c_int, T = Line> {
    raw: Box<CacheLine<UnsafeCell<MaybeUninit<libc::pthread_mutex_t>>>>,
    data: UnsafeCell<T>,
}

// SAFETY: the mutex is made to be used by many threads, and lets one at a time reach the data.
unsafe impl<const KIND: c_int, T: Send> Sync for Pthread<KIND, T> {}
// SAFETY: no thread owns a mutex that nobody holds, and whoever has it by value knows of no holder.
unsafe impl<const KIND: c_int, T: Send> Send for Pthread<KIND, T> {}

impl<const KIND: c_int, T> Pthread<KIND, T> {
    /// Free.
    pub(crate) fn around(data: T) -> Self {
        let raw = Box::new(CacheLine(UnsafeCell::new(MaybeUninit::uninit())));
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: they are not yet initialised.
        let made = unsafe { libc::pthread_mutexattr_init(attributes.as_mut_ptr()) };
        // SAFETY: just initialised.
        let chosen = unsafe { libc::pthread_mutexattr_settype(attributes.as_mut_ptr(), KIND) };
        // SAFETY: it is at its final place and not yet initialised, and the attributes are.
        let status = raw.with_mut(|raw| unsafe { libc::pthread_mutex_init(raw.cast(), attributes.as_ptr()) });
        // SAFETY: initialised, and no mutex looks at them again.
        let ended = unsafe { libc::pthread_mutexattr_destroy(attributes.as_mut_ptr()) };
        assert_eq!([made, chosen, status, ended], [0; 4], "a mutex of a kind that the C library knows needs nothing");
        Self { raw, data: UnsafeCell::new(data) }
    }

    /// Calls `work` on the data while the mutex is held.
    #[inline(always)]
    pub(crate) fn holding<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: initialised; a thread that holds it never comes here.
        self.raw.with_mut(|raw| unsafe { libc::pthread_mutex_lock(raw.cast()) });
        // SAFETY: the mutex is held.
        let result = self.data.with_mut(|data| work(unsafe { &mut *data }));
        // SAFETY: this thread holds it.
        self.raw.with_mut(|raw| unsafe { libc::pthread_mutex_unlock(raw.cast()) });
        result
    }
}

impl<const KIND: c_int> Guarded for Pthread<KIND> {
    fn new(_setup: &Setup) -> Self {
        Self::around(Line::default())
    }

    #[inline(always)]
    fn with<R: Send>(&self, work: impl FnOnce(&mut Line) -> R + Send) -> R {
        self.holding(work)
    }
}

impl<const KIND: c_int, T> Drop for Pthread<KIND, T> {
    fn drop(&mut self) {
        // SAFETY: initialised, and nobody holds it or waits for it, as this is the only reference.
        self.raw.with_mut(|raw| unsafe { libc::pthread_mutex_destroy(raw.cast()) });
    }
}
