//! Shared memory for channels: one mapping, described by a validated header, that threads or processes attach to.
//!
//! Take [`SharedRegion::heap`] among the threads of one process, [`SharedRegion::memfd`] with
//! [`rendezvous`](crate::rendezvous) among processes, and [`SharedRegion::named`] for files with names. A [`RegionPlan`]
//! declares the contents. Every attachment takes one slot and is a participant with a [`Liveness`].
//! - [`RegionPlan`], [`SharedRegion`], [`Entry`], [`Section`]: declaring a region, making or attaching to it, its channels,
//!   their bytes;
//! - [`ParticipantId`], [`Participant`], [`Liveness`]: the participants, and whether they are alive;
//! - [`RegionDir`], [`names`], [`gc`]: the directory of names, the names in it, and the removal of regions that dead
//!   processes left;
//! - [`Observer`]: a look without attaching; [`Honest`]: the promise behind plain references;
//! - [`CreateError`], [`AttachError`], [`RegionPlanError`], [`SectionError`], [`Forked`], [`BadName`]: the errors.
//!
//! Words that another process may have written are read once into private memory, checked, and never read again; everything
//! else is reached through atomics. Attaching and taking note of a death exclude each other by a lock that the kernel frees
//! when its holder dies; nothing here blocks a message. `docs/design/region.md` has the argument.
//!
//! ```
//! use corecast_base::region::{Liveness, RegionPlan, SharedRegion};
//! use corecast_base::sync::Ordering;
//! let plan = RegionPlan::new().add("counter", 1, [0; 6], 128)?;
//! let mine = SharedRegion::memfd(&plan)?;
//! // As another process would, to which the descriptor is given:
//! let theirs = SharedRegion::from_fd(mine.share()?)?;
//! let entry = theirs.entry("counter").expect("declared above");
//! theirs.section(&entry).words(0, 1)?[0].store(7, Ordering::Relaxed);
//! assert_eq!(mine.section(&entry).words(0, 1)?[0].load(Ordering::Relaxed), 7);
//! let them = theirs.me();
//! assert_eq!(mine.liveness(them), Liveness::Alive);
//! drop(theirs);
//! assert_eq!(mine.liveness(them), Liveness::Left);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attachment;
mod crc32c;
mod directory;
mod error;
mod file;
mod fork;
mod gc;
mod header;
mod kind;
mod link;
mod lock;
mod mapping;
mod memfd;
mod name;
mod named;
mod observer;
mod participant;
mod places;
mod plan;
mod process;
mod region_dir;
mod sealed;
mod section;
mod shared;
mod storage;
mod validate;

pub(crate) use fork::OwnFile;
pub(crate) use link::is_named;
pub(crate) use process::own_uid;

pub use crate::liveness::Liveness;
pub use crc32c::of_words as checksum;
pub use directory::Entry;
pub use error::{AttachError, CreateError, Forked, Mismatch, RegionPlanError, SectionError};
pub use gc::{Removed, gc};
pub use kind::{KIND_FF, KIND_GROUP, KIND_LOCK, KIND_MCAST, KIND_UMP, kind_name};
pub use mapping::ForkPolicy;
pub use name::{BadName, MAX_CHANNEL_NAME, MAX_REGION_NAME, check_channel_name, check_region_name};
pub use named::names;
pub use observer::Observer;
pub use participant::{Participant, ParticipantId};
pub use plan::{DEFAULT_LIMIT_BYTES, DEFAULT_PARTICIPANTS, RegionPlan};
pub use region_dir::{DIR_VARIABLE, RegionDir};
pub use sealed::{Announcement, GrowingFile, GrowingFileReader, SealedMemory, SealedReader, SealedWords};
pub use section::Section;
pub use shared::{Honest, SharedRegion};
