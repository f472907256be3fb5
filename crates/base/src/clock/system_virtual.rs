//! The clock of a simulated machine; outside of a run, that of the host.

use corecast_sim_core::{Thread, with_current};
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of virtual time.
pub(super) fn ticks() -> u64 {
    with_current(|thread| thread.map_or_else(of_host, Thread::now_ns))
}

fn of_host() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
