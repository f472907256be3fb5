//! Reader-writer locks among the threads of this process.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::{Duration, Instant};

use corecast::base::sync::{AtomicU32, Ordering};
use corecast::lock::{RawRwLock, RawRwTimed, RwAlgorithm, WrongUse, this_thread};

use crate::error::Failure;
use crate::status::Status;

/// The algorithm of a reader-writer lock. The number of an algorithm never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
#[non_exhaustive]
pub enum RwLockAlgorithm {
    /// One word that counts readers. The smallest, for readers that seldom meet.
    Ttas = 1,
    /// Readers and writers take turns, so that none of them waits for ever.
    Phase = 2,
    /// Readers that meet often count themselves on lines of their own, and do not disturb each other. Take it unless you know
    /// better.
    Spread = 3,
    /// One word, whose threads sleep. Take it where there may be more threads than CPUs, or sections are long.
    Word = 4,
}

/// A lock that many threads may hold as readers at a time, or one thread as the writer.
///
/// Take it where reads are many, and long enough that readers would wait for each other; otherwise a corecast_lock is faster.
///
/// A thread that writes gets CORECAST_INVALID_ARGUMENT if it asks for the lock again, and so does a thread that ends a writer it
/// is not. Not checked: a reader that asks to write waits for itself, and for ever. A lock whose reader or writer never ends is
/// held for ever.
#[derive(Debug)]
pub struct RwLock {
    words: Words,
    /// The thread that writes, 0 for none. Written by writers.
    writer: AtomicU32,
}

/// A reader of a corecast_rw_lock, from the call that begins it to the call that ends it. It lies where its user puts it, such as
/// on the stack of the thread that reads.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct RwReader {
    /// For the library.
    pub opaque: [u64; 2],
}

/// How long a call waits.
#[derive(Clone, Copy)]
enum Patience {
    None,
    Until(Instant),
    Endless,
}

impl Patience {
    fn of(timeout: Duration) -> Self {
        Instant::now().checked_add(timeout).map_or(Self::Endless, Self::Until)
    }

    /// The failure to report when the lock was held for that long.
    fn failure(self) -> Failure {
        match self {
            Self::None => Failure::new(Status::Taken, "the lock is held"),
            _ => Failure::new(Status::Timeout, "the lock stayed held until the deadline"),
        }
    }
}

macro_rules! define {
    ($($variant:ident = $number:literal: $lock:ty,)*) => {
        /// A lock of any algorithm.
        #[allow(clippy::enum_variant_names, reason = "the names of the registry")]
        enum Words {
            $($variant($lock),)*
        }

        /// The place where a reader of any algorithm is counted.
        #[allow(clippy::enum_variant_names, reason = "the names of the registry")]
        #[derive(Clone, Copy)]
        enum Place {
            $($variant(<$lock as RawRwLock>::Reader),)*
        }

        impl Words {
            fn new(algorithm: RwAlgorithm) -> Option<Self> {
                match algorithm {
                    $(RwAlgorithm::$variant => Some(Self::$variant(<$lock>::default())),)*
                    _ => None,
                }
            }

            fn read(&self, patience: Patience) -> Option<Place> {
                match self {
                    $(Self::$variant(lock) => match patience {
                        Patience::None => lock.try_read(),
                        Patience::Until(deadline) => lock.read_until(deadline),
                        Patience::Endless => Some(lock.read()),
                    }.map(Place::$variant),)*
                }
            }

            fn write(&self, patience: Patience) -> bool {
                match self {
                    $(Self::$variant(lock) => match patience {
                        Patience::None => lock.try_write(),
                        Patience::Until(deadline) => lock.write_until(deadline),
                        Patience::Endless => {
                            lock.write();
                            true
                        }
                    },)*
                }
            }

            /// # Safety
            /// - This is the place of a reader of this lock, which ends now.
            unsafe fn unlock_read(&self, place: Place) {
                match (self, place) {
                    // SAFETY: the caller's promise.
                    $((Self::$variant(lock), Place::$variant(reader)) => unsafe { lock.unlock_read(reader) },)*
                    _ => unreachable!("a reader has the algorithm of its lock"),
                }
            }

            /// # Safety
            /// - The caller writes, which ends now.
            unsafe fn unlock_write(&self) {
                match self {
                    // SAFETY: the caller's promise.
                    $(Self::$variant(lock) => unsafe { lock.unlock_write() },)*
                }
            }

            /// # Safety
            /// - The caller writes, which ends now.
            unsafe fn downgrade(&self) -> Place {
                match self {
                    // SAFETY: the caller's promise.
                    $(Self::$variant(lock) => Place::$variant(unsafe { lock.downgrade() }),)*
                }
            }
        }
    };
}

corecast::lock::for_each_rw_lock!(define);

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words").finish_non_exhaustive()
    }
}

/// A [`RwReader`] as the library sees it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Kept {
    /// The address of the lock; 0 where there is no reader.
    lock: usize,
    place: MaybeUninit<Place>,
}

const _: () = assert!(size_of::<Kept>() <= size_of::<RwReader>() && align_of::<Kept>() <= align_of::<RwReader>());

impl RwReader {
    /// Where the library keeps its reader, at an address that C passes.
    ///
    /// # Safety
    /// - `reader` is NULL, or writable for the bytes of a reader for `'a`, which are reached by this library alone.
    unsafe fn at<'a>(reader: *mut Self) -> Result<&'a mut Kept, Failure> {
        if reader.is_null() || !reader.is_aligned() {
            return Err(Failure::argument("reader", "is NULL, or not aligned"));
        }
        // SAFETY: neither NULL nor askew; any bytes are one, and otherwise the caller's promise.
        Ok(unsafe { &mut *reader.cast::<Kept>() })
    }
}

