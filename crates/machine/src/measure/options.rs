//! The scope of a measurement, its length, and how to stop it.

use std::time::Duration;

use corecast_base::CpuSet;
use corecast_base::sync::AtomicBool;

/// The user's request; the default is all CPUs, thoroughly.
#[derive(Clone, Debug, Default)]
pub struct Options<'a> {
    /// The CPUs to measure; `None` is all of the topology.
    pub cpus: Option<CpuSet>,
    /// True to look at each pair a few times only: under two seconds on two CPUs instead of about six.
    pub quick: bool,
    /// The time for the pairs, after which no further pass is begun; every pair is visited at least once. `None` is
    /// chosen by the number of CPUs.
    pub budget: Option<Duration>,
    /// Chooses the order of rounds and channels.
    pub seed: u64,
    /// Set it to true to end the measurement within about 100 ms.
    pub cancelled: Option<&'a AtomicBool>,
}

/// How thoroughly the pairs are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Effort {
    /// The least visits of each pair.
    pub(super) least_visits: usize,
    /// The half width of the confidence interval of every cost, relative to the cost, that is narrow enough.
    pub(super) narrow: f64,
    /// After this much time the pairs are done if all intervals are narrow: a change of placement needs time to show.
    pub(super) least_time: Duration,
    /// After this much time the pairs are done anyway.
    pub(super) budget: Duration,
}

impl Effort {
    /// The thoroughness for a tournament of this many rounds.
    pub(super) fn of(options: &Options<'_>, rounds: usize) -> Self {
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        let (least_visits, narrow, base_ms, per_round_ms) =
            if options.quick { (4, 0.03, 700, 20) } else { (12, 0.01, 5_000, 120) };
        let scaled = Duration::from_millis(base_ms) + Duration::from_millis(per_round_ms).saturating_mul(rounds);
        let budget = options.budget.unwrap_or(scaled);
        let least_time = if options.quick { budget / 4 } else { budget / 2 };
        Self { least_visits, narrow, least_time, budget }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_grows_with_the_rounds_and_a_given_budget_counts() {
        let quick = Options { quick: true, ..Options::default() };
        assert!(Effort::of(&quick, 1).budget < Duration::from_secs(1));
        assert!(Effort::of(&quick, 255).budget < Duration::from_secs(10));
        assert!(Effort::of(&Options::default(), 255).budget > Effort::of(&quick, 255).budget);
        let given = Options { budget: Some(Duration::from_secs(3)), ..quick };
        assert_eq!(Effort::of(&given, 255).budget, Duration::from_secs(3));
        assert!(Effort::of(&given, usize::MAX).least_time < Duration::from_secs(3));
    }
}
