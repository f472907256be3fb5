//! The only module that names atomics: std's in a normal build, loom's under `cfg(loom)`, so that every protocol of
//! corecast can be model-checked as it is written, and those of a simulated machine under `cfg(simulated)`, so that each
//! can be run on hundreds of CPUs as it is written.
//!
//! No other file of the workspace names `std::sync::atomic`, `UnsafeCell` or `loom` (tidy checks it). The differences
//! between the builds are in `native.rs`, `loom.rs` and `simulated.rs`, which export the same names:
//!
//! - atomics, [`fence`], [`Arc`], [`UnsafeCell`] with `with` and `with_mut`;
//! - [`spin_hint`]: PAUSE on the machine, a switch to another thread in the model; [`spin_for`]: for a time;
//! - [`spin_until`]: when a polling loop does something else, of which only a simulated machine has to hear;
//! - [`address_follows`]: that the address of the next access is computed from values read before, also for a simulated machine;
//! - [`futex_wait`], [`futex_wake`]: a word to sleep on;
//! - [`before_read`], [`before_write`], [`before_free`]: bytes that are reached other than by atomics and cells;
//! - [`cpu`], [`thread_id`]: where this thread runs, and which one it is;
//! - [`keep_order`]: the order in which a killed thread's stores are found;
//! - [`fetch_add_and_fence`]: an addition and a fence, in one instruction where the machine has it;
//! - [`yield_now`]: gives the CPU to another thread that can run;
//! - [`Fences`]: a pair of fences of which the frequent side is free;
//! - [`EventCount`]: a number to sleep on;
//! - [`per_thread!`](crate::per_thread): a variable of which each thread has its own;
//! - [`Scope`]: the threads that use a word.

mod host;
#[cfg(loom)]
mod loom;
#[cfg(not(any(loom, simulated)))]
mod membarrier;
#[cfg(not(loom))]
mod native;
mod per_thread;
#[cfg(simulated)]
mod simulated;
#[cfg(simulated)]
mod simulated_spin;

#[cfg(not(simulated))]
pub use self::host::{SpinEnd, address_follows, before_free, before_read, before_write, cpu, spin_until, thread_id};
#[cfg(loom)]
pub use self::loom::{
    Arc, AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, EventCount, Fences, Mutex, MutexGuard,
    Ordering, UnsafeCell, fence, fetch_add_and_fence, futex_wait, futex_wake, in_each_run, keep_order, spin_for,
    spin_hint, yield_now,
};
#[cfg(not(any(loom, simulated)))]
pub use self::membarrier::Fences;
#[cfg(not(any(loom, simulated)))]
pub use self::native::{
    Arc, AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, EventCount, Mutex, MutexGuard, Ordering,
    UnsafeCell, fence, fetch_add_and_fence, futex_wait, futex_wake, keep_order, spin_for, spin_hint, yield_now,
};

#[cfg(simulated)]
pub use self::simulated::{
    Arc, AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, EventCount, Fences, Mutex, MutexGuard,
    Ordering, PerRun, PerThread, UnsafeCell, address_follows, before_free, before_read, before_write, cpu, fence,
    fetch_add_and_fence, futex_wait, futex_wake, keep_order, spin_for, spin_hint, thread_id, yield_now,
};
#[cfg(simulated)]
pub use self::simulated_spin::{SpinEnd, spin_until};

/// The threads that use a word. All of them must name the same scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The threads of one process.
    Process,
    /// The threads of all processes that map the memory.
    Machine,
}
