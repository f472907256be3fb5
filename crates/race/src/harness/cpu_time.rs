//! The CPU time that the calling thread has used, or a child of this process, or all of them that have ended.

use std::mem::MaybeUninit;
use std::time::Duration;

/// CPU time of the calling thread since it began, user and system. Zero where the system has no such clock.
pub fn of_this_thread() -> Duration {
    look_at(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(Duration::ZERO)
}

/// CPU time of all threads of a process since it began, user and system; `None` if there is no such process, or the system
/// has no such clock.
pub fn of_process(pid: u32) -> Option<Duration> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let mut clock = 0;
    // SAFETY: `clock` is a word that the call may write, and nobody else looks at it.
    let status = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    if status == 0 { look_at(clock) } else { None }
}

/// CPU time of the children of this process that have ended and were waited for, and of those whom they had waited for.
pub fn of_ended_children() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is memory of the right size that the call may write, and nobody else looks at it.
    let status = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) };
    if status != 0 {
        return Duration::ZERO;
    }
    // SAFETY: a rusage is made of integers, which were zero, and which the call has written.
    let usage = unsafe { usage.assume_init() };
    [usage.ru_utime, usage.ru_stime].map(duration_of).iter().sum()
}

fn duration_of(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
}

fn look_at(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a timespec that the call may write, and nobody else looks at it.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
    (status == 0).then(|| seconds + Duration::from_nanos(time.tv_nsec.unsigned_abs()))
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
        let process = of_process(std::process::id()).expect("this process is there");
        assert!(process >= of_this_thread().saturating_sub(Duration::from_millis(1)), "all threads together");
        assert_eq!(of_process(u32::MAX), None, "no process has this number");
    }

    #[test]
    fn a_child_counts_once_it_was_waited_for() {
        let before = of_ended_children();
        let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let status = std::process::Command::new("sh").args(["-c", script]).status().expect("a shell");
        assert!(status.success() && of_ended_children() > before);
    }
}
