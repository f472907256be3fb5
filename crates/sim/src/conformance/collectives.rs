//! Collectives put to the test: are results right, wherever a member is stopped or killed?
//!
//! Members of a group call an operation some times, and each result is checked.
//!
//! **With stops** members wait without a limit, and share CPUs by some seeds.
//!
//! **With a kill** of the second member all wait with a limit of a millisecond for each operation
//! ([`Member::start`](corecast_collective::Member::start)). The library **promises** that the others then get an error when their
//! limit is over, or before it because a member has left, and that an operation which ends without an error has the right result,
//! also one that the dead member took part in. A member of the same process is not told of a dead one, which runs no destructor;
//! the liveness of members in processes is not simulated. A member that has made all its calls gives its place back under a mutex
//! of the process: killed there it keeps the mutex, and others that leave wait for ever.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;
use std::time::Duration;

use corecast_collective::{Barrier, Error, Group, Member};
use corecast_plan::Effort;
use corecast_sim_core::{LastStores, Machine, Preemption, Random, Run, Stopped, Thread, published};

use super::kills::was_killed;
use super::{LASTING_NS, LIMIT_NS, Placement, often_short};
use crate::disturbance::Disturbance;
use crate::error::SimError;
use crate::members::{Episodes, cpu_of, group};
use crate::messages::boxed;
use crate::rounds::alone;

/// The operations of each member.
const ROUNDS: u64 = 3;
/// The longest wait for an operation, where a member is killed.
const WAIT_NS: u64 = 1_000_000;
/// A member may be late by this time: a sleeper needs 30 us until it runs.
const LATE_NS: u64 = 200_000;
const VICTIM: usize = 1;
/// The root of rooted operations: not the victim.
const ROOT: usize = 0;

/// An operation that can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedCollective {
    /// This barrier.
    Barrier(Barrier),
    /// A broadcast from the first member.
    Broadcast,
    /// A reduction to the first member.
    Reduce,
    /// An allreduce.
    Allreduce,
}

/// An operation that has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{collective} failed with seed {seed}{killed}: {fault}")]
pub struct CollectiveFailure {
    /// The operation.
    pub collective: String,
    /// The seed, which repeats it.
    pub seed: u64,
    /// The kill or the moves, in words; empty without them.
    pub killed: String,
    /// The way in which it failed.
    pub fault: Box<CollectiveFault>,
}

/// The way in which an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectiveFault {
    /// A result is not the one that all members' values give.
    #[error("member {rank} has {result} after operation {number}, and {expected} is right")]
    Wrong {
        /// The member.
        rank: usize,
        /// The number of the operation.
        number: u64,
        /// Its result.
        result: u64,
        /// The right one.
        expected: u64,
    },
    /// A member got an error though nobody was killed.
    #[error("member {rank} got an error, and no member was killed: {error}")]
    Refused {
        /// The member.
        rank: usize,
        /// The error in the library's words.
        error: String,
    },
    /// A member waited for longer than it was to.
    #[error("member {rank} waited for {waited_ns} ns, and was to give up after {limit_ns}")]
    Late {
        /// The member.
        rank: usize,
        /// The time that it waited for.
        waited_ns: u64,
        /// Its limit.
        limit_ns: u64,
    },
    /// Members did not come to their ends.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The group could not be made.
    #[error("{0}")]
    Group(String),
}

impl CheckedCollective {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let barriers = Barrier::ALL.iter().copied().map(Self::Barrier);
        barriers.chain([Self::Broadcast, Self::Reduce, Self::Allreduce])
    }

    /// Tries it with the stops for which this seed stands, among 2 to 8 members.
    ///
    /// # Errors
    /// [`CollectiveFailure`], which names the seed.
    pub fn check(self, seed: u64, placement: Placement) -> Result<(), CollectiveFailure> {
        let mut random = Random::new(seed, 0);
        let mut one_of = |numbers: [u64; 4]| numbers[random.below(4) as usize];
        let (members, threads_per_cpu) = (one_of([2, 3, 5, 8]) as usize, one_of([1, 1, 2, 4]) as usize);
        let (one_in, longest_ns) = (one_of([4, 16, 64, 256]), one_of([1_000, 20_000, 500_000, 8_000_000]));
        let machine = published::opteron_4x12();
        let trial = Trial { collective: self, seed, members, threads_per_cpu, limit_ns: None };
        let outcome = trial.play(&machine, |run| {
            placement.apply(run);
            run.lasting_sleeps(machine.ticks(LASTING_NS));
            run.preempt(Preemption::Randomly { seed, one_in, longest: machine.ticks(longest_ns) });
        });
        outcome.map(drop).map_err(|fault| self.failure(seed, placement.to_string(), fault))
    }

    /// Tries it among three members, with a kill of the second one before its access with this number. True if it was killed, and
    /// had not ended before.
    ///
    /// # Errors
    /// [`CollectiveFailure`], which names the seed.
    pub fn check_killed(self, seed: u64, access: u64, stores: LastStores) -> Result<bool, CollectiveFailure> {
        let machine = published::opteron_4x12();
        let trial = Trial { collective: self, seed, members: 3, threads_per_cpu: 1, limit_ns: Some(WAIT_NS) };
        // SAFETY: what members share is on the heap, or on the stacks of members that are gone with the run.
        let outcome = trial.play(&machine, |run| unsafe { run.kill_at(VICTIM, access, stores) });
        let killed = format!(", member {VICTIM} killed before access {access}, last stores {stores:?}");
        outcome.map_err(|fault| self.failure(seed, killed, fault))
    }

    fn failure(self, seed: u64, killed: String, fault: CollectiveFault) -> CollectiveFailure {
        CollectiveFailure { collective: self.to_string(), seed, killed, fault: Box::new(fault) }
    }
}

