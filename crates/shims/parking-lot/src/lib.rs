//! The names and the interface of the crate `parking_lot` 0.12 over the locks of corecast.
//!
//! Take it to put a program on these locks that was written for parking_lot, itself or by a library that it uses, without a
//! change: cargo's `[patch]` does that, with the folder `patch` beside this crate. New code should take `corecast_lock`, which
//! has more locks, and finds out which suits.
//!
//! - [`Mutex`], [`FairMutex`], [`ReentrantMutex`]: over [`corecast_lock::Byte`];
//! - [`RwLock`]: over [`corecast_lock::RwWord`];
//! - [`Condvar`]: over [`corecast_lock::ByteCondvar`];
//! - [`Once`]: over [`corecast_lock::Once`];
//! - [`lock_api`]: the crate of the front types, of which those above are aliases, as they are in parking_lot.
//!
//! **Fairness** is that of parking_lot: an unlock hands the lock over to a thread that sleeps for it if the thread that unlocks
//! has not done so for half a millisecond, and always by `unlock_fair` and in a [`FairMutex`].
//!
//! **Progress:** blocking; threads spin for about as long as a wake-up costs, and then sleep. **Memory ordering:** what happened
//! before an unlock is visible after the next lock, as with Release and Acquire.
//!
//! ```
//! use corecast_parking_lot::{Condvar, Mutex, RwLock};
//!
//! static JOBS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
//! static ARRIVED: Condvar = Condvar::new();
//! static SUM: RwLock<u32> = RwLock::new(0);
//!
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         let mut jobs = JOBS.lock();
//!         ARRIVED.wait_while(&mut jobs, |jobs| jobs.is_empty());
//!         *SUM.write() += jobs.drain(..).sum::<u32>();
//!     });
//!     JOBS.lock().extend([3, 4]);
//!     ARRIVED.notify_one();
//! });
//! assert_eq!(*SUM.read(), 7);
//! ```

#[cfg(feature = "deadlock_detection")]
compile_error!(
    "corecast-parking-lot has no deadlock detection: build without the feature `deadlock_detection`, or with parking_lot itself"
);

#[cfg(feature = "owning_ref")]
compile_error!("corecast-parking-lot does not serve the crate owning_ref, which is unsound (RUSTSEC-2022-0040)");

mod condvar;
mod fair_mutex;
mod mutex;
mod once;
mod reentrant_mutex;
mod rwlock;
mod time;

/// Whether a guard may be sent to another thread.
#[cfg(feature = "send_guard")]
type GuardMarker = lock_api::GuardSend;
/// Whether a guard may be sent to another thread.
#[cfg(not(feature = "send_guard"))]
type GuardMarker = lock_api::GuardNoSend;

pub use ::lock_api;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use fair_mutex::{FairMutex, FairMutexGuard, MappedFairMutexGuard, RawFairMutex, const_fair_mutex};
#[cfg(feature = "arc_lock")]
pub use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard, ArcRwLockWriteGuard,
};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard, RawMutex, const_mutex};
pub use once::{Once, OnceState};
pub use reentrant_mutex::{
    MappedReentrantMutexGuard, RawThreadId, ReentrantMutex, ReentrantMutexGuard, const_reentrant_mutex,
};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RawRwLock, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard, const_rwlock,
};

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
