//! The CPUs that the system lets this process use.

use std::path::Path;

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::cgroup::Limits;

/// The number of CPUs this process may use: those of its first thread and of this one, which may have been pinned since.
/// `None` where the system does not tell.
pub(super) fn allowed_cpus() -> Option<usize> {
    let first = sched_getaffinity(Some(rustix::process::getpid())).ok()?;
    let mine = sched_getaffinity(None).ok()?;
    Some((0..CpuSet::MAX_CPU).filter(|&cpu| first.is_set(cpu) || mine.is_set(cpu)).count())
}

/// The CPU time this process may use, in CPUs.
pub(super) fn quota() -> Option<f64> {
    Limits::read(Path::new("/")).quota
}

/// Calls `take` with each CPU that this thread may use; with none where the system does not tell.
pub(super) fn for_each_cpu_of_thread(take: impl FnMut(usize)) {
    if let Ok(set) = sched_getaffinity(None) {
        (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).for_each(take);
    }
}
