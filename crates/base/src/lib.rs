//! The lowest layer of corecast: CPU ids and sets, cache lines, clocks, waiting, shared memory among processes, and the
//! only module that names atomics.
//!
//! - [`CpuId`], [`CpuSet`]: one CPU, and a set of CPUs;
//! - [`CacheLine`]: a value alone on its line;
//! - [`Clock`]: ticks cheap enough to read while polling;
//! - [`cgroup`]: the limits of the container;
//! - [`Place`]: a value in memory that several threads or processes share; [`Arena`]: memory that all of them lay out in
//!   the same way;
//! - [`OnceWords`]: some words of shared memory that one writer writes once;
//! - [`Plain`]: values that any bytes make;
//! - [`crash_point`]: places at which tests let a process die;
//! - [`prefetch_for_write`]: a hint that a line will be written;
//! - [`region`]: shared memory with participants, for threads or processes;
//! - [`rendezvous`]: how processes find such memory by a name;
//! - [`small_file`]: text files of untrusted size;
//! - [`sync`]: atomics, of std or of the model checker;
//! - [`wait`]: polling, yielding and sleeping, and the word that wakes a sleeper.
//!
//! Two threads share a word, and one of them sleeps until the other has written it:
//!
//! ```
//! use corecast_base::sync::{AtomicU32, Ordering};
//! use corecast_base::wait::{CpuSharing, LONGEST_SLEEP, Wait, WakeWord, Waiter};
//! use corecast_base::{CacheLine, CpuSet};
//!
//! let cpus: CpuSet = "0-2,8".parse()?;
//! let (word, wake_word) = (CacheLine::new(AtomicU32::new(0)), WakeWord::new(Wait::Adaptive));
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         // ORDERING: Release, pairs with the Acquire of the waiter [example]
//!         word.store(cpus.len() as u32, Ordering::Release);
//!         wake_word.notify();
//!     });
//!     let mut waiter = Waiter::new(Wait::Adaptive, CpuSharing::unpinned(2), None);
//!     // ORDERING: Acquire, pairs with the Release of the writer [example]
//!     let poll = || Some(word.load(Ordering::Acquire)).filter(|&seen| seen != 0);
//!     let seen = waiter.until(&wake_word, poll, |_waited| Ok::<_, ()>(LONGEST_SLEEP));
//!     assert_eq!(seen, Ok(4));
//! });
//! # Ok::<(), corecast_base::CpuSetError>(())
//! ```

mod arena;
mod cache_line;
pub mod cgroup;
mod clock;
mod cpu;
pub mod crash_point;
mod huge_pages;
#[cfg(not(loom))]
mod liveness;
mod once_words;
pub mod place;
mod plain;
mod prefetch;
#[cfg(not(loom))]
pub mod region;
#[cfg(not(loom))]
pub mod rendezvous;
pub mod small_file;
pub mod sync;
#[cfg(not(loom))]
mod thread_end;
pub mod wait;

pub use arena::{Arena, ArenaError};
pub use cache_line::{CacheLine, LINE_BYTES};
pub use clock::Clock;
pub use cpu::{CpuId, CpuSet, CpuSetError, MAX_CPU_ID};
pub use huge_pages::prefer_huge_pages;
pub use once_words::OnceWords;
pub use place::{Place, PlaceSlice, Shareable};
pub use plain::{Plain, bytes_of, bytes_of_mut, values_in_mut, zeroed};
pub use prefetch::prefetch_for_write;
#[cfg(not(loom))]
pub use thread_end::ThreadEnd;
