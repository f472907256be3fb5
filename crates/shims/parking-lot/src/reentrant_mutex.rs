//! [`ReentrantMutex`]: a mutex that its holder may lock again.

use std::num::NonZeroUsize;

use corecast_lock::this_thread;
use lock_api::{GetThreadId, RawMutex as _};

use crate::mutex::RawMutex;

/// A mutex that the thread that holds it may lock again. Its guards give no `&mut` to the data.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;

/// The guard of a [`ReentrantMutex`]. The last one of a thread frees it when it is dropped.
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// The guard of a part of the data of a [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// A free reentrant mutex, for constants. [`ReentrantMutex::new`] is constant as well.
pub const fn const_reentrant_mutex<T>(value: T) -> ReentrantMutex<T> {
    ReentrantMutex::const_new(RawMutex::INIT, RawThreadId::INIT, value)
}

/// The number of a thread: the one that the system gave it.
#[derive(Debug)]
pub struct RawThreadId;

// SAFETY: no other thread of the process has the number at the same time, and a thread keeps it.
unsafe impl GetThreadId for RawThreadId {
    const INIT: Self = Self;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        NonZeroUsize::new(this_thread::number() as usize).expect("the system numbers threads from 1")
    }
}
