//! Members of a group as simulated threads, and the times of their operations.
//!
//! Operations come in *episodes*. Each has a window of virtual time, at whose begin all members are idle; they enter within a
//! short time, a member that starts an operation last of all. At the end they call the operation again and again without
//! a pause, which gives the time of a round.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_base::CpuSet;
use corecast_collective::{Barrier, Group, Member};
use corecast_machine::{Cpu, Machine as Model};
use corecast_plan::{Effort, Tree};
use corecast_sim_core::{Counts, Machine, Random, Report, Run, Thread, Ticks, Trace};

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::median::median;
use crate::model;
use crate::trace::MOST_EVENTS;

/// A run is given up after this multiple of its time.
const PATIENCE: u64 = 100;

/// How often members call an operation, and when.
#[derive(Clone, Debug)]
pub struct Episodes {
    /// The members, on the first CPUs of the machine.
    pub members: usize,
    /// Episodes before those that count.
    pub warm_up: usize,
    /// Episodes that count.
    pub episodes: usize,
    /// The time from the begin of one episode to that of the next, in microseconds. An episode that takes longer is an error.
    pub window_us: u64,
    /// Members enter within this time, in nanoseconds.
    pub skew_ns: u64,
    /// Rounds without a pause, after the episodes.
    pub rounds: usize,
    /// The seed of the times at which members enter.
    pub seed: u64,
    /// The model from which the group plans; by default [`model`] of the machine.
    pub model: Option<Model>,
    /// The effort of the group's plans.
    pub effort: Effort,
    /// The tree along which members communicate.
    pub tree: TreeChoice,
    /// The disturbances of the members, of which none can be killed.
    pub disturbance: Disturbance,
}

/// A tree of members.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TreeChoice {
    /// The one that the group plans, for each operation its own.
    #[default]
    Planned,
    /// The shape of this name, one of [`shapes`].
    Shape(String),
    /// This one.
    Tree(Tree),
}

/// The names of all shapes.
pub fn shapes() -> impl Iterator<Item = &'static str> {
    corecast_plan::shape::SHAPES.iter().map(|shape| shape.name())
}

impl Default for Episodes {
    fn default() -> Self {
        Self {
            members: 2,
            warm_up: 5,
            episodes: 20,
            window_us: 50,
            skew_ns: 500,
            rounds: 50,
            seed: 1,
            model: None,
            effort: Effort::default(),
            tree: TreeChoice::Planned,
            disturbance: Disturbance::NONE,
        }
    }
}

/// The times of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationTimes {
    /// Of each episode that counts, the time from the last entry until the last member that needs something from others has
    /// left, in nanoseconds.
    pub episodes_ns: Vec<f64>,
    /// The time of a round, where members call the operation without a pause, in nanoseconds; 0 without rounds.
    pub round_ns: f64,
    /// The operations of all members together, with those of the warm-up.
    pub operations: u64,
    /// The accesses of all of them.
    pub counts: Counts,
    /// How the members were disturbed.
    pub disturbed: Disturbed,
}

impl OperationTimes {
    /// The median of the episodes, in nanoseconds.
    #[must_use]
    pub fn median_ns(&self) -> f64 {
        median(&mut self.episodes_ns.clone()).unwrap_or(0.0)
    }

    /// Lines that moved in an operation of all members, by the distance that they came from.
    #[must_use]
    pub fn transfers(&self) -> Vec<f64> {
        self.counts.transfers_each(self.operations)
    }
}

/// The members that an episode ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EpisodeEnd {
    /// The last member to leave.
    All,
    /// The member of this rank.
    Member(usize),
}

/// An operation, as all members call it.
pub(crate) struct Called<F> {
    /// Each member has a clone, which is called with the number of the operation, from 0, and panics if the result is wrong.
    pub(crate) operation: F,
    /// The member that enters last, if it is always the same.
    pub(crate) last: Option<usize>,
    pub(crate) end: EpisodeEnd,
    /// The time that is traced, from the begin of the first episode that counts, in microseconds; 0 without a trace.
    pub(crate) traced_us: u64,
}

