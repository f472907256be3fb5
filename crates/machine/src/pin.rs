//! Binds the calling thread to one CPU, and tells where it may run.
//!
//! Take it before measuring or communicating: the costs of a thread that moves are a mixture. A thread inherits the
//! mask of the thread that spawns it, so **pin inside the child**; a child of a pinned parent starts on its parent's
//! CPU and is allowed nowhere else until it pins itself or asks for more.
//!
//! ```
//! use corecast_machine::pin;
//! let here = pin::affinity()?.as_slice()[0];
//! let pinned = pin::pin(here)?;
//! assert_eq!(pin::affinity()?.as_slice(), [here]);
//! drop(pinned); // the thread may run where it could before
//! # Ok::<(), pin::PinError>(())
//! ```

use std::marker::PhantomData;

use corecast_base::{CpuId, CpuSet, small_file};
use rustix::io::Errno;
use rustix::process::{Pid, getpid};
use rustix::thread::{self, CpuSet as Mask};

/// Why a thread could not be bound to a CPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// The mask that the system call takes has no place for the CPU.
    #[error("cannot pin to CPU {cpu}: the affinity mask ends at CPU {}", Mask::MAX_CPU - 1)]
    BeyondMask {
        /// The CPU asked for.
        cpu: CpuId,
    },
    /// The machine has no such CPU.
    #[error("cannot pin to CPU {cpu}: this machine has no such CPU")]
    Absent {
        /// The CPU asked for.
        cpu: CpuId,
    },
    /// The CPU exists but is switched off.
    #[error("cannot pin to CPU {cpu}: it is offline")]
    Offline {
        /// The CPU asked for.
        cpu: CpuId,
    },
    /// The CPU is outside what this process may use.
    #[error("cannot pin to CPU {cpu}: this process is not allowed there (cpuset of its container or job)")]
    NotAllowed {
        /// The CPU asked for.
        cpu: CpuId,
    },
    /// The system refuses to change affinities at all.
    #[error("cannot pin to CPU {cpu}: the system refused ({reason})")]
    Refused {
        /// The CPU asked for.
        cpu: CpuId,
        /// The error of the system call.
        reason: String,
    },
    /// The mask of the thread cannot be read.
    #[error("cannot read the affinity mask of this thread: {reason}")]
    Unreadable {
        /// The error of the system call.
        reason: String,
    },
}

/// A thread that is bound to a CPU; dropping it restores the mask from before.
#[derive(Debug)]
#[must_use = "dropping it unpins the thread; call forever() to stay"]
pub struct Pinned {
    before: Mask,
    /// The mask belongs to one thread: the guard must not leave it.
    _stays_here: PhantomData<*const ()>,
}

impl Pinned {
    /// Leaves the thread bound until it ends.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for Pinned {
    /// Restores the mask. If the CPUs of it went offline meanwhile there is nothing to go back to: the thread stays.
    fn drop(&mut self) {
        let _ = thread::sched_setaffinity(None, &self.before);
    }
}

/// The CPUs that the calling thread may run on.
///
/// # Errors
///
/// [`PinError::Unreadable`] where the system refuses to tell.
pub fn affinity() -> Result<CpuSet, PinError> {
    let mask = mask()?;
    Ok((0..Mask::MAX_CPU as u32).filter(|&cpu| mask.is_set(cpu as usize)).map(CpuId::new).collect())
}

/// The CPUs that this process may run on: those of its first thread and of the calling one, which may be bound to a CPU.
///
/// # Errors
///
/// [`PinError::Unreadable`] where the system refuses to tell.
pub fn process_affinity() -> Result<CpuSet, PinError> {
    let (mine, first) = (mask()?, mask_of(Some(getpid()))?);
    let is_set = |cpu: usize| mine.is_set(cpu) || first.is_set(cpu);
    Ok((0..Mask::MAX_CPU as u32).filter(|&cpu| is_set(cpu as usize)).map(CpuId::new).collect())
}

