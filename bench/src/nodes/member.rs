//! A process of a launch: it becomes one member or all members of its host, and does the work.

use std::path::Path;
use std::time::{Duration, Instant};

use corecast::Group;
use corecast::collective::nodes::{Lanes, Member};
use corecast::collective::op;
use corecast::machine;
use corecast::mpi::{Cluster, Rank};
use corecast::processes::Invitation;
use corecast_race::failure::Failure;

use super::bed::own_host;
use super::conformance::check;
use super::death::die;
use super::flat::Flat;
use super::idle::wait;
use super::model::compare;
use super::work::{Case, NodesOp, NodesShape, Task, Work, failed_name};
use crate::stats::median;

/// Rounds before the number of rounds of a case is known.
pub(super) const TRIALS: usize = 3;
/// Blocks of rounds, of whose times the median counts.
pub(super) const BLOCKS: usize = 3;
pub(super) const MOST_ROUNDS: usize = 20_000;
/// The memory of a group of ranks in which some die: each death takes half of what is left.
const ROOM_OF_DEATHS: usize = 256 << 20;
/// The shortest slice that goes by lanes where operations are not timed: some do, and some do not.
const LEAST_BYTES_UNTIMED: usize = 256;

/// One process of a launch, whose work this file has.
///
/// # Errors
/// A [`Failure`], which it writes to the folder of outcomes as well.
pub fn nodes_member(work: &Path) -> Result<(), Failure> {
    let work = Work::read(work)?;
    let done = match (&work.task, work.shape) {
        (&Task::Model { exchanges, budget_ms }, _) => compare(&work, exchanges, budget_ms),
        (_, NodesShape::Threads) => threads(&work),
        (_, NodesShape::Nested) => nested(&work),
        (_, NodesShape::Ranks | NodesShape::DealtRanks) => ranks(&work),
        (_, NodesShape::Plain) => plain(&work),
    };
    done.inspect_err(|failure| {
        let name = failed_name(&host(), std::process::id());
        let _ = work.tell(&name, &format!("{}: {failure}", host()));
    })
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).unwrap_or_default()
}

fn threads(work: &Work) -> Result<(), Failure> {
    let cluster = Cluster::from_env().map_err(Failure::refused)?;
    let machine = machine::detect().map_err(Failure::refused)?;
    // All hosts share this machine, so a member has no CPU of its own.
    let members = work.members.at(own_host());
    let group = Group::builder(&machine).members(members).pin(false).over(cluster).build();
    let group = group.map_err(Failure::refused)?;
    let outcomes = group.run(|me| body(me, work)).map_err(Failure::refused)?;
    outcomes.into_iter().collect()
}

fn nested(work: &Work) -> Result<(), Failure> {
    let invitation = Invitation::from_env().map_err(Failure::refused)?;
    let invitation = invitation.ok_or_else(|| Failure::refused("`corecast run` has not started this process"))?;
    let cluster = Cluster::from_env().map_err(Failure::refused)?;
    let mut me = invitation.over(cluster).join().map_err(Failure::refused)?;
    body(&mut me, work)
}

fn ranks(work: &Work) -> Result<(), Failure> {
    let rank = Rank::from_env(machine::detect, |machine, members| {
        let group = Group::builder(machine).members(members).pin(false);
        if matches!(work.task, Task::Die { .. }) { group.room_bytes(ROOM_OF_DEATHS) } else { group }
    });
    let mut rank = rank.map_err(Failure::refused)?;
    if work.lanes > 1 {
        rank = rank.lanes(lanes(work)).map_err(Failure::refused)?;
    }
    let mut me = rank.join().map_err(Failure::refused)?;
    body(&mut me, work)
}

/// The lanes of the work. Operations that are not timed are mostly short, and are to go by lanes, too.
fn lanes(work: &Work) -> Lanes {
    let lanes = Lanes::of(work.lanes);
    match work.task {
        Task::Check { .. } | Task::Die { .. } => lanes.from_bytes(LEAST_BYTES_UNTIMED),
        _ => lanes,
    }
}

fn body(me: &mut Member, work: &Work) -> Result<(), Failure> {
    check_host(me)?;
    match &work.task {
        Task::Time { cases, budget_ms } => finish(time(me, cases, *budget_ms)?, me.rank(), work),
        Task::Check { rounds, seed } => {
            check(me, *rounds, *seed)?;
            finish(vec![*rounds as f64], me.rank(), work)
        }
        Task::Idle => finish(wait(me)?, me.rank(), work),
        Task::Die { deaths, .. } => die(me, work, *deaths),
        Task::Model { .. } => Err(Failure::refused("messages are measured before there is a group")),
    }
}

/// That the launcher has started the processes of each node on its host, and not all on one. All members learn it together.
pub(super) fn check_host(me: &mut Member) -> Result<(), Failure> {
    let is_elsewhere = me.node() != own_host();
    let elsewhere = me.allreduce_with(u64::from(is_elsewhere), op::Sum).map_err(Failure::refused)?;
    if elsewhere == 0 {
        return Ok(());
    }
    Err(Failure::refused(format!("the launcher started {elsewhere} members on the host of another node")))
}

