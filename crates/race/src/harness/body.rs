//! The part that a contender lends the harness for each participant: a loop over its operation, and a check of it.

use super::task::{Stamps, Task};
use crate::failure::Failure;

/// One participant's part in a contender.
///
/// The loop is inside, so that the operation is inlined into it and the one call through the trait object is shared by
/// all operations of a block.
pub trait Body: Send {
    /// Performs `iterations` operations back to back.
    ///
    /// # Errors
    /// Whatever stops the operation; the contender is then out of the race.
    fn run(&mut self, iterations: u64) -> Result<(), Failure>;

    /// Performs `rounds` operations and verifies the outcome of each.
    ///
    /// # Errors
    /// As [`Body::run`], and [`Failure::Wrong`] if an outcome is not what the operation promises.
    fn check(&mut self, rounds: u64) -> Result<(), Failure>;

    /// Sends or takes in `count` messages, of which the first is due at the tick `begin` and each other `every` ticks after
    /// the one before. Returns when each was sent or taken in. For channels only.
    ///
    /// # Errors
    /// As [`Body::run`].
    fn paced(&mut self, begin: u64, count: u64, every: u64) -> Result<Vec<u64>, Failure> {
        let _ = (begin, count, every);
        Err(Failure::Refused("its operations are no messages that could be sent at a pace".to_owned()))
    }

    /// Called before the participants meet to begin `task`: a body that stands for a process tells it.
    ///
    /// # Errors
    /// As [`Body::run`].
    fn ready(&mut self, task: Task) -> Result<(), Failure> {
        let _ = task;
        Ok(())
    }

    /// True for a body that stands for a participant elsewhere: its first call after [`ready`](Body::ready) performs the whole
    /// task there.
    fn performs_elsewhere(&self) -> bool {
        false
    }

    /// Adds what only the body knows to what its thread saw of the task just done.
    fn amend(&mut self, timing: &mut Stamps) {
        let _ = timing;
    }
}
