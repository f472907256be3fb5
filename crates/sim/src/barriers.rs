//! Barriers of corecast on a simulated machine.

use corecast_collective::Barrier;
use corecast_sim_core::{Machine, Trace};

use crate::error::SimError;
use crate::members::{CALLS, Called, EpisodeEnd, Episodes, OperationTimes, group, play};
use crate::rounds::alone;
use crate::trace::ProgramTrace;

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
    let (outcome, _) = meet(machine, barrier, episodes, 0)?;
    Ok(outcome)
}

/// The same, with a trace of this time from the begin of the first episode that counts, in microseconds. Its phases are
/// [`CALLS`](crate::CALLS).
///
/// # Errors
/// As of [`barriers`]; [`SimError::Events`] if there are more than [`MOST_EVENTS`](crate::MOST_EVENTS).
pub fn trace_barriers(
    machine: &Machine,
    barrier: Option<Barrier>,
    episodes: &Episodes,
    us: u64,
) -> Result<(BarrierOutcome, ProgramTrace), SimError> {
    let (outcome, trace) = meet(machine, barrier, episodes, us)?;
    let trace = ProgramTrace::of(trace.unwrap_or_default(), &[], (CALLS, episodes.members))?;
    Ok((outcome, trace))
}

fn meet(
    machine: &Machine,
    barrier: Option<Barrier>,
    episodes: &Episodes,
    traced_us: u64,
) -> Result<(BarrierOutcome, Option<Trace>), SimError> {
    let _alone = alone();
    let group = group(machine, episodes, barrier)?;
    let operation = |me: &mut corecast_collective::Member, _| me.barrier().expect("no member leaves");
    let called = Called { operation, last: None, end: EpisodeEnd::All, traced_us };
    let (times, trace) = play(machine, &group, episodes, called)?;
    Ok((BarrierOutcome { barrier: group.choice().barrier, times }, trace))
}