fn plain(work: &Work) -> Result<(), Failure> {
    let Task::Time { cases, budget_ms } = &work.task else { return Ok(()) };
    let mut flat = Flat::open()?;
    finish(time(&mut flat, cases, *budget_ms)?, flat.rank, work)?;
    flat.close()
}

/// Rank 0 tells the outcome.
pub(super) fn finish(outcome: Vec<f64>, rank: usize, work: &Work) -> Result<(), Failure> {
    if rank == 0 { work.tell("outcome", &outcome) } else { Ok(()) }
}

/// The operations that are timed.
pub(super) trait Timed {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;
    fn barrier(&mut self) -> Result<(), Failure>;
    fn broadcast(&mut self, root: usize, values: &mut [u64]) -> Result<(), Failure>;
    fn sum(&mut self, values: &mut [u64]) -> Result<(), Failure>;
}

impl Timed for Member {
    fn rank(&self) -> usize {
        self.rank()
    }

    fn size(&self) -> usize {
        self.size()
    }

    fn barrier(&mut self) -> Result<(), Failure> {
        self.barrier().map_err(Failure::refused)
    }

    fn broadcast(&mut self, root: usize, values: &mut [u64]) -> Result<(), Failure> {
        match values {
            [value] => self.broadcast(root, value),
            values => self.broadcast_slice(root, values),
        }
        .map_err(Failure::refused)
    }

    fn sum(&mut self, values: &mut [u64]) -> Result<(), Failure> {
        match values {
            [value] => self.allreduce_with(*value, op::Sum).map(|sum| *value = sum),
            values => self.allreduce_slice_with(values, op::Sum),
        }
        .map_err(Failure::refused)
    }
}

impl Timed for Flat {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn barrier(&mut self) -> Result<(), Failure> {
        self.barrier()
    }

    fn broadcast(&mut self, root: usize, values: &mut [u64]) -> Result<(), Failure> {
        self.broadcast(root, values)
    }

    fn sum(&mut self, values: &mut [u64]) -> Result<(), Failure> {
        self.sum(values)
    }
}

/// Nanoseconds of each case, by the clock of rank 0; other ranks have their own.
fn time(me: &mut impl Timed, cases: &[Case], budget_ms: u64) -> Result<Vec<f64>, Failure> {
    cases.iter().map(|&case| time_case(me, case, Duration::from_millis(budget_ms))).collect()
}

pub(super) fn time_case(me: &mut impl Timed, case: Case, budget: Duration) -> Result<f64, Failure> {
    let mut values = vec![0; (case.bytes / 8).max(1)];
    check_case(me, case, &mut values)?;
    let trial = block(me, case, &mut values, TRIALS)?;
    let wanted = budget.as_secs_f64() / BLOCKS as f64 / (trial * 1e-9).max(1e-9);
    let mut rounds = [(wanted as usize).clamp(TRIALS, MOST_ROUNDS) as u64];
    me.broadcast(0, &mut rounds)?;
    let blocks: Result<Vec<f64>, Failure> =
        (0..BLOCKS).map(|_| block(me, case, &mut values, rounds[0] as usize)).collect();
    Ok(median(&blocks?).unwrap_or(f64::NAN))
}

/// Nanoseconds of one operation, the mean of a block.
fn block(me: &mut impl Timed, case: Case, values: &mut [u64], rounds: usize) -> Result<f64, Failure> {
    me.barrier()?;
    let begin = Instant::now();
    for round in 0..rounds {
        match case.op {
            NodesOp::Barrier => me.barrier()?,
            NodesOp::Broadcast => me.broadcast(round % me.size(), values)?,
            NodesOp::Allreduce => me.sum(values)?,
        }
    }
    Ok(begin.elapsed().as_nanos() as f64 / rounds as f64)
}

/// One operation of every root, with values that show a wrong result.
fn check_case(me: &mut impl Timed, case: Case, values: &mut [u64]) -> Result<(), Failure> {
    let of = |rank: usize, place: usize| (rank as u64 + 1) * 1_000_003 + place as u64;
    for root in 0..me.size() {
        let rank = me.rank();
        values.iter_mut().enumerate().for_each(|(place, value)| *value = of(rank, place));
        let expected = |place: usize| match case.op {
            NodesOp::Barrier => of(rank, place),
            NodesOp::Broadcast => of(root, place),
            NodesOp::Allreduce => (0..me.size()).map(|rank| of(rank, place)).sum(),
        };
        let expected: Vec<u64> = (0..values.len()).map(expected).collect();
        match case.op {
            NodesOp::Barrier => me.barrier()?,
            NodesOp::Broadcast => me.broadcast(root, values)?,
            NodesOp::Allreduce => me.sum(values)?,
        }
        if values != expected {
            return Err(Failure::Wrong(format!("{} of {} bytes at rank {rank}", case.op.name(), case.bytes)));
        }
    }
    Ok(())
}
