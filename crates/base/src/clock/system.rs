//! The system's clock.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since the machine's start, the same in all processes: an [`Instant`](std::time::Instant) can only be compared with
/// one of this process.
#[cold]
pub(super) fn ticks() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
