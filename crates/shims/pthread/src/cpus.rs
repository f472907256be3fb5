//! The CPUs that this process may use, asked for once.

use std::mem::MaybeUninit;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_preload::Errno;

/// The number of CPUs that this process might use when it was first asked for, at least 1; the constructor asks. Masks that
/// change later only make waits less apt.
#[inline]
pub(crate) fn allowed() -> u32 {
    /// 0 before it is known. Written by the threads that ask first.
    static ALLOWED: AtomicU32 = AtomicU32::new(0);
    // ORDERING: Relaxed, the number is all there is, and it only says how to wait
    match ALLOWED.load(Ordering::Relaxed) {
        0 => {
            let allowed = ask();
            // ORDERING: Relaxed, as at the access above
            ALLOWED.store(allowed, Ordering::Relaxed);
            allowed
        }
        allowed => allowed,
    }
}

/// The CPUs of this thread and of the first one: a thread that asks later may have been bound to a part of them.
#[cold]
fn ask() -> u32 {
    let _errno = Errno::keep();
    // SAFETY: asks for the number of the first thread.
    let first = unsafe { libc::getpid() };
    let [Some(first), Some(mine)] = [first, 0].map(mask_of) else { return u32::MAX };
    let is_set = |cpu: &usize| {
        // SAFETY: the set has a bit for it.
        let [first, mine] = [&first, &mine].map(|mask| unsafe { libc::CPU_ISSET(*cpu, mask) });
        first || mine
    };
    let cpus = (0..libc::CPU_SETSIZE as usize).filter(is_set).count();
    cpus.max(1) as u32
}

/// The CPUs of a thread, 0 for this one. `None` on machines with more CPUs than fit: each thread has one, then.
fn mask_of(thread: libc::pid_t) -> Option<libc::cpu_set_t> {
    let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: room for a set.
    let code = unsafe { libc::sched_getaffinity(thread, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) };
    // SAFETY: zeroes are a set, and the system has written one.
    (code == 0).then(|| unsafe { set.assume_init() })
}

#[cfg(test)]
mod tests {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    #[test]
    fn there_is_a_cpu() {
        assert!(super::allowed() >= 1 && super::allowed() == super::allowed());
    }

    #[test]
    fn a_thread_that_is_bound_counts_the_cpus_of_the_process() {
        let all = sched_getaffinity(Some(rustix::process::getpid())).expect("a process has CPUs");
        let bound = std::thread::spawn(move || {
            let cpu = (0..CpuSet::MAX_CPU).find(|&cpu| all.is_set(cpu)).expect("there is one");
            let mut one = CpuSet::new();
            one.set(cpu);
            sched_setaffinity(None, &one).expect("a CPU that it has already");
            super::ask()
        });
        assert_eq!(bound.join().expect("no panic"), all.count());
    }
}
