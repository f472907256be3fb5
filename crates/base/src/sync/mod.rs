//! The one door to atomics: std's in a normal build, loom's under `cfg(loom)`, so that every protocol of corecast can
//! be model-checked as it is written.
//!
//! No other file of the workspace names `std::sync::atomic`, `UnsafeCell` or `loom` (tidy checks it). What differs
//! between the two worlds lives in `native.rs` and `loom.rs`, which export the same names:
//!
//! - atomics, [`fence`], [`Arc`], [`UnsafeCell`] with `with` and `with_mut`;
//! - [`spin_hint`]: PAUSE on the machine, a switch to another thread in the model;
//! - [`yield_now`]: gives the CPU to another thread that can run;
//! - [`Fences`]: a pair of fences of which the frequent side is free;
//! - [`EventCount`]: a number to sleep on.

#[cfg(loom)]
mod loom;
#[cfg(not(loom))]
mod membarrier;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub use self::loom::{
    Arc, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, EventCount, Fences, Mutex, Ordering, UnsafeCell, fence,
    spin_hint, yield_now,
};
#[cfg(not(loom))]
pub use self::membarrier::Fences;
#[cfg(not(loom))]
pub use self::native::{
    Arc, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, EventCount, Mutex, Ordering, UnsafeCell, fence, spin_hint,
    yield_now,
};
