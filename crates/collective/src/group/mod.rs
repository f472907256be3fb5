//! Groups: a fixed number of members, their edges, and the choice of trees and barrier.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let sums = group.run(|me| {
//!     let mut greeting = if me.rank() == 0 { 42u64 } else { 0 };
//!     me.broadcast(0, &mut greeting)?;
//!     me.barrier()?;
//!     me.allreduce(greeting + me.rank() as u64, |a, b| a + b)
//! })?;
//! assert!(sums.into_iter().all(|sum| sum == Ok(42 * 3 + 3)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod races_at_start;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use corecast_base::sync::{Arc, Mutex};
use corecast_base::wait::Waiter;
use corecast_base::{Arena, ArenaError, CpuId};
use corecast_machine::pin;

pub use builder::Builder;
#[cfg(not(loom))]
pub(crate) use builder::Draft;
pub(crate) use races_at_start::RaceStore;

use crate::choice::Choice;
use crate::error::{BuildError, Error, RunError};
use crate::member::{GroupMemory, GroupPlan, Home, Member, Seats};

/// A number of members that communicate along planned trees.
///
/// The members' ends wait here until a thread joins. [`run`](Self::run) spawns a thread for each; [`join`](Self::join) is
/// for threads that exist already.
pub struct Group {
    planned: GroupPlan,
    seats: Arc<Seats>,
}

