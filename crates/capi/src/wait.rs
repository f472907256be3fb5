//! How ends wait, and for how long.

use std::time::Duration;

use corecast::Wait as Policy;

use crate::argument::choice;
use crate::error::Failure;

/// How the ends of a channel wait for each other.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum Wait {
    /// Spin for 50 us at most, yield a few times, then sleep; does not spin where participants share CPUs.
    Adaptive = 0,
    /// Spin for ever. The fastest if every participant has a CPU of its own, and ruinous if they share CPUs.
    Spin = 1,
    /// Give up the CPU after every look, never sleep. Uses all idle CPU time.
    Yield = 2,
    /// Sleep at once. Uses the least CPU time, and is slow: a wake-up costs 10 to 40 us.
    Park = 3,
}

/// The policy with a number of [`Wait`].
pub(crate) fn policy(number: u32, name: &'static str) -> Result<Policy, Failure> {
    choice(number, &Policy::ALL, name)
}

/// The cost of sleeping and waking up; 0 where it has not been measured.
pub(crate) fn wake_cost(ns: u64) -> Option<Duration> {
    (ns > 0).then(|| Duration::from_nanos(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_policies() {
        let named = |wait: Wait| policy(wait as u32, "wait").expect("a policy").name();
        assert_eq!(
            [Wait::Adaptive, Wait::Spin, Wait::Yield, Wait::Park].map(named),
            ["adaptive", "spin", "yield", "park"]
        );
        assert_eq!(
            policy(4, "config.wait").expect_err("none").message,
            "argument 'config.wait': is 4, not one of 0 to 3"
        );
    }
}
