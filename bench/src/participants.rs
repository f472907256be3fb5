//! The participants of one contender, which run blocks on the threads of a crew.

use std::sync::Arc;

use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Crew, Stamps, Task};

/// One part for each participant; none until they are made, and none after a failure.
pub(crate) struct Participants {
    bodies: Vec<Box<dyn Body>>,
    /// By it all of them give up when one fails, or the user stops the run.
    pub(crate) abort: Arc<Abort>,
}

impl Participants {
    pub(crate) fn heeding(user: &Cancel) -> Self {
        Self { bodies: Vec::new(), abort: Arc::new(Abort::heeding(user)) }
    }

    /// Makes them.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn make(
        &mut self,
        make: impl FnOnce(&Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Failure>,
    ) -> Result<(), Failure> {
        self.bodies = make(&self.abort)?;
        Ok(())
    }

    /// Runs a block.
    ///
    /// # Errors
    /// The first failure of a participant.
    pub(crate) fn run(&mut self, crew: &mut Crew, task: Task) -> Result<Vec<Stamps>, Failure> {
        let block = crew.run(std::mem::take(&mut self.bodies), task, &self.abort)?;
        self.bodies = block.bodies;
        Ok(block.timings)
    }
}