impl Group {
    /// Starts a group on a machine; by default one member for each of its CPUs.
    #[must_use]
    pub fn builder(machine: &corecast_machine::Machine) -> Builder<'_> {
        Builder::new(machine)
    }

    /// A group of threads of this process, which wait with these waiters.
    pub(crate) fn of_threads(planned: GroupPlan, waiters: Vec<Waiter>) -> Result<Self, ArenaError> {
        let memory = GroupMemory::new(planned, Arena::heap(), None, None)?;
        let ends = memory.all_ends(waiters)?;
        Ok(Self { planned: memory.planned.clone(), seats: Arc::new(Seats::of(memory.table, ends)) })
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn planned(&self) -> &GroupPlan {
        &self.planned
    }

    /// A new group of threads on the CPUs of these ranks, in this order. It is planned anew by the settings of this group,
    /// except that a tree given to the builder does not apply, as it spans all members, and nothing is raced. The two
    /// groups are independent and should not be used at the same time: members on one CPU would not know that they share
    /// it. To divide members at work, use [`Member::split`].
    ///
    /// ```
    /// use corecast_collective::Group;
    /// use corecast_machine::{Machine, Topology, source};
    /// let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
    /// let group = Group::builder(&machine).members(4).build()?;
    /// let pair = group.subgroup(&[3, 1])?;
    /// assert_eq!(pair.cpus(), [group.cpus()[3], group.cpus()[1]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError::Members`] if there are no ranks, [`BuildError::BadRank`], [`BuildError::RepeatedRank`].
    pub fn subgroup(&self, ranks: &[usize]) -> Result<Self, BuildError> {
        let members = self.size();
        if ranks.is_empty() {
            return Err(BuildError::Members { members: 0 });
        }
        if let Some(&rank) = ranks.iter().find(|&&rank| rank >= members) {
            return Err(BuildError::BadRank { rank, members });
        }
        if let Some((_, &rank)) = ranks.iter().enumerate().find(|(place, rank)| ranks[..*place].contains(rank)) {
            return Err(BuildError::RepeatedRank { rank });
        }
        let mut inputs = self.planned.inputs.alone(ranks);
        let waiters = inputs.look_around();
        Ok(Self::of_threads(GroupPlan::of_part(inputs), waiters)?)
    }

    /// The number of members.
    #[must_use]
    pub fn size(&self) -> usize {
        self.planned.inputs.members()
    }

    /// The CPU of each member, by rank; more than one may have the same.
    #[must_use]
    pub fn cpus(&self) -> &[CpuId] {
        self.planned.inputs.problem.cpus()
    }

    /// True if [`run`](Self::run) binds every member to its CPU.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.planned.inputs.is_pinned
    }

    /// The trees and the barrier that the group was built with, and the reasons; its `Display` is meant for people. Members
    /// that race may replace them: see [`Member::races`](crate::Member::races).
    #[must_use]
    pub fn choice(&self) -> &Choice {
        &self.planned.choice
    }

    /// Takes the place of member `rank`, for this thread or one that the member is sent to.
    ///
    /// # Errors
    /// [`Error::BadRank`], [`Error::AlreadyJoined`], or the fault with which the group has failed.
    pub fn join(&self, rank: usize) -> Result<Member, Error> {
        let members = self.size();
        if rank >= members {
            return Err(Error::BadRank { rank, members });
        }
        if let Some(fault) = self.seats.table.fault() {
            return Err(fault);
        }
        let ends = self.seats.take(rank).ok_or(Error::AlreadyJoined { rank })?;
        self.seats.table.take_seat(rank, ends.core.operation);
        // If the last member found a fault, this member sees it when its first operation begins, as the ends passed through
        // a lock.
        Ok(Member::new(ends, Home::Threads(Arc::clone(&self.seats))))
    }

    /// Runs `body` as every member, each on a thread of its own, and returns their results by rank. May be called again
    /// after it has returned.
    ///
    /// # Errors
    /// [`RunError::Panicked`] naming the member that panicked first (the others' operations fail meanwhile),
    /// [`RunError::Pin`] if a thread could not be bound to its CPU, [`RunError::Join`] if a member is joined elsewhere or
    /// the group has failed, [`RunError::OutOfStep`] if an earlier run left members at different operations.
    pub fn run<R: Send>(&self, body: impl Fn(&mut Member) -> R + Sync) -> Result<Vec<R>, RunError> {
        const HELD_BRIEFLY: &str = "no member panics while it holds its result";
        let results: Vec<Mutex<Option<R>>> = (0..self.size()).map(|_| Mutex::new(None)).collect();
        self.run_members(&|me| {
            let rank = me.rank();
            let result = body(me);
            *results[rank].lock().expect(HELD_BRIEFLY) = Some(result);
        })?;
        let result = |result: Mutex<Option<R>>| result.into_inner().expect(HELD_BRIEFLY);
        Ok(results.into_iter().map(|of_one| result(of_one).expect("every member has returned")).collect())
    }

    /// Runs `body` as every member. Compiled once, not for each body that a program has.
    fn run_members(&self, body: Body<'_>) -> Result<(), RunError> {
        let members = (0..self.size()).map(|rank| self.join(rank)).collect::<Result<Vec<_>, _>>()?;
        in_step(&members)?;
        let outcomes: Vec<Result<(), RunError>> = thread::scope(|scope| {
            let threads: Vec<_> = members.into_iter().map(|me| scope.spawn(|| self.run_one(me, body))).collect();
            threads.into_iter().map(|thread| thread.join().expect("run_one catches panics")).collect()
        });
        self.first_cause(outcomes)
    }

    /// Success, or the fate of the member that was lost first: others may have panicked because of it.
    fn first_cause(&self, mut outcomes: Vec<Result<(), RunError>>) -> Result<(), RunError> {
        if let Some(Error::MemberLost { rank, .. }) = self.seats.table.fault() {
            if outcomes[rank].is_err() {
                outcomes.swap(0, rank);
            }
        }
        outcomes.into_iter().collect()
    }

    fn run_one(&self, me: Member, body: Body<'_>) -> Result<(), RunError> {
        let rank = me.rank();
        let pinned = match self.is_pinned() {
            true => pin::pin(self.cpus()[rank]).map(Some),
            false => Ok(None),
        };
        match pinned {
            Err(reason) => {
                me.fail();
                Err(RunError::Pin { rank, reason })
            }
            Ok(_pinned) => {
                let outcome = catch_unwind(AssertUnwindSafe(move || {
                    // Moved in, so that unwinding drops it and tells the others.
                    let mut me = me;
                    body(&mut me);
                }));
                outcome.map_err(|panic| RunError::Panicked { rank, message: message_of(&*panic) })
            }
        }
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({} members, {})", self.size(), self.choice().barrier)
    }
}

/// The work that every member of a run does.
type Body<'a> = &'a (dyn Fn(&mut Member) + Sync);

fn in_step(members: &[Member]) -> Result<(), RunError> {
    let expected = members[0].operations();
    match members.iter().find(|me| me.operations() != expected) {
        Some(me) => Err(RunError::OutOfStep { rank: me.rank(), operations: me.operations(), expected }),
        None => Ok(()),
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a value that is no text".to_owned())
}
