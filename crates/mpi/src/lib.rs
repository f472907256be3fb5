//! The engine between machines: MPI, loaded at run time, under corecast's groups over several nodes.
//!
//! **When to take it:** a program that uses corecast's groups within a machine is to run on several, and these have an MPI, as
//! every cluster does. **When not:** on one machine, where nothing has to be loaded; and for messages among programs that come
//! and go, as the nodes of an MPI job are fixed.
//!
//! Nothing of MPI is needed to build a program. [`Cluster::from_env`] finds the library at run time, in this order: one that the
//! program has loaded itself; the file that `CORECAST_MPI` names; the library of the launcher's family (Open MPI's `mpirun`, or
//! one that speaks PMI); `libmpi_abi.so.1`. Three binary interfaces are known: see [`abi`].
//!
//! ```no_run
//! use corecast_mpi_engine::Cluster;
//! let cluster = Cluster::from_env()?;
//! println!("{cluster}");
//! # Ok::<(), corecast_mpi_engine::OpenError>(())
//! ```
//!
//! **Progress:** blocking only in [`Cluster::from_env`], `remake` and `close`; everything else starts and polls. The first two
//! have limits of time. `close` waits for all nodes to end, as launchers want it, or for 2 s after a fault, or for 30 s after
//! a loss that the group has survived; [`END_TIMEOUT_VARIABLE`] sets another limit for the first and the last of these. Calls
//! of MPI that nothing ends early (`MPIX_Comm_shrink`, `MPI_Comm_split`) are made on a thread of their own, so that they can
//! be left behind at the limit; where the program has initialised MPI for one thread, they are not. MPI itself makes progress
//! only when it is called, which the polls of a leader do.
//!
//! - [`Cluster`]: the nodes of this program; [`LibraryInfo`]: the library that was found;
//! - [`Rank`]: one of the processes of a launcher that has started a process for each member;
//! - [`Launcher`]: what started this process;
//! - [`OpenError`]: why a cluster cannot be opened;
//! - [`load`]: where the library is looked for; [`abi`]: the constants of the binary interfaces.
//!
//! Source: MPI Forum, MPI: A Message-Passing Interface Standard, version 5.0, 2025.

pub mod abi;
mod buffer;
mod candidate;
mod cluster;
mod control;
mod engine;
mod error;
mod functions;
pub mod launcher;
mod library;
mod library_info;
mod living;
pub mod load;
mod near_ranks;
mod node_facts;
mod rank;
mod session;
mod set_up;
mod steps;
mod time_variable;
mod ulfm;

pub use cluster::Cluster;
pub use error::{MpiError, OpenError, Stage};
pub use launcher::Launcher;
pub use library_info::{LibraryInfo, SURVIVAL_FLAGS};
pub use rank::Rank;
pub use session::END_TIMEOUT_VARIABLE;
pub use set_up::TIMEOUT_VARIABLE;
