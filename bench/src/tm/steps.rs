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
    /// Once more, with these different variables, if any are used.
    ///
    /// # Errors
    /// A failure of the memory.
    fn step(&mut self, variables: &[usize; WRITTEN]) -> Result<(), Failure>;

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
    fn record(&mut self, _block: &Block<'_>) -> Result<Vec<i64>, Failure> {
        for _ in 0..CHECKED {
            let variables = self.draw();
            self.step.step(&variables)?;
        }
        Ok(Vec::new())
    }

    fn verify(&mut self, _recorded: &[Vec<i64>]) -> Result<(), Failure> {
        Ok(())
    }

    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure> {
        let clock = Clock::get();
        let (before, mut tally) = (self.step.aborts(), Tally { start: clock.ticks(), ..Tally::default() });
        while goes_on(block) {
            let variables = self.draw();
            self.step.step(&variables)?;
            tally.commits += 1;
        }
        tally.end = clock.ticks();
        tally.aborts = self.step.aborts() - before;
        Ok(tally)
    }
}
