//! Groups whose members are processes.
//!
//! One process founds the group: it plans, and writes the plan into a region of shared memory with room for every member's
//! lines. The others join by an [`Invitation`]: a descriptor they inherited, or a name. Each gets a
//! [`Member`](crate::Member), the same type that threads have. Take it where the participants are separate programs; among
//! threads a [`Group`](crate::Group) does the same without files and system calls.
//!
//! - [`Founding`]: a group founded and not yet joined, by [`Builder::found`](crate::Builder::found);
//! - [`Invitation`]: the way of one process into it; [`Invitation::from_env`] finds that of `corecast run`;
//! - [`Launcher`]: the rank and size that other launchers pass to their processes;
//! - [`FoundError`], [`JoinError`]: the errors.
//!
//! A member whose process ends without leaving is lost to the others: their operations fail within some tenths of a second
//! with [`Loss::Died`](crate::Loss::Died) and its rank. A process that is stopped is waited for. The design is in
//! `docs/design/groups.md`.
//!
//! ```
//! use corecast_collective::{Group, processes::Invitation};
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let founding = Group::builder(&machine).members(1).found()?;
//! // Any process of this user that has the descriptor:
//! let mut me = Invitation::of_fd(founding.share()?)?.rank(0).join()?;
//! me.barrier()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod descriptor;
mod error;
mod founding;
mod invitation;
mod launcher;
mod memory;
mod register;

pub use error::{FoundError, JoinError};
pub use founding::Founding;
pub use invitation::{FD_VARIABLE, Invitation, RANK_VARIABLE, SIZE_VARIABLE};
pub use launcher::Launcher;