/// A member has called the operation, and has not returned.
pub const CALLS: &str = "calls";

/// The times of one member: when it entered and left.
type Visit = (Ticks, Ticks);

/// The visits of a member, and when it entered the first and left the last round without a pause.
#[derive(Clone, Default)]
struct Visits {
    episodes: Vec<Visit>,
    rounds: Visit,
}

/// Lets the members of a group call an operation, each on a simulated thread.
///
/// # Errors
/// [`SimError::Stopped`] if a run has no outcome, [`SimError::Window`] if an episode outlasts its window, [`SimError::Stack`].
pub(crate) fn play<F>(
    machine: &Machine,
    group: &Group,
    episodes: &Episodes,
    called: Called<F>,
) -> Result<(OperationTimes, Option<Trace>), SimError>
where
    F: FnMut(&mut Member, usize) + Clone + 'static,
{
    let members = group.size();
    let visits = Rc::new(RefCell::new(vec![Visits::default(); members]));
    let mut run = Run::new(machine);
    for rank in 0..members {
        // A coroutine begins with what its closure holds, for which it has little room.
        let mut member = Box::new(group.join(rank).map_err(SimError::group)?);
        let (visits, mut operation) = (Rc::clone(&visits), called.operation.clone());
        let schedule = Schedule::of(machine, episodes, called.last, rank);
        let begin = machine.ticks(episodes.warm_up as u64 * episodes.window_us * 1000);
        let traced = begin..begin + machine.ticks(called.traced_us * 1000);
        let body = move |me: &Thread| {
            if rank == 0 && !traced.is_empty() {
                me.trace(traced, MOST_EVENTS);
            }
            let own = schedule.run(me, &mut |number| operation(&mut member, number));
            visits.borrow_mut()[rank] = own;
        };
        run.spawn(cpu_of(machine, group, episodes, rank), 0, body).map_err(SimError::stack)?;
    }
    episodes.disturbance.apply(&mut run, machine, episodes.seed);
    let windows = (episodes.warm_up + episodes.episodes + episodes.rounds) as u64;
    let mut report = run.finish(machine.ticks(PATIENCE * windows * episodes.window_us * 1000))?;
    let trace = report.trace.take();
    Ok((times(machine, episodes, called.end, &visits.take(), report)?, trace))
}

/// The times of the members' visits.
fn times(
    machine: &Machine,
    episodes: &Episodes,
    end: EpisodeEnd,
    visits: &[Visits],
    report: Report,
) -> Result<OperationTimes, SimError> {
    check_windows(machine, episodes, visits)?;
    let first = episodes.warm_up;
    let episodes_ns =
        (first..first + episodes.episodes).map(|number| machine.ns(length(visits, number, end))).collect();
    let last = visits.iter().map(|own| own.rounds.1).max().unwrap_or(0);
    let begun = visits.iter().map(|own| own.rounds.0).max().unwrap_or(0);
    let disturbed = Disturbed::of(machine, &report);
    Ok(OperationTimes {
        episodes_ns,
        round_ns: machine.ns(last.saturating_sub(begun)) / episodes.rounds.max(1) as f64,
        operations: (episodes.warm_up + episodes.episodes + episodes.rounds) as u64,
        counts: report.counts,
        disturbed,
    })
}

/// The CPU of a member: the one of its rank, or the one that the group gives it among those that members share.
pub(crate) fn cpu_of(machine: &Machine, group: &Group, episodes: &Episodes, rank: usize) -> usize {
    if episodes.disturbance.cpus(group.size()) == group.size() {
        return rank;
    }
    let place = |cpus: &[Cpu]| cpus.iter().position(|cpu| cpu.id == group.cpus()[rank]);
    let found = episodes.model.as_ref().map_or_else(|| place(&model(machine).cpus), |model| place(&model.cpus));
    found.expect("a group is on CPUs of its model")
}

