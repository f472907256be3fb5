//! A preload object that puts corecast's barriers under OpenMP programs that were not built for it.
//!
//! `LD_PRELOAD=libcorecast_omp.so program`, or `corecast run --shim omp -- program`. The object exports the entries of an OpenMP
//! runtime that end an interval between two barriers, and serves them by cache lines that the members of a team share. The
//! runtime keeps everything else: it makes the threads, forks and joins, gives out iterations, and runs tasks. Where the object
//! does not know a situation, the runtime's own function is called. `docs/design/shim-omp.md` has the rules and their reasons.
//!
//! - [`lines`]: the words of a team, and the barrier that a task diverts;
//! - `team`, `pool`, `thread`: what members share, where masters keep it, and the state of a thread;
//! - `runtime`: the real functions, of each runtime in the process; `patience`: how members wait;
//! - `crossing`: how a member ends an interval; `gomp`, `kmpc`: the entries for compilers of GCC's and LLVM's
//!   families; `statistics`: what was served;
//! - `stub`: functions that know where they were called from.
//!
//! Blocking, as barriers are. As a library it is of use to its own tests only.

#[cfg(not(loom))]
mod crossing;
#[cfg(not(loom))]
mod gomp;
#[cfg(not(loom))]
mod kmpc;
pub mod lines;
#[cfg(not(loom))]
mod patience;
#[cfg(not(loom))]
mod pool;
#[cfg(not(loom))]
mod runtime;
#[cfg(not(loom))]
mod statistics;
#[cfg(not(loom))]
mod stub;
#[cfg(not(loom))]
mod team;
#[cfg(not(loom))]
mod thread;
