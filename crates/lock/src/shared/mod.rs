//! Locks among processes: words in a region, found by a name.
//!
//! Take them for what several processes change in memory that they share, where a channel does not do. Not among the threads of
//! one process: [`Mutex`](crate::Mutex) guards its data. A lock here guards what its users agree on; they reach it through
//! the region's atomics.
//!
//! **Take `word`.** It keeps the name of its holder: if that process is killed, or leaves while it holds the lock, one of the
//! waiters gets [`SharedLockError::OwnerDied`] with the lock, repairs what was left half changed, and goes on. A waiter is told
//! at the latest a tenth of a second after the kernel knows. A process killed while it waits delays nobody for longer than
//! that. Take `tas`, `ttas` and `ticket` only where no process is killed: a dead holder holds them for ever, and so does, with
//! `ticket`, a dead thread that waited. Queues of nodes have pointers, which mean nothing elsewhere.
//!
//! **Limits.** A thread that ends still holds its locks for as long as its process is a participant. A stopped process counts
//! as alive, and so does one about which the kernel gives no evidence (without `/proc`, or with a descriptor that it
//! shares with another). Other processes may write anything into the words: the lock may then be held by two, or by nobody
//! for ever, but nothing worse happens here; wait with limits where that matters.
//!
//! **Progress:** blocking. **Memory ordering:** that of [`RawLock`](crate::RawLock).
//!
//! ```
//! use corecast_base::region::{RegionPlan, SharedRegion};
//! use corecast_lock::shared::{self, SharedLock, SharedLockError};
//! use corecast_lock::Algorithm;
//!
//! let plan = shared::declare(RegionPlan::new(), "accounts", Algorithm::Word)?;
//! let region = SharedRegion::memfd(&plan)?;
//! // In this process and in others:
//! let lock = SharedLock::open(&region, "accounts")?;
//! let guard = match lock.lock() {
//!     Ok(guard) => guard,
//!     Err(SharedLockError::OwnerDied(guard)) => guard, // after a look at what it left
//!     Err(other) => return Err(other.to_string().into()),
//! };
//! drop(guard);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod lock;
pub mod owned_word;

#[cfg(not(loom))]
pub use error::{DeclareError, OpenError};
#[cfg(not(loom))]
pub use lock::{ALGORITHMS, KIND_LOCK, SharedGuard, SharedLock, SharedLockError, declare};
pub use owned_word::{Outcome, OwnedWord, Owner};
