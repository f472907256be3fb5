//! Workloads whose transactions are all alike: writes of eight variables, and round trips.

use corecast::base::Clock;
use fastrand::Rng;

use super::host::{Block, Player, Setting};
use super::session::goes_on;
use super::tally::Tally;
use corecast_race::failure::Failure;

/// The variables of the workload `writes`.
pub(super) const VARIABLES: usize = 1024;
/// The variables that one of its transactions writes.
pub(super) const WRITTEN: usize = 8;
/// Steps of each client in the check.
const CHECKED: u64 = 200;

/// A client's way to do the same again and again.
pub(super) trait Step: Send {
    /// Once more: stores this value in these different variables, if any are used.
    ///
    /// # Errors
    /// A failure of the memory.
    fn step(&mut self, variables: &[usize; WRITTEN], value: u64) -> Result<(), Failure>;

    /// The value of a variable, 0 if nobody has stored one; `None` if no variables are used.
    ///
    /// # Errors
    /// A failure of the memory.
    fn read(&mut self, variable: usize) -> Result<Option<u64>, Failure>;

    /// Attempts so far that were not the last of their transaction.
    fn aborts(&self) -> u64 {
        0
    }
}

/// A client that does nothing else.
pub(super) struct Stepper<S> {
    step: S,
    random: Rng,
}

impl<S: Step> Stepper<S> {
    /// The client of this number.
    pub(super) fn new(step: S, setting: &Setting<'_>, rank: usize) -> Self {
        Self { step, random: Rng::with_seed(setting.seed ^ (rank as u64) << 32) }
    }

    /// Different variables: a first one, and others at a random odd distance each from the one before.
    fn draw(&mut self) -> [usize; WRITTEN] {
        let (first, stride) = (self.random.usize(..VARIABLES), 2 * self.random.usize(..VARIABLES / 2) + 1);
        std::array::from_fn(|at| (first + at * stride) % VARIABLES)
    }
}

impl<S: Step> Player for Stepper<S> {
    /// The last value that it has stored in each variable.
    fn record(&mut self, block: &Block<'_>) -> Result<Vec<i64>, Failure> {
        let mut last = vec![0; VARIABLES];
        for number in 1..=CHECKED {
            let variables = self.draw();
            let value = number << 32 | block.rank as u64;
            self.step.step(&variables, value)?;
            variables.iter().for_each(|&variable| last[variable] = value as i64);
        }
        Ok(last)
    }

    /// A variable holds what one of the clients has stored there last.
    fn verify(&mut self, recorded: &[Vec<i64>]) -> Result<(), Failure> {
        for variable in 0..VARIABLES {
            let Some(found) = self.step.read(variable)? else { return Ok(()) };
            let last: Vec<i64> = recorded.iter().map(|last| last[variable]).filter(|value| *value != 0).collect();
            if !last.contains(&(found as i64)) && (found != 0 || !last.is_empty()) {
                let why = format!("variable {variable} holds {found:x}, and the last values stored are {last:x?}");
                return Err(Failure::Wrong(why));
            }
        }
        Ok(())
    }

    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure> {
        let clock = Clock::get();
        let (before, mut tally) = (self.step.aborts(), Tally { start: clock.ticks(), ..Tally::default() });
        while goes_on(block) {
            let variables = self.draw();
            self.step.step(&variables, tally.commits)?;
            tally.commits += 1;
        }
        tally.end = clock.ticks();
        tally.aborts = self.step.aborts() - before;
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use corecast::base::CacheLine;
    use corecast::base::sync::AtomicU64;

    use super::*;

    /// Variables of which every transaction of this number forgets one.
    struct Forgetful {
        words: Vec<u64>,
        every: u64,
        steps: u64,
    }

    impl Step for Forgetful {
        fn step(&mut self, variables: &[usize; WRITTEN], value: u64) -> Result<(), Failure> {
            self.steps += 1;
            let forgotten = usize::from(self.steps % self.every == 0);
            variables[forgotten..].iter().for_each(|&at| self.words[at] = value);
            Ok(())
        }

        fn read(&mut self, variable: usize) -> Result<Option<u64>, Failure> {
            Ok(Some(self.words[variable]))
        }
    }

    #[test]
    fn a_store_that_is_lost_is_noticed() {
        let verified = |every| {
            let step = Forgetful { words: vec![0; VARIABLES], every, steps: 0 };
            let mut stepper = Stepper { step, random: Rng::with_seed(7) };
            let over = CacheLine::new(AtomicU64::new(0));
            let recorded =
                stepper.record(&Block { over: &over, is_warm_up: false, rank: 0, clients: 1 }).expect("it stores");
            stepper.verify(&[recorded, vec![0; VARIABLES]])
        };
        verified(u64::MAX).expect("nothing is forgotten");
        let error = verified(20).expect_err("ten are forgotten").to_string();
        assert!(error.contains("and the last values stored are"), "{error}");
    }
}
