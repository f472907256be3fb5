//! The CPU time that the calling thread has used.

use std::time::Duration;

/// CPU time of the calling thread since it began, user and system. Zero where the system has no such clock.
pub(crate) fn of_this_thread() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call may write, and nobody else looks at it.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if status != 0 {
        return Duration::ZERO;
    }
    Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn counts_work_and_not_the_time_of_others() {
        let (wall, before) = (Instant::now(), of_this_thread());
        while of_this_thread() - before < Duration::from_millis(2) {}
        assert!(wall.elapsed() >= Duration::from_millis(2), "a thread cannot use more CPU time than passes");
        let fresh = std::thread::spawn(of_this_thread).join().expect("no panic");
        assert!(fresh < of_this_thread(), "each thread has a clock of its own");
    }
}
