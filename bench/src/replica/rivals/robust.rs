//! A map in shared memory behind the C library's robust mutex, as processes that want to survive each other's deaths build it.
//!
//! The mutex lies in the first page of a mapping of all, the table behind it: open addressing with a word for the key and two
//! for the value. A holder that dies leaves the table as it was at that moment: the next one takes it as it is.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use corecast::base::sync::{AtomicU64, Ordering};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::super::host::{Client, Entrance, Host, Setting, Value};
use super::super::load::MOST_KEYS;
use corecast_race::failure::Failure;

/// Before the table: the mutex has these bytes to itself.
const HEAD: usize = 4096;
/// Places of the table: twice as many as there are keys.
const PLACES: usize = 2 * MOST_KEYS;
/// Key, low half and high half of the value.
const WORDS: usize = 3;
const BYTES: usize = HEAD + PLACES * WORDS * size_of::<u64>();

/// The mapping of one process. Key 0 stands for an empty place; keys of the benchmark begin at 1.
pub(in crate::replica) struct Shared {
    fd: OwnedFd,
    memory: NonNull<u8>,
}

// SAFETY: the mutex is made for threads and processes alike, and the table is only reached through atomics.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// Makes a store.
pub(in crate::replica) fn open(_setting: &Setting) -> Result<Box<dyn Host>, Failure> {
    let fd = memfd_create("corecast-bench-robust", MemfdFlags::CLOEXEC);
    let fd = fd.map_err(|error| Failure::while_doing("make shared memory")(error.into()))?;
    ftruncate(&fd, BYTES as u64).map_err(|error| Failure::while_doing("size shared memory")(error.into()))?;
    let shared = Shared::map(fd)?;
    shared.init()?;
    Ok(Box::new(shared))
}

/// Comes to the store of another process.
pub(in crate::replica) fn join(_setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
    let fd = entrance.fd.ok_or_else(|| Failure::Refused("no descriptor of a map came".to_owned()))?;
    Ok(Box::new(Shared::map(fd)?))
}

fn told(what: &'static str, code: i32) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure::while_doing(what)(std::io::Error::from_raw_os_error(code))) }
}

impl Shared {
    fn map(fd: OwnedFd) -> Result<Self, Failure> {
        let flags = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the place of a new mapping, of a file that this benchmark has made and never cuts.
        let mapped = unsafe { mmap(std::ptr::null_mut(), BYTES, flags, MapFlags::SHARED, fd.as_fd(), 0) };
        let mapped = mapped.map_err(|error| Failure::while_doing("map shared memory")(error.into()))?;
        let memory = NonNull::new(mapped.cast()).expect("a mapping is not at null");
        Ok(Self { fd, memory })
    }

    fn mutex(&self) -> *mut libc::pthread_mutex_t {
        self.memory.as_ptr().cast()
    }

    /// Makes the mutex, before anybody else has the mapping.
    fn init(&self) -> Result<(), Failure> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: it is memory for attributes.
        told("make attributes", unsafe { libc::pthread_mutexattr_init(attributes.as_mut_ptr()) })?;
        let attributes = attributes.as_mut_ptr();
        // SAFETY: the attributes are made.
        told("share a mutex", unsafe { libc::pthread_mutexattr_setpshared(attributes, libc::PTHREAD_PROCESS_SHARED) })?;
        // SAFETY: the attributes are made.
        told("make a mutex robust", unsafe {
            libc::pthread_mutexattr_setrobust(attributes, libc::PTHREAD_MUTEX_ROBUST)
        })?;
        // SAFETY: the page is mapped, aligned, as large as a mutex at least, and nobody uses it yet.
        told("make a mutex", unsafe { libc::pthread_mutex_init(self.mutex(), attributes) })
    }

    #[inline]
    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at < PLACES * WORDS, "word {at} is beyond the table");
        // SAFETY: the mapping is longer than the head and all words.
        let place = unsafe { self.memory.as_ptr().add(HEAD + at * size_of::<u64>()) };
        // SAFETY: the word is in the mapping, which lives as long as self, aligned, and reached through atomics only.
        unsafe { &*place.cast::<AtomicU64>() }
    }

    #[inline]
    fn load(&self, at: usize) -> u64 {
        // ORDERING: Relaxed, the mutex orders it
        self.word(at).load(Ordering::Relaxed)
    }

    #[inline]
    fn store(&self, at: usize, value: u64) {
        // ORDERING: Relaxed, the mutex orders it
        self.word(at).store(value, Ordering::Relaxed);
    }

    /// Runs `section` with the mutex.
    #[inline]
    fn locked<R>(&self, section: impl FnOnce() -> R) -> Result<R, Failure> {
        // SAFETY: the mutex was made before the mapping was shared.
        match unsafe { libc::pthread_mutex_lock(self.mutex()) } {
            0 => {}
            libc::EOWNERDEAD => {
                // SAFETY: this thread has the mutex, whose holder died.
                told("go on after a death", unsafe { libc::pthread_mutex_consistent(self.mutex()) })?;
            }
            code => return told("lock a mutex", code).map(|()| unreachable!("it is an error")),
        }
        let result = section();
        // SAFETY: this thread has the mutex.
        told("unlock a mutex", unsafe { libc::pthread_mutex_unlock(self.mutex()) })?;
        Ok(result)
    }

    /// The place of a key, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: u64) -> usize {
        let mut place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % PLACES;
        loop {
            let found = self.load(place * WORDS);
            if found == key || found == 0 {
                return place * WORDS;
            }
            place = (place + 1) % PLACES;
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing borrows from it any more.
        let _ = unsafe { munmap(self.memory.as_ptr().cast(), BYTES) };
    }
}

impl Host for Shared {
    fn client(&self, _rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
        Ok(Box::new(RobustClient(self)))
    }

    fn entrance(&self) -> Result<Entrance, Failure> {
        let fd = self.fd.try_clone().map_err(Failure::while_doing("share memory"))?;
        Ok(Entrance { fd: Some(fd), path: None })
    }
}

struct RobustClient<'a>(&'a Shared);

impl Client for RobustClient<'_> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        self.0.locked(|| {
            let at = self.0.find(key);
            let words = u128::from(self.0.load(at + 2)) << 64 | u128::from(self.0.load(at + 1));
            (self.0.load(at) == key).then_some(words.to_le_bytes())
        })
    }

    #[inline]
    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        let words = u128::from_le_bytes(value);
        self.0.locked(|| {
            let at = self.0.find(key);
            self.0.store(at + 1, words as u64);
            self.0.store(at + 2, (words >> 64) as u64);
            self.0.store(at, key);
        })
    }
}
