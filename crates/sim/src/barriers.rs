//! Barriers of corecast on a simulated machine.

use corecast_collective::Barrier;
use corecast_sim_core::Machine;

use crate::error::SimError;
use crate::members::{Called, EpisodeEnd, Episodes, OperationTimes, group, play};
use crate::rounds::alone;

/// The outcome of barriers.
#[derive(Clone, Debug, PartialEq)]
pub struct BarrierOutcome {
    /// The barrier: the one that was asked for, or that the group chose.
    pub barrier: Barrier,
    /// Its times: an episode lasts from the last entry to the last exit.
    pub times: OperationTimes,
}

/// Lets members meet at a barrier: at this one, or without one at that which the group chooses.
///
/// # Errors
/// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Group`] if the group cannot be built, [`SimError::Stopped`]
/// if a run has no outcome, [`SimError::Window`] if an episode outlasts its window, [`SimError::Stack`] if there is no memory for
/// a thread.
pub fn barriers(machine: &Machine, barrier: Option<Barrier>, episodes: &Episodes) -> Result<BarrierOutcome, SimError> {
    let _alone = alone();
    let group = group(machine, episodes, barrier)?;
    let operation = |me: &mut corecast_collective::Member, _| me.barrier().expect("no member leaves");
    let times = play(machine, &group, episodes, Called { operation, last: None, end: EpisodeEnd::All })?;
    Ok(BarrierOutcome { barrier: group.choice().barrier, times })
}