/// Binds the calling thread to `cpu`, until the guard is dropped.
///
/// # Errors
///
/// A [`PinError`] that names the CPU and the reason; the affinity of the thread is then unchanged.
pub fn pin(cpu: CpuId) -> Result<Pinned, PinError> {
    let before = mask()?;
    let index = cpu.get() as usize;
    if index >= Mask::MAX_CPU {
        return Err(PinError::BeyondMask { cpu });
    }
    let mut only = Mask::new();
    only.set(index);
    thread::sched_setaffinity(None, &only).map_err(|errno| refusal(cpu, errno))?;
    Ok(Pinned { before, _stays_here: PhantomData })
}

/// Lets the calling thread run on these CPUs, for good, and on no others; those that are beyond what its container or job allows
/// are left out. [`affinity`] tells which are left.
///
/// # Errors
///
/// A [`PinError`] if none of them is allowed; the affinity of the thread is then unchanged.
pub fn spread(cpus: &CpuSet) -> Result<(), PinError> {
    let first = cpus.iter().next().unwrap_or(CpuId::new(0));
    let mut wanted = Mask::new();
    let known = cpus.iter().map(|cpu| cpu.get() as usize).filter(|&cpu| cpu < Mask::MAX_CPU);
    known.for_each(|cpu| wanted.set(cpu));
    thread::sched_setaffinity(None, &wanted).map_err(|errno| refusal(first, errno))
}

fn mask() -> Result<Mask, PinError> {
    mask_of(None)
}

fn mask_of(thread: Option<Pid>) -> Result<Mask, PinError> {
    thread::sched_getaffinity(thread).map_err(|errno| PinError::Unreadable { reason: errno.to_string() })
}

/// The kernel says `EINVAL` for all of absent, offline and not allowed: its lists tell which.
#[cold]
fn refusal(cpu: CpuId, errno: Errno) -> PinError {
    if errno != Errno::INVAL {
        return PinError::Refused { cpu, reason: errno.to_string() };
    }
    let told = |list: &str| cpu_list(list).map(|cpus| cpus.contains(cpu));
    match (told("present"), told("online")) {
        (Some(false), _) => PinError::Absent { cpu },
        (_, Some(false)) => PinError::Offline { cpu },
        _ => PinError::NotAllowed { cpu },
    }
}

fn cpu_list(name: &str) -> Option<CpuSet> {
    let path = format!("/sys/devices/system/cpu/{name}");
    small_file::read(path.as_ref(), 1 << 18).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allowed_cpu_can_be_pinned_and_left_again() {
        let allowed = affinity().expect("own mask");
        for cpu in allowed.iter() {
            let pinned = pin(cpu).expect("an allowed CPU");
            assert_eq!(affinity().expect("own mask").as_slice(), [cpu]);
            drop(pinned);
            assert_eq!(affinity().expect("own mask"), allowed);
        }
    }

    #[test]
    fn a_child_inherits_the_mask_and_forever_outlives_the_guard() {
        let cpu = affinity().expect("own mask").as_slice()[0];
        let child = std::thread::spawn(move || {
            pin(cpu).expect("an allowed CPU").forever();
            std::thread::spawn(affinity).join().expect("no panic")
        });
        assert_eq!(child.join().expect("no panic").expect("own mask").as_slice(), [cpu]);
    }

    #[test]
    fn a_thread_on_one_cpu_may_be_spread_again() {
        let allowed = affinity().expect("own mask");
        let spread_again = std::thread::spawn({
            let allowed = allowed.clone();
            move || {
                pin(allowed.as_slice()[0]).expect("an allowed CPU").forever();
                spread(&allowed).expect("allowed CPUs");
                affinity().expect("own mask")
            }
        });
        assert_eq!(spread_again.join().expect("no panic"), allowed);
        assert!(spread(&CpuSet::default()).is_err(), "a thread runs somewhere");
        assert_eq!(affinity().expect("own mask"), allowed);
    }

    #[test]
    fn errors_name_the_cpu_and_leave_the_mask_alone() {
        let allowed = affinity().expect("own mask");
        for (cpu, why) in [(1023, "no such CPU"), (1024, "mask ends at CPU 1023"), (65_535, "mask ends")] {
            if allowed.contains(CpuId::new(cpu)) {
                continue;
            }
            let error = pin(CpuId::new(cpu)).expect_err("beyond this machine").to_string();
            assert!(error.contains(&format!("CPU {cpu}:")) && error.contains(why), "{error}");
        }
        assert_eq!(affinity().expect("own mask"), allowed);
    }
}
