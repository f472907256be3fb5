//! Values that several threads or processes reach at one place in memory: on the heap, or in a mapping.
//!
//! A protocol is written once against [`Place`] and [`PlaceSlice`] and does not know where its words lie. In a normal
//! build a place is a pointer and the owner that keeps the memory alive; under loom, whose atomics cannot lie in mapped
//! bytes, it is counted memory of the model. An [`Arena`](crate::Arena) gives places to threads or processes that each
//! build their own part of one protocol.
//!
//! ```
//! use corecast_base::Place;
//! use corecast_base::sync::{AtomicU64, Ordering};
//! let mine = Place::new(AtomicU64::new(1));
//! let theirs = mine.clone();
//! // ORDERING: Relaxed, one thread
//! theirs.store(2, Ordering::Relaxed);
//! assert_eq!(mine.load(Ordering::Relaxed), 2);
//! ```

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub use model::{Place, PlaceSlice};
#[cfg(not(loom))]
pub use native::{KeepAlive, Place, PlaceSlice};

use crate::CacheLine;
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, EventCount};

/// A type that may lie in memory that other threads or processes write at any time.
///
/// # Safety
/// - Every change goes through atomics, so that a reference to the value stays valid whatever the others store.
/// - Any bytes are a value, zeroes among them, so that memory that was never written holds one.
/// - The layout is fixed (`repr(C)` or transparent), the alignment is at most that of a [`CacheLine`], and nothing has to
///   be dropped.
pub unsafe trait Shareable: Send + Sync + 'static {}

// SAFETY: an atomic integer.
unsafe impl Shareable for AtomicU8 {}
// SAFETY: an atomic integer.
unsafe impl Shareable for AtomicU32 {}
// SAFETY: an atomic integer.
unsafe impl Shareable for AtomicU64 {}
// SAFETY: one atomic integer.
unsafe impl Shareable for EventCount {}
// SAFETY: an array of shareable values, laid out as C does.
unsafe impl<T: Shareable, const N: usize> Shareable for [T; N] {}
// SAFETY: a shareable value at offset 0, and padding that is never read; aligned to 128, the most that is allowed.
unsafe impl<T: Shareable> Shareable for CacheLine<T> {}
