//! The time that a run may take, divided among its groups.

use std::time::{Duration, Instant};

/// The time left of a run. Groups that finish early leave their time to those that follow.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    end: Instant,
}

impl Budget {
    /// All of `total`, from now on.
    pub fn starting_now(total: Duration) -> Self {
        Self { end: Instant::now() + total }
    }

    /// When a group that has `weight` of the remaining weight `rest` (its own included) should be done.
    pub fn share(&self, weight: usize, rest: usize) -> Instant {
        self.share_s(weight as f64, rest.max(1) as f64)
    }

    /// The same with weights that are seconds, or anything else above 0.
    pub fn share_s(&self, weight: f64, rest: f64) -> Instant {
        let now = Instant::now();
        let part = (weight / rest.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        now + self.end.saturating_duration_since(now).mul_f64(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_group_gets_all_that_is_left_and_nobody_gets_more() {
        let budget = Budget::starting_now(Duration::from_secs(1000));
        assert!(budget.share(3, 3) <= budget.end);
        assert!(budget.share(3, 3) > budget.end - Duration::from_secs(1));
        let third = budget.share(1, 3) - Instant::now();
        assert!(third > Duration::from_secs(330) && third < Duration::from_secs(334), "{third:?}");
        let over = Budget { end: Instant::now() };
        assert!(over.share(1, 1) <= Instant::now(), "a budget that is used up gives nothing");
    }
}