/// The time from the last entry of an episode to its end.
fn length(visits: &[Visits], number: usize, end: EpisodeEnd) -> Ticks {
    let entered = visits.iter().map(|own| own.episodes[number].0).max().unwrap_or(0);
    let left = match end {
        EpisodeEnd::All => visits.iter().map(|own| own.episodes[number].1).max().unwrap_or(0),
        EpisodeEnd::Member(rank) => visits[rank].episodes[number].1,
    };
    left.saturating_sub(entered)
}

/// That each episode ended before the next one began.
fn check_windows(machine: &Machine, episodes: &Episodes, visits: &[Visits]) -> Result<(), SimError> {
    let window = machine.ticks(episodes.window_us * 1000);
    let is_late = |own: &Visits| (1..).zip(&own.episodes).any(|(number, visit)| visit.1 > number * window);
    match visits.iter().any(is_late) {
        true => Err(SimError::Window { window_us: episodes.window_us }),
        false => Ok(()),
    }
}

/// When a member enters.
struct Schedule {
    window: Ticks,
    skew_ns: u64,
    /// True if it enters after all others, at the end of the skew.
    is_last: bool,
    episodes: usize,
    rounds: usize,
    random: Random,
}

impl Schedule {
    fn of(machine: &Machine, episodes: &Episodes, last: Option<usize>, rank: usize) -> Self {
        Self {
            window: machine.ticks(episodes.window_us * 1000),
            skew_ns: episodes.skew_ns,
            is_last: last == Some(rank),
            episodes: episodes.warm_up + episodes.episodes,
            rounds: episodes.rounds,
            random: Random::new(episodes.seed, rank),
        }
    }

    fn run(mut self, me: &Thread, operation: &mut dyn FnMut(usize)) -> Visits {
        let mut visits = Visits::default();
        for number in 0..self.episodes {
            let offset = if self.is_last { self.skew_ns } else { self.random.below(self.skew_ns + 1) };
            idle_until(me, number as Ticks * self.window);
            me.work_ns(offset);
            let entered = me.now();
            let begin = me.clock();
            operation(number);
            me.trace_phase(CALLS, begin);
            visits.episodes.push((entered, me.now()));
        }
        idle_until(me, self.episodes as Ticks * self.window);
        let entered = me.now();
        (self.episodes..self.episodes + self.rounds).for_each(operation);
        visits.rounds = (entered, me.now());
        visits
    }
}

/// A member that shares its CPU leaves it to the others.
fn idle_until(me: &Thread, time: Ticks) {
    if me.shares_cpu() { me.sleep_until(time) } else { me.work_until(time) }
}

/// A group of this many members, on the first CPUs of a machine.
pub(crate) fn group(machine: &Machine, episodes: &Episodes, barrier: Option<Barrier>) -> Result<Group, SimError> {
    let members = episodes.members;
    if episodes.disturbance.kill_at.is_some() {
        return Err(SimError::Kill { reason: "the other members would wait for it for ever" });
    }
    let cpus = episodes.disturbance.cpus_of(machine, members)?;
    let planned_from = episodes.model.clone().unwrap_or_else(|| model(machine));
    let builder = Group::builder(&planned_from).members(members).pin(true).effort(episodes.effort);
    let builder = builder.plan_folder(None).race_folder(None);
    let builder = match cpus < members {
        true => builder.cpus(planned_from.cpus.iter().take(cpus).map(|cpu| cpu.id).collect::<CpuSet>()),
        false => builder,
    };
    let builder = match &episodes.tree {
        TreeChoice::Planned => builder,
        TreeChoice::Shape(name) => builder.shape(name),
        TreeChoice::Tree(tree) => builder.tree(tree.clone()),
    };
    let builder = match barrier {
        Some(barrier) => builder.barrier(barrier),
        None => builder,
    };
    builder.build().map_err(SimError::group)
}