impl RwLock {
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    fn is_written_here(&self) -> bool {
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        self.writer.load(Ordering::Relaxed) == this_thread::number()
    }

    fn expect_other_writer(&self) -> Result<(), Failure> {
        if self.is_written_here() { Err(WrongUse::HeldHere.into()) } else { Ok(()) }
    }

    fn read(&self, reader: &mut Kept, patience: Patience) -> Result<(), Failure> {
        self.expect_other_writer()?;
        let place = self.words.read(patience).ok_or_else(|| patience.failure())?;
        *reader = Kept { lock: self.address(), place: MaybeUninit::new(place) };
        Ok(())
    }

    fn unlock_read(&self, reader: &mut Kept) -> Result<(), Failure> {
        if reader.lock != self.address() {
            return Err(Failure::argument("reader", "is no reader of this lock"));
        }
        reader.lock = 0;
        // SAFETY: written when this lock was read, as the address says.
        let place = unsafe { reader.place.assume_init() };
        // SAFETY: that of a reader, which had not ended, as the address was there.
        unsafe { self.words.unlock_read(place) };
        Ok(())
    }

    fn write(&self, patience: Patience) -> Result<(), Failure> {
        self.expect_other_writer()?;
        if !self.words.write(patience) {
            return Err(patience.failure());
        }
        // ORDERING: Relaxed, as in is_written_here
        self.writer.store(this_thread::number(), Ordering::Relaxed);
        Ok(())
    }

    /// Makes this thread, which writes, the writer no more.
    fn forget_writer(&self) -> Result<(), Failure> {
        if !self.is_written_here() {
            return Err(WrongUse::NotHeldHere.into());
        }
        // ORDERING: Relaxed, as in is_written_here; the next writer's store comes after this one, by the lock
        self.writer.store(0, Ordering::Relaxed);
        Ok(())
    }
}

c_functions! {
    /// The corecast_rw_lock_algorithm with this name, such as "rw_spread". CORECAST_NOT_FOUND if there is none.
    unsafe fn corecast_rw_lock_algorithm_of_name(name: text) -> (algorithm: u32) {
        let unknown = || Failure::new(Status::NotFound, format!("there is no reader-writer lock '{name}'"));
        RwAlgorithm::ALL.iter().find(|lock| lock.facts().name == name).map(|&lock| lock as u32).ok_or_else(unknown)?
    }

    /// Makes a free lock. `algorithm` is a corecast_rw_lock_algorithm. CORECAST_NOT_FOUND if there is no such algorithm.
    safe fn corecast_rw_lock_create(algorithm: u32) -> (lock: new RwLock) {
        let unknown = || Failure::new(Status::NotFound, format!("there is no reader-writer lock with the number {algorithm}"));
        let found = RwAlgorithm::ALL.iter().copied().find(|&lock| lock as u32 == algorithm);
        RwLock { words: found.and_then(Words::new).ok_or_else(unknown)?, writer: AtomicU32::new(0) }
    }

    /// Destroys a lock that no thread holds or waits for; NULL is none.
    closing fn corecast_rw_lock_destroy(lock: RwLock);

    /// Waits until no thread writes, and begins to read. Writes to `reader`, which is passed to the call that ends this.
    unsafe fn corecast_rw_lock_read(lock: &RwLock, reader: in_place RwReader) {
        lock.read(reader, Patience::Endless)?
    }

    /// The same without waiting: CORECAST_TAKEN if a thread writes, or is about to.
    unsafe fn corecast_rw_lock_try_read(lock: &RwLock, reader: in_place RwReader) {
        lock.read(reader, Patience::None)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    unsafe fn corecast_rw_lock_read_timeout_ns(lock: &RwLock, timeout_ns: Duration, reader: in_place RwReader) {
        lock.read(reader, Patience::of(timeout_ns))?
    }

    /// Ends a reader of this lock. CORECAST_INVALID_ARGUMENT if it has ended already, or is none of this lock.
    unsafe fn corecast_rw_lock_unlock_read(lock: &RwLock, reader: in_place RwReader) {
        lock.unlock_read(reader)?
    }

    /// Waits until no thread reads or writes, and begins to write.
    safe fn corecast_rw_lock_write(lock: &RwLock) {
        lock.write(Patience::Endless)?
    }

    /// The same without waiting: CORECAST_TAKEN if a thread reads or writes.
    safe fn corecast_rw_lock_try_write(lock: &RwLock) {
        lock.write(Patience::None)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    safe fn corecast_rw_lock_write_timeout_ns(lock: &RwLock, timeout_ns: Duration) {
        lock.write(Patience::of(timeout_ns))?
    }

    /// Ends the writer, which is this thread.
    safe fn corecast_rw_lock_unlock_write(lock: &RwLock) {
        lock.forget_writer()?;
        // SAFETY: this thread wrote.
        unsafe { lock.words.unlock_write() }
    }

    /// Makes the writer, which is this thread, a reader, without a moment in which another thread might write.
    unsafe fn corecast_rw_lock_downgrade(lock: &RwLock, reader: in_place RwReader) {
        lock.forget_writer()?;
        // SAFETY: this thread wrote.
        let place = unsafe { lock.words.downgrade() };
        *reader = Kept { lock: lock.address(), place: MaybeUninit::new(place) };
    }
}
