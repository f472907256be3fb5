//! The limits that control groups put on a process: its CPUs, its memory nodes, its CPU time.
//!
//! Take it to learn the real limits of a container: the affinity mask alone does not show a quota, and a captured tree has
//! no affinity mask at all. Not for measuring load or for changing limits.
//!
//! How it works: `proc/self/cgroup` names the group of the process in each hierarchy, and where it is missing
//! `proc/self/cpuset` names the one in the hierarchy with cpusets (`membership`). The mount table says where that
//! hierarchy is visible (`mount`). The files of the group and of **all its ancestors** are read, of version 1, version 2
//! and both at once (`limits`). A file that cannot be read sets no limit: nothing here fails, whatever the files hold.
//!
//! ```
//! use corecast_base::cgroup::Limits;
//! let mine = Limits::read("/".as_ref());
//! assert!(mine.quota.is_none_or(|cpus| cpus > 0.0));
//! ```

mod control_file;
mod limits;
mod membership;
mod memory;
mod mount;
#[cfg(test)]
mod tests;

pub use limits::Limits;
pub use memory::memory_left;
