//! Times until which calls wait.

use std::time::Duration;

use libc::{clockid_t, timespec};

const NS_PER_S: i64 = 1_000_000_000;

/// Whether it is a time at all.
pub(crate) fn is_valid(until: timespec) -> bool {
    (0..NS_PER_S).contains(&until.tv_nsec)
}

/// The time left until then by this clock; `None` if it has come.
pub(crate) fn time_until(clock: clockid_t, until: timespec) -> Option<Duration> {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for a time of a clock that there is.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    let ns = |time: timespec| i128::from(time.tv_sec) * i128::from(NS_PER_S) + i128::from(time.tv_nsec);
    let left = ns(until) - ns(now);
    (left > 0).then(|| Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX)))
}
