//! The number of times the kernel gave this thread's CPU to another thread, which shows that a CPU is shared with one that
//! runs.

/// The context switches of this thread so far. A yield that found no other thread to run does not count.
#[cfg(not(any(loom, simulated)))]
pub(super) fn switches() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one rusage there.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if result != 0 {
        return 0;
    }
    // SAFETY: initialised, as it holds only numbers and was zeroed.
    let usage = unsafe { usage.assume_init() };
    usage.ru_nivcsw.unsigned_abs() + usage.ru_nvcsw.unsigned_abs()
}

/// Those of a simulated thread; none outside of a run.
#[cfg(simulated)]
pub(super) fn switches() -> u64 {
    corecast_sim_core::with_current(|thread| thread.map_or(0, corecast_sim_core::Thread::switches))
}

/// A run of a model must not depend on the host.
#[cfg(loom)]
pub(super) fn switches() -> u64 {
    0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_a_switch() {
        let before = switches();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(switches() > before);
    }
}
