//! The files of a node: each command that it applies in a write-ahead log, and snapshots that shorten it.
//!
//! ```text
//! FOLDER/group                   the number of the group, as text
//! FOLDER/replica-SLOT/log/       the write-ahead log of that replica: 1 and the operation, or 0 for commands of the group
//! FOLDER/replica-SLOT/snapshots/ its snapshots
//! FOLDER/replica-origin/         messages: the files that all nodes of a group begin with, those of a replica of the one before
//! ```
//! A result is handed out when the log of the replica that hands it out is as durable as [`Fsync`] says; one sync serves all
//! results of a turn. A command is kept once it is applied, so one at which all replicas panic is in no log. If all processes
//! died, the node that makes the group anew starts from the replica that got furthest: each log is a prefix of the same commands,
//! so it holds every result that was handed out anywhere. Sessions end with their processes, and indexes begin anew. The files
//! count on: the region of the group says from where.
//!
//! Where nodes share no memory, all that a group begins with read the same files, one after another: the process that makes the
//! group has no state machine yet, so it sets those of the furthest replica aside.
//!
//! - `folder`: where the files are, and how far those of a replica go;
//! - `disk`: the files of a node that runs; `snapshot_thread`: its snapshots, which are written while it goes on;
//! - `recovery`: the state that the files of a group hold.

mod disk;
mod folder;
mod recovery;
mod snapshot_thread;

pub(crate) use disk::{Disk, SNAPSHOT_EVERY};
pub(crate) use folder::{Durability, FilesOrigin, check_kept};
pub(crate) use recovery::{read_origin, set_origin_aside, start_from_files};
