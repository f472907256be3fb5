//! The progress of a run over all situations, and how long each situation may take.
//!
//! Every step has a weight: the seconds that it takes where nothing else runs. A step may take its part of the time that is
//! left, by weight; rounds stop then, after two at least. On a busy machine two rounds of every step may take longer than there
//! is: when all of the time is over, the steps that remain are left out, and counted.

use std::time::{Duration, Instant};

use super::Amount;
use corecast_race::harness::Budget;
use corecast_race::progress::Progress;

/// Starting a thread and waiting for its end, about.
const THREAD: Duration = Duration::from_micros(100);

/// The progress of a run: the steps done, and the time left for the others.
pub(super) struct Steps<'a> {
    pub(super) progress: &'a mut dyn Progress,
    budget: Budget,
    /// From this instant on, steps are left out.
    end: Instant,
    done_s: f64,
    all_s: f64,
    left_out: usize,
}

/// How long a run may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// The time that it should take at most.
    pub(super) usual: Duration,
    /// No step begins later than this after the start.
    pub(super) longest: Duration,
}

impl Allowance {
    pub(super) const THOROUGH: Self =
        Self { usual: Duration::from_secs(15 * 60), longest: Duration::from_secs(30 * 60) };
    pub(super) const QUICK: Self = Self { usual: Duration::from_secs(40), longest: Duration::from_secs(45) };

    /// The allowance of a run with more to do, which takes this much longer.
    pub(super) fn and(self, more: Duration) -> Self {
        Self { usual: self.usual + more, longest: self.longest + 2 * more }
    }
}

impl<'a> Steps<'a> {
    /// Begins now, with steps whose weights add up to `all_s`.
    pub(super) fn begin(progress: &'a mut dyn Progress, allowance: Allowance, all_s: f64) -> Self {
        let (budget, end) = (Budget::starting_now(allowance.usual), Instant::now() + allowance.longest);
        Self { progress, budget, end, done_s: 0.0, all_s: all_s.max(f64::MIN_POSITIVE), left_out: 0 }
    }

    /// The next step and how much it may measure; `None` if it is left out.
    pub(super) fn next(&mut self, weight_s: f64, amount: &Amount, words: &str) -> Option<Amount> {
        if Instant::now() >= self.end {
            self.left_out += 1;
            return None;
        }
        self.progress.step((self.done_s / self.all_s).min(1.0), words);
        let until = self.budget.share_s(weight_s, self.all_s - self.done_s);
        self.done_s += weight_s;
        Some(Amount { until: Some(until), ..*amount })
    }

    /// How many steps were left out.
    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }
}

/// The weight of a step with this many contenders and blocks of this many threads.
pub(super) fn weight_s(contenders: usize, amount: &Amount, block: Duration, threads: usize) -> f64 {
    let thread_s = THREAD.as_secs_f64() * threads as f64;
    (contenders * amount.rounds) as f64 * (block.as_secs_f64() + thread_s)
}

#[cfg(test)]
mod tests {
    use super::super::QUICK;
    use super::*;

    struct Told(Vec<f64>);

    impl Progress for Told {
        fn step(&mut self, fraction: f64, _doing: &str) {
            self.0.push(fraction);
        }
    }

    #[test]
    fn steps_are_told_by_their_weight_and_left_out_when_the_time_is_over() {
        let mut told = Told(Vec::new());
        let long = Allowance { usual: Duration::from_secs(1000), longest: Duration::from_secs(1000) };
        let mut steps = Steps::begin(&mut told, long, 4.0);
        let amount = steps.next(1.0, &QUICK, "short").expect("there is time");
        let until = amount.until.expect("a part of the time");
        assert!(
            until <= Instant::now() + Duration::from_secs(250),
            "a quarter of the weight has a quarter of the time"
        );
        assert!(steps.next(3.0, &QUICK, "long").is_some() && steps.left_out() == 0);
        assert_eq!(told.0, [0.0, 0.25]);
        let (over, mut unheard) = (Allowance { usual: Duration::ZERO, longest: Duration::ZERO }, ());
        let mut late = Steps::begin(&mut unheard, over, 4.0);
        assert!(late.next(1.0, &QUICK, "first").is_none() && late.next(3.0, &QUICK, "second").is_none());
        assert_eq!(late.left_out(), 2);
    }
}
