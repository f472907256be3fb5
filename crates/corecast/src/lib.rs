//! corecast measures what a message costs between every two cores of a machine, plans who talks to whom in which order,
//! and runs channels and collectives on those plans; and it has locks.
//!
//! ```
//! use corecast::{Group, machine};
//!
//! let group = Group::builder(&machine::detect()?).members(4).build()?;
//! let results = group.run(|me| {
//!     let mut order = if me.rank() == 0 { 7u64 } else { 0 };
//!     me.broadcast(0, &mut order)?; // everybody has 7
//!     me.barrier()?; // nobody goes on before all are here
//!     me.allreduce(order, |a, b| a + b) // everybody gets 28
//! })?;
//! assert_eq!(results, vec![Ok(28); 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The parts:
//!
//! - [`machine`]: topology, measurement, model files, and [`machine::detect`], which gives the model of this machine;
//! - [`plan`]: trees and what they cost;
//! - [`Group`], [`Member`]: barriers, broadcasts, reductions and more; [`collective`] has all of it, [`processes`] the same among
//!   processes;
//! - [`Mutex`], [`RwLock`], [`Condvar`], [`Once`]: locks; [`lock`] has more than a dozen, and what suits where;
//! - [`mpi`]: the engine of groups over several machines, on an MPI that is loaded at run time;
//! - [`replica`]: state kept identical in threads or processes, which survives the death of any of them;
//! - [`tm`]: transactions over messages or shared memory;
//! - [`channel`]: message channels; [`region`], [`rendezvous`]: the memory that processes share, and how they find it.

pub mod machine;
mod probe;

#[doc(hidden)]
pub use corecast_base as base;
pub use corecast_base::wait::Wait;
pub use corecast_base::{CpuId, CpuSet, region, rendezvous};
pub use corecast_channel as channel;
pub use corecast_collective as collective;
pub use corecast_collective::{Barrier, Group, Member, processes};
pub use corecast_lock as lock;
pub use corecast_lock::{Condvar, Once};
pub use corecast_lock::{MappedMutexGuard, Mutex, MutexGuard};
pub use corecast_lock::{MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use corecast_machine::Machine;
pub use corecast_mpi_engine as mpi;
pub use corecast_plan as plan;
pub use corecast_replica as replica;
pub use corecast_tm as tm;

pub use probe::{UmpProbe, UmpReceiver, UmpSender};

/// The examples of the readme and of the guide, compiled and run as doc tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide/channels.md")]
    struct Channels;
    #[doc = include_str!("../../../docs/guide/cluster-planning.md")]
    struct ClusterPlanning;
    #[doc = include_str!("../../../docs/guide/clusters.md")]
    struct Clusters;
    #[doc = include_str!("../../../docs/guide/collectives.md")]
    struct Collectives;
    #[doc = include_str!("../../../docs/guide/locks.md")]
    struct Locks;
    #[doc = include_str!("../../../docs/guide/measure-and-plan.md")]
    struct MeasureAndPlan;
    #[doc = include_str!("../../../docs/guide/replication.md")]
    struct Replication;
}
