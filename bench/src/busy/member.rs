//! The work of a process of a run: it is a neighbour that keeps a CPU busy, or it runs the rounds of a candidate.

use std::io::Stdin;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corecast::base::{Clock, CpuId, CpuSet};
use corecast::machine::model_file;
use serde::{Deserialize, Serialize};

use super::MAX_ROUNDS;
use super::neighbours::{Load, disturb};
use super::operation::operation;
use crate::channels::WaitName;
use crate::stats::Samples;
use corecast_race::child::{Answer, attend, hear, say, tell};
use corecast_race::confine::confine;
use corecast_race::contender::{Setting, Workshop};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Crew, Stamps, Task};
use corecast_race::place::Place;

/// Operations that are verified before the rounds, and after them.
const CHECKED: u64 = 10;
/// Far above what the parent lets a run last, which ends it.
const CREW_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// The role that a process is given.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Assignment {
    /// A neighbour, on these CPUs.
    Disturb { load: Load, cpus: Vec<u32> },
    /// A candidate.
    Compete(Box<Match>),
}

/// The first message to a candidate's process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Match {
    pub(super) operation: String,
    pub(super) candidate: String,
    pub(super) wait: WaitName,
    /// The file with the machine's model.
    pub(super) model: PathBuf,
    /// Where drivers are that were built.
    pub(super) drivers: Option<PathBuf>,
    /// It runs on these only.
    pub(super) cpus: Vec<u32>,
    pub(super) members: usize,
    pub(super) pinned: bool,
    /// The program and its arguments, if members are processes.
    pub(super) processes: Option<(PathBuf, Vec<String>)>,
    pub(super) rounds: u64,
    /// The shortest time for which they are repeated, in twice as many each time.
    pub(super) least: Duration,
    /// Empty steps of each member between two operations.
    pub(super) steps: u64,
}

/// The message that lets a candidate's process begin.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begin;

/// The results of the rounds: times are those of the number of rounds asked for, by the average of all that were done.
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

/// The work of a process that disturbs or competes in `corecast bench busy`, as told on standard input. For the hidden
/// subcommand of a program that calls [`busy`](super::busy()).
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn busy_member() -> Result<(), Failure> {
    attend(|control| match hear::<Assignment>(control)? {
        Some((Assignment::Disturb { load, cpus }, _)) => {
            confine(&set(&cpus))?;
            disturb(load, control)
        }
        Some((Assignment::Compete(assigned), _)) => compete(&assigned, control),
        None => Ok(()),
    })
}

fn set(cpus: &[u32]) -> CpuSet {
    cpus.iter().copied().map(CpuId::new).collect()
}

fn compete(assigned: &Match, control: &Stdin) -> Result<(), Failure> {
    let cpus = set(&assigned.cpus);
    confine(&cpus)?;
    let machine = model_file::read(&assigned.model).map_err(Failure::refused)?;
    let operation = operation(&assigned.operation);
    let operation = operation.ok_or_else(|| Failure::Refused(format!("no operation '{}'", assigned.operation)))?;
    let candidate = (operation.candidates)().into_iter().find(|known| known.name == assigned.candidate);
    let candidate = candidate.ok_or_else(|| Failure::Refused(format!("no candidate '{}'", assigned.candidate)))?;
    let _drivers = assigned.drivers.as_deref().map(Workshop::lent);
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
    if hear::<Begin>(control)?.is_none() {
        return Ok(());
    }
    bodies = crew.run(bodies, Task::Check { rounds: CHECKED }, &abort)?.bodies;
    let mut total = Total::default();
    let mut count = assigned.rounds;
    while total.wall < assigned.least {
        // Where times come from another process, they come in one message.
        let is_elsewhere = candidate.is_external || assigned.processes.is_some();
        let timed = if is_elsewhere { count.min(MAX_ROUNDS) } else { count };
        let block = crew.run(bodies, Task::Rounds { count, steps: assigned.steps, timed }, &abort)?;
        total.add(count, &block.timings);
        bodies = block.bodies;
        count *= 2;
    }
    crew.run(bodies, Task::Check { rounds: CHECKED }, &abort)?;
    tell(control, &total.of_rounds(assigned.rounds)?)
}

/// All blocks of rounds so far.
#[derive(Debug, Default)]
struct Total {
    rounds: u64,
    wall: Duration,
    cpu: Duration,
    times_ns: Vec<f64>,
}

impl Total {
    fn add(&mut self, count: u64, timings: &[Stamps]) {
        let clock = Clock::get();
        let start = timings.iter().map(|timing| timing.start).min().unwrap_or(0);
        let end = timings.iter().map(|timing| timing.end).max().unwrap_or(0);
        self.rounds += count;
        self.wall += clock.duration(end.saturating_sub(start));
        self.cpu += timings.iter().map(|timing| timing.cpu).sum::<Duration>();
        self.times_ns.extend(timings.iter().flat_map(|timing| &timing.marks).map(|&ticks| clock.ns(ticks)));
    }

    /// The results of this number of rounds.
    fn of_rounds(&self, rounds: u64) -> Result<Rounds, Failure> {
        let times = Samples::of(self.times_ns.iter().copied());
        let quantile = |share| times.quantile(share).ok_or_else(|| Failure::Wrong("no round was timed".to_owned()));
        let (median_ns, p99_ns, longest_ns) = (quantile(0.5)?, quantile(0.99)?, quantile(1.0)?);
        let share = rounds as f64 / self.rounds as f64;
        let wall_ns = share * self.wall.as_secs_f64() * 1e9;
        Ok(Rounds { wall_ns, median_ns, p99_ns, longest_ns, cpu_s: share * self.cpu.as_secs_f64() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_blocks_count_from_the_first_start_to_the_last_end() {
        let second = Clock::get().ticks_in(Duration::from_secs(1));
        let timing = |start: u64, end: u64, marks: &[u64]| {
            let marks = marks.iter().map(|seconds| seconds * second).collect();
            Stamps { start: start * second, end: end * second, cpu: Duration::from_secs(1), marks, ..Stamps::default() }
        };
        let mut total = Total::default();
        assert!(total.of_rounds(2).is_err());
        total.add(2, &[timing(20, 90, &[10, 60]), timing(10, 100, &[])]);
        total.add(4, &[timing(0, 30, &[4, 5, 6, 7])]);
        let Rounds { wall_ns, median_ns, p99_ns, longest_ns, cpu_s } = total.of_rounds(2).expect("rounds");
        let seconds = [wall_ns, median_ns, p99_ns, longest_ns].map(|ns| (ns / 1e7).round() / 100.0);
        assert_eq!((seconds, cpu_s), ([40.0, 6.0, 60.0, 60.0], 1.0));
    }
}
