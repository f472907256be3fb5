//! What a process of a run does: it disturbs, or it is the one in which a candidate does its rounds.

use std::io::Stdin;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corecast::base::{Clock, CpuId, CpuSet};
use corecast::machine::model_file;
use serde::{Deserialize, Serialize};

use super::neighbours::{Load, disturb};
use super::operation::operation;
use crate::channels::WaitName;
use crate::child::{Answer, attend, hear, say, tell};
use crate::contender::{Setting, Workshop};
use crate::failure::Failure;
use crate::harness::{Abort, Crew, Task, Timing, percentile, sorted};
use crate::place::Place;

/// Operations that are verified before the rounds, and after them.
const CHECKED: u64 = 10;
/// Far above what the parent lets a run last, which ends it.
const CREW_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// What a process is told that it is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Assignment {
    /// A neighbour.
    Disturb(Load),
    /// A candidate.
    Compete(Box<Match>),
}

/// What a candidate's process is told first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Match {
    pub(super) operation: String,
    pub(super) candidate: String,
    pub(super) wait: WaitName,
    /// The file with the machine's model.
    pub(super) model: PathBuf,
    /// Where drivers are that were built.
    pub(super) drivers: Option<PathBuf>,
    pub(super) cpus: Vec<u32>,
    pub(super) members: usize,
    pub(super) pinned: bool,
    /// The program and its arguments, if members are processes.
    pub(super) processes: Option<(PathBuf, Vec<String>)>,
    pub(super) rounds: u64,
    /// Empty steps of each member between two operations.
    pub(super) steps: u64,
}

/// What a candidate's process is told to do then.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Turn {
    /// Its rounds, checked before and after, and to tell what came of them.
    Rounds,
    /// More of them, until it is killed.
    OnAndOn,
}

/// What came of the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// From the first member's start to the last one's end.
    pub(super) wall_ns: f64,
    pub(super) median_ns: f64,
    pub(super) p99_ns: f64,
    pub(super) longest_ns: f64,
    /// CPU time of all members.
    pub(super) cpu_s: f64,
}

/// What a process does that disturbs or competes in `corecast bench busy`: what it is told on standard input. For the hidden
/// subcommand of a program that calls [`busy`](super::busy()).
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn busy_member() -> Result<(), Failure> {
    attend(|control| match hear::<Assignment>(control)? {
        Some((Assignment::Disturb(load), _)) => disturb(load, control),
        Some((Assignment::Compete(assigned), _)) => compete(&assigned, control),
        None => Ok(()),
    })
}

fn compete(assigned: &Match, control: &Stdin) -> Result<(), Failure> {
    let machine = model_file::read(&assigned.model).map_err(Failure::refused)?;
    let operation = operation(&assigned.operation);
    let operation = operation.ok_or_else(|| Failure::Refused(format!("no operation '{}'", assigned.operation)))?;
    let candidate = (operation.candidates)().into_iter().find(|known| known.name == assigned.candidate);
    let candidate = candidate.ok_or_else(|| Failure::Refused(format!("no candidate '{}'", assigned.candidate)))?;
    let _drivers = assigned.drivers.as_deref().map(Workshop::lent);
    let cpus: CpuSet = assigned.cpus.iter().copied().map(CpuId::new).collect();
    let setting = Setting::new(&machine, operation.op, &cpus, assigned.members, assigned.wait.wait());
    let setting = if assigned.pinned { setting } else { setting.unbound() };
    let setting = match assigned.processes.clone() {
        Some((program, arguments)) => setting.placed(&Place::Processes { program, arguments }),
        None => setting,
    };
    let seats = setting.seats.iter().map(|&cpu| assigned.pinned.then_some(cpu)).collect();
    let mut crew = Crew::seated(seats, setting.oversubscribed, CREW_LIMIT).map_err(Failure::refused)?;
    let abort: Arc<Abort> = Arc::default();
    let mut bodies = match candidate.build(&setting, &abort) {
        Ok(bodies) => bodies,
        // No failure of this process: the parent notes it.
        Err(why) => return say(control, &Answer::Failed(why)),
    };
    say(control, &Answer::Ready)?;
    while let Some((turn, _)) = hear::<Turn>(control)? {
        let (steps, timed) = (assigned.steps, assigned.rounds);
        if matches!(turn, Turn::OnAndOn) {
            bodies = crew.run(bodies, Task::Rounds { count: u64::MAX, steps, timed: 0 }, &abort)?.bodies;
            continue;
        }
        let checked = crew.run(bodies, Task::Check { rounds: CHECKED }, &abort)?;
        let block = crew.run(checked.bodies, Task::Rounds { count: timed, steps, timed }, &abort)?;
        let rounds = rounds_of(&block.timings)?;
        bodies = crew.run(block.bodies, Task::Check { rounds: CHECKED }, &abort)?.bodies;
        tell(control, &rounds)?;
    }
    Ok(())
}

fn rounds_of(timings: &[Timing]) -> Result<Rounds, Failure> {
    let clock = Clock::get();
    let start = timings.iter().map(|timing| timing.start).min().unwrap_or(0);
    let end = timings.iter().map(|timing| timing.end).max().unwrap_or(0);
    let times = timings.iter().flat_map(|timing| &timing.marks).map(|&ticks| clock.ns(ticks));
    let times = sorted(times);
    let Some(&longest_ns) = times.last() else { return Err(Failure::Wrong("no round was timed".to_owned())) };
    let wall_ns = clock.ns(end.saturating_sub(start));
    let [median_ns, p99_ns] = [0.5, 0.99].map(|share| percentile(&times, share));
    let cpu: Duration = timings.iter().map(|timing| timing.cpu).sum();
    Ok(Rounds { wall_ns, median_ns, p99_ns, longest_ns, cpu_s: cpu.as_secs_f64() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_those_of_member_0_from_the_first_start_to_the_last_end() {
        let timing = |start, end, marks: &[u64]| Timing { start, end, marks: marks.to_vec(), ..Timing::default() };
        let rounds = rounds_of(&[timing(20, 90, &[10, 30, 20]), timing(10, 100, &[])]).expect("rounds");
        let ns = |ticks| Clock::get().ns(ticks);
        let expected = Rounds { wall_ns: ns(90), median_ns: ns(20), p99_ns: ns(30), longest_ns: ns(30), cpu_s: 0.0 };
        assert_eq!(rounds, expected);
        assert!(rounds_of(&[timing(0, 1, &[])]).is_err());
    }
}
