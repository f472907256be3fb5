//! The CPUs that a thread, and all that it starts from then on, may run on.

use corecast::base::CpuSet;

use crate::failure::Failure;

/// Lets the calling thread run on these CPUs only.
///
/// # Errors
/// A [`Failure`](crate::Failure) in words: the operation, a process that takes part, or the system did not do its part.
pub fn confine(cpus: &CpuSet) -> Result<(), Failure> {
    let mut mask = rustix::thread::CpuSet::new();
    cpus.iter().for_each(|cpu| mask.set(cpu.get() as usize));
    let refused = Failure::while_doing("run on the CPUs in use only");
    rustix::thread::sched_setaffinity(None, &mask).map_err(|errno| refused(errno.into()))
}