impl fmt::Display for CheckedCollective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barrier(barrier) => barrier.fmt(f),
            Self::Broadcast => f.write_str("broadcast"),
            Self::Reduce => f.write_str("reduce"),
            Self::Allreduce => f.write_str("allreduce"),
        }
    }
}

impl FromStr for CheckedCollective {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::all().find(|known| known.to_string() == name);
        found.ok_or_else(|| format!("unknown collective '{name}': expected a barrier, broadcast, reduce or allreduce"))
    }
}

#[derive(Clone, Copy)]
struct Trial {
    collective: CheckedCollective,
    seed: u64,
    members: usize,
    threads_per_cpu: usize,
    /// The limit of each operation; none without a kill.
    limit_ns: Option<u64>,
}

/// The first fault of a member, which takes no access.
type Found = Rc<RefCell<Option<CollectiveFault>>>;

impl Trial {
    /// True if a member was killed.
    fn play(self, machine: &Machine, disturb: impl FnOnce(&mut Run)) -> Result<bool, CollectiveFault> {
        let _alone = alone();
        let disturbance = Disturbance { threads_per_cpu: self.threads_per_cpu, ..Disturbance::NONE };
        let episodes = Episodes { members: self.members, effort: Effort::Quick, disturbance, ..Episodes::default() };
        let barrier = match self.collective {
            CheckedCollective::Barrier(barrier) => Some(barrier),
            _ => None,
        };
        let refused = |error: SimError| CollectiveFault::Group(error.to_string());
        let group: Group = group(machine, &episodes, barrier).map_err(refused)?;
        let (mut run, found) = (Run::new(machine), Found::default());
        // Whether the victim has made all its calls.
        let is_leaving = Rc::new(Cell::new(false));
        for rank in 0..self.members {
            let mut member = Box::new(group.join(rank).map_err(|error| refused(SimError::group(error)))?);
            let (found, mut random) = (Rc::clone(&found), Random::new(!self.seed, rank));
            let leaves = Rc::clone(&is_leaving);
            let body = move |me: &Thread| {
                (0..ROUNDS).all(|number| {
                    me.work_ns(often_short(&mut random));
                    self.call(me, &mut member, number, &found)
                });
                leaves.set(leaves.get() || me.number() == VICTIM);
            };
            let cpu = cpu_of(machine, &group, &episodes, rank);
            run.spawn(cpu, 0, boxed(body)).map_err(|error| refused(SimError::stack(error)))?;
        }
        disturb(&mut run);
        let report = run.finish(machine.ticks(LIMIT_NS));
        match found.take() {
            // An error is no fault where a member was killed.
            Some(CollectiveFault::Refused { .. }) if was_killed(&report) => {}
            Some(fault) => return Err(fault),
            None => {}
        }
        match report {
            Err(stopped) if stopped.has_killed() && is_leaving.get() => Ok(true),
            report => Ok(!report?.killed.is_empty()),
        }
    }

    /// True if the member goes on.
    fn call(self, me: &Thread, member: &mut Member, number: u64, found: &Found) -> bool {
        let (rank, begun_ns) = (member.rank(), me.now_ns());
        let limit_ns = self.limit_ns.unwrap_or(u64::MAX);
        let result = self.operate(member, number, Duration::from_nanos(limit_ns));
        let waited_ns = me.now_ns() - begun_ns;
        let fault = match &result {
            Err(error) => Some(CollectiveFault::Refused { rank, error: error.to_string() }),
            Ok(Some((result, expected))) if result != expected => {
                Some(CollectiveFault::Wrong { rank, number, result: *result, expected: *expected })
            }
            Ok(_) => None,
        };
        let is_late = waited_ns > limit_ns.saturating_add(LATE_NS);
        let fault = if is_late { Some(CollectiveFault::Late { rank, waited_ns, limit_ns }) } else { fault };
        if let Some(fault) = fault {
            let mut first = found.borrow_mut();
            // An error, which is no fault where a member was killed, must not hide one.
            if first.is_none() || matches!(*first, Some(CollectiveFault::Refused { .. })) {
                *first = Some(fault);
            }
        }
        result.is_ok()
    }

    /// The result of an operation and the right one, if it has one.
    fn operate(self, me: &mut Member, number: u64, limit: Duration) -> Result<Option<(u64, u64)>, Error> {
        let own = |rank: usize| (number + 1) * (rank as u64 + 3);
        let sum: u64 = (0..me.size()).map(own).sum();
        let rank = me.rank();
        match self.collective {
            CheckedCollective::Barrier(_) => me.start().barrier()?.finish_timeout(limit).map(|()| None),
            CheckedCollective::Broadcast => {
                let mut value = own(rank);
                me.start().broadcast(ROOT, &mut value)?.finish_timeout(limit)?;
                Ok(Some((value, own(ROOT))))
            }
            CheckedCollective::Reduce => {
                let result = me.start().reduce(ROOT, own(rank), |a, b| a + b)?.finish_timeout(limit)?;
                Ok(result.map(|result| (result, sum)))
            }
            CheckedCollective::Allreduce => {
                let result = me.start().allreduce(own(rank), |a, b| a + b)?.finish_timeout(limit)?;
                Ok(Some((result, sum)))
            }
        }
    }
}
