//! Words that every layer of corecast shares: CPU ids and sets, cache lines, clocks, waiting, and the one door to
//! atomics.
//!
//! - [`CpuId`], [`CpuSet`]: which CPU, which CPUs;
//! - [`CacheLine`]: a value alone on its line;
//! - [`Clock`]: ticks cheap enough to read while polling;
//! - [`cgroup`]: what the container grants;
//! - [`Place`]: a value in memory that several threads or processes share; [`Arena`]: memory that they lay out alike;
//! - [`Plain`]: values that are nothing but their bytes;
//! - [`region`]: shared memory with participants, for threads or processes;
//! - [`rendezvous`]: how processes find such memory;
//! - [`small_file`]: text files of untrusted size;
//! - [`sync`]: atomics, of std or of the model checker;
//! - [`wait`]: polling, yielding and sleeping, and the word that wakes a sleeper.

mod cache_line;
pub mod cgroup;
mod clock;
mod cpu;
#[cfg(not(loom))]
mod liveness;
pub mod place;
mod plain;
#[cfg(not(loom))]
pub mod region;
#[cfg(not(loom))]
pub mod rendezvous;
pub mod small_file;
pub mod sync;
pub mod wait;

pub use cache_line::{CacheLine, LINE_BYTES};
pub use clock::Clock;
pub use cpu::{CpuId, CpuSet, CpuSetError, MAX_CPU_ID};
pub use place::{Arena, ArenaError, Place, PlaceSlice, Shareable};
pub use plain::{Plain, zeroed};
