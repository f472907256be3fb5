//! A clock cheap enough to read while polling: the cycle counter where it is trustworthy, else the system's clock.
//!
//! Ticks are comparable between CPUs only as far as the counter is synchronised; [`Clock::is_counter`] tells which
//! clock is used, and the measurement checks what it needs. Processes of one machine have the same ticks: both clocks count from
//! the machine's start. Where ticks are those of the system's clock, that holds within one time namespace only, as others may
//! set that clock off. Calibrated once per process against the system's monotonic clock, which takes 5 ms at the first use.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

#[cfg_attr(loom, path = "counter_still.rs")]
#[cfg_attr(all(not(any(loom, simulated)), target_arch = "x86_64"), path = "counter_x86_64.rs")]
#[cfg_attr(all(not(any(loom, simulated)), target_arch = "aarch64"), path = "counter_aarch64.rs")]
#[cfg_attr(any(simulated, not(any(loom, target_arch = "x86_64", target_arch = "aarch64"))), path = "counter_none.rs")]
mod counter;
#[cfg_attr(not(simulated), path = "system.rs")]
#[cfg_attr(simulated, path = "system_virtual.rs")]
mod system;

/// The time for which the two clocks are compared.
const CALIBRATION: Duration = Duration::from_millis(5);
/// The number of readings of both clocks, of which the closest pair counts: the thread may lose its CPU between the two
/// readings.
const LOOKS: usize = 8;

static CLOCK: OnceLock<Clock> = OnceLock::new();

/// The process's clock; all methods are as cheap as reading the counter (about 10 ns).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    counter: bool,
    ns_per_tick: f64,
}

impl Clock {
    /// The clock of this process, calibrated at the first call.
    #[must_use]
    pub fn get() -> &'static Self {
        CLOCK.get_or_init(Self::calibrate)
    }

    fn calibrate() -> Self {
        // Before any clock is read, because the question takes microseconds on a virtual machine.
        let counter = counter::is_invariant();
        let (first, origin) = both_clocks();
        if !counter {
            return Self { counter, ns_per_tick: 1.0 };
        }
        while origin.elapsed() < CALIBRATION {}
        let (last, end) = both_clocks();
        let elapsed = end.duration_since(origin);
        Self { counter, ns_per_tick: elapsed.as_nanos() as f64 / last.wrapping_sub(first).max(1) as f64 }
    }

    /// True if ticks are the core's cycle counter, false if they are nanoseconds of the system's clock.
    #[must_use]
    pub fn is_counter(&self) -> bool {
        self.counter
    }

    /// The time now, in ticks.
    #[inline(always)]
    #[must_use]
    pub fn ticks(&self) -> u64 {
        if self.counter { counter::read() } else { system::ticks() }
    }

    /// The time now, in ticks, for timing a few instructions: read after every load before it has arrived, and before
    /// anything behind it begins. Stores may still be on their way. With plain [`Clock::ticks`] a core looks at the clock
    /// while it still waits for a line (10 ns seemed to pass where 35 did); this costs about twice as much.
    #[inline(always)]
    #[must_use]
    pub fn ticks_in_order(&self) -> u64 {
        if self.counter { counter::read_in_order() } else { system::ticks() }
    }

    /// Nanoseconds that `ticks` last.
    #[inline]
    #[must_use]
    pub fn ns(&self, ticks: u64) -> f64 {
        ticks as f64 * self.ns_per_tick
    }

    /// The length of `ticks`.
    #[must_use]
    pub fn duration(&self, ticks: u64) -> Duration {
        Duration::from_nanos(self.ns(ticks) as u64)
    }

    /// The ticks that `duration` lasts, at most `u64::MAX / 2`.
    #[must_use]
    pub fn ticks_in(&self, duration: Duration) -> u64 {
        // Not `as_nanos`, whose 128 bits take longer than all the rest: waits ask for this between yields.
        let ns = duration.as_secs() as f64 * 1e9 + f64::from(duration.subsec_nanos());
        let ticks = ns / self.ns_per_tick;
        if ticks >= u64::MAX as f64 / 2.0 { u64::MAX / 2 } else { ticks as u64 }
    }
}

/// The counter and the system's clock at the same time.
fn both_clocks() -> (u64, Instant) {
    let looks = (0..LOOKS).map(|_| {
        let before = counter::read();
        let now = Instant::now();
        let width = counter::read().wrapping_sub(before);
        (width, before.wrapping_add(width / 2), now)
    });
    let (_, ticks, now) = looks.min_by_key(|&(width, ..)| width).expect("there are looks");
    (ticks, now)
}

#[cfg(test)]
mod tests {
    use rustix::time::{ClockId, clock_gettime};

    use super::*;

    #[test]
    fn a_part_of_a_time_is_not_longer_than_the_whole() {
        let clock = Clock::get();
        let whole = Instant::now();
        let first = clock.ticks();
        while whole.elapsed() < 4 * CALIBRATION {}
        let part = clock.duration(clock.ticks().wrapping_sub(first));
        let whole = whole.elapsed();
        assert!(part <= whole + whole / 2000, "{part:?} of {whole:?}");
    }

    #[test]
    fn without_a_counter_ticks_count_from_the_machines_start() {
        let clock = Clock { counter: false, ns_per_tick: 1.0 };
        let ns = || clock_gettime(ClockId::Monotonic).tv_sec as u64 * 1_000_000_000;
        let (before, ticks, in_order) = (ns(), clock.ticks(), clock.ticks_in_order());
        assert!((before..ns() + 1_000_000_000).contains(&ticks), "{ticks} after {before}");
        assert!(ticks <= in_order);
    }

    #[test]
    fn looks_in_order_are_in_order() {
        let clock = Clock::get();
        let looks: Vec<u64> = (0..1000).map(|_| clock.ticks_in_order()).collect();
        assert!(looks.is_sorted() && clock.ticks() >= looks[0], "{looks:?}");
    }

    #[test]
    fn time_passes_and_units_agree() {
        let clock = Clock::get();
        let before = clock.ticks();
        let wall = Instant::now();
        while wall.elapsed() < Duration::from_millis(2) {}
        let passed = clock.duration(clock.ticks().wrapping_sub(before));
        assert!(passed >= Duration::from_micros(1800), "{passed:?} of ticks in at least 2 ms of wall time");
        let there_and_back = clock.duration(clock.ticks_in(Duration::from_millis(7)));
        assert!(there_and_back.abs_diff(Duration::from_millis(7)) < Duration::from_micros(1));
    }
}
