//! Data that many may read at once, or one may write: [`RwLock`] and its algorithms.
//!
//! Take one where reads are many and long enough that readers would wait for each other; where they are short, or writes are
//! not rare, a [`Mutex`](crate::Mutex) is faster, as a reader of most of these writes to the lock twice.
//!
//! - [`RwLock`]: the safe front, with closures and guards;
//! - [`RawRwLock`], [`RawRwTimed`], [`RawRwUpgrade`], [`RawRwUpgradable`]: what an algorithm is;
//! - [`RwTtas`]: one word; [`RwPhase`]: readers and writers take turns; [`RwSpread`]: readers that do not
//!   disturb each other; [`RwWord`]: one word, whose threads sleep;
//! - [`RwAlgorithm`]: all of them by name.

mod lock;
mod phase;
mod raw;
mod registry;
mod spread;
mod ttas;
mod word;

pub use lock::{MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use phase::RwPhase;
#[cfg(not(loom))]
pub use raw::RawRwConst;
pub use raw::{RawRwLock, RawRwTimed, RawRwUpgradable, RawRwUpgrade};
pub use registry::RwAlgorithm;
pub use spread::RwSpread;
pub use ttas::RwTtas;
pub use word::{RwAccess, RwWord};
