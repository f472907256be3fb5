//! `libcorecast_pthread.so`: corecast's barriers and locks under programs that use pthread, without compiling them again.
//!
//! Preloaded (`LD_PRELOAD`, `corecast run --shim barrier,lock`), it exports pthread's functions and serves the objects that
//! it can; all others, and all of a family that is not switched on, go to the C library as before.
//! `docs/design/shim-pthread.md` says what is decided where, and why.
//!
//! - `ticket`: the barrier's protocol; `release`: the flags that its waiters look at; `barrier`: the functions over it;
//! - `mutex`: mutexes by any lock of the registry, and condition variables with them;
//! - `rw_word`: a reader-writer lock for programs that read twice; `rw_lock`: the functions over it;
//! - `spin`: spin locks that give way;
//! - `fork`, `allocator`, `nodes`, `thread`, `cpus`: what locks need inside foreign programs;
//! - `epoch`: objects that are put in order once in each process;
//! - `start`, `chosen`, `slot`, `counts`: what is switched on, how a call gets there, and what is told;
//! - `withdrawn`, `way`: how a call gets past what is not switched on.

// Its unit tests and models must not interpose themselves, so the functions have no public names there.
#![cfg_attr(any(test, loom), allow(dead_code, reason = "called by the programs under which the object is loaded"))]

#[cfg(not(loom))]
mod allocator;
#[cfg(not(loom))]
mod barrier;
#[cfg(not(loom))]
mod chosen;
#[cfg(not(loom))]
mod counts;
#[cfg(not(loom))]
mod cpus;
#[allow(unreachable_pub, reason = "reachable for its model")]
mod epoch;
#[cfg(not(loom))]
mod fork;
#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(loom)))]
mod mutex;
#[cfg(not(loom))]
mod nodes;
#[allow(unreachable_pub, reason = "reachable for its model")]
mod release;
#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(loom)))]
mod rw_lock;
#[allow(unreachable_pub, reason = "reachable for its model")]
mod rw_word;
#[cfg(not(loom))]
mod slot;
#[cfg(not(loom))]
mod spin;
#[cfg(not(loom))]
mod start;
#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(loom)))]
mod thread;
#[allow(unreachable_pub, reason = "reachable for its model")]
mod ticket;
#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(loom)))]
mod until;
#[cfg(not(loom))]
mod way;
#[cfg(not(loom))]
mod withdrawn;

#[cfg(loom)]
pub use epoch::EpochWord;
#[cfg(loom)]
pub use release::ReleaseFlag;
#[cfg(loom)]
pub use rw_word::RwWord;
#[cfg(loom)]
pub use ticket::Ticket;
