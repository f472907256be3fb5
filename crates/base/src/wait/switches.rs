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

/// A run of a model or of a simulated machine must not depend on the host; a simulated thread keeps its CPU.
#[cfg(any(loom, simulated))]
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
