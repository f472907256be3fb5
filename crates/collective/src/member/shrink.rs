//! A new group of the survivors of a failed one.
//!
//! **When to take it:** a member was lost, and the others can go on working without it. **When not:** the others may as
//! well end, or something outside restarts all of them.
//!
//! All survivors call [`Member::shrink`] on the failed group. They wait until each member has come, has left or has died,
//! so that all of them mean the same survivors. The survivors get new ranks, in the order of the old ones, and a plan of
//! their own, as by [`split`](Member::split). The failed group stays failed. If a member of the new group is lost, even
//! before its first operation, the new group fails and can itself be shrunk.
//!
//! An operation may fail at some members and be complete at others. So each survivor learns how many operations it has
//! completed itself, and the highest number that any survivor has completed: it must get the results in between from those
//! survivors. An object such as a stream counts as the operation that opened it, and a split as several.
//!
//! A late member cannot be told from one that will never come because it does not know of the failure: it may have other
//! work, or wait in another group. [`Member::shrink_timeout`] names it.
//!
//! Among processes, the memory for the new group is set aside when the old one is made: as much as the old group took, plus
//! half of the remaining room, or nothing if that does not fit. With the default room, two or more generations fit; after
//! that the call fails with [`Error::Memory`].
//!
//! **Progress:** blocking. **Memory ordering:** none until the first operation of the new group.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! let counts = group.run(|me| {
//!     if me.rank() == 1 {
//!         return Ok(0); // leaves, while the others wait for it
//!     }
//!     me.barrier().expect_err("member 1 has left");
//!     let mut shrunk = me.shrink()?;
//!     assert_eq!(shrunk.gone, [1]);
//!     shrunk.me.allreduce(1, |a, b| a + b)
//! })?;
//! assert_eq!(counts, [Ok(2), Ok(0), Ok(2)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::Arc;

use super::{Ends, GroupMemory, GroupPlan, Home, Member};
use crate::core::{Core, NEVER, NOW, nap_until};
use crate::error::Error;
use crate::membership::{Origin, Step, Survivor, Survivors};
use crate::missing::Missing;

/// The result of shrinking a group.
#[derive(Debug)]
#[non_exhaustive]
pub struct Shrunk {
    /// This member's place in the new group.
    pub me: Member,
    /// Its rank in the group that failed.
    pub old_rank: usize,
    /// The ranks in the failed group of the members that are not in the new one, ascending.
    pub gone: Vec<usize>,
    /// The number of operations that this member completed in the failed group.
    pub completed: u64,
    /// The highest number that any member of the new group completed there.
    pub highest: u64,
}

impl Member {
    /// Makes a group of the survivors of this one, which has failed, and returns this member's place in it. All survivors
    /// must call it.
    ///
    /// # Errors
    /// [`Error::NotFailed`]; [`Error::AlreadyJoined`] if this member has joined the new group before; [`Error::Memory`] at
    /// all members alike if the memory of a group of processes has no room for it; [`Error::Corrupt`] if a member of
    /// another version lays out another group; [`Error::MemberLost`] naming this member if it joined just after the others
    /// had found its place empty; [`Error::Forked`].
    pub fn shrink(&mut self) -> Result<Shrunk, Error> {
        self.shrink_until(NEVER)
    }

    /// As [`shrink`](Self::shrink), but waits for the others at most for `limit`; planning for the survivors comes after
    /// that. After [`Error::Timeout`] the others go on waiting for this member, which may call it again, or leave.
    ///
    /// # Errors
    /// [`Error::Timeout`], which names the members that have neither come nor gone, and those of [`shrink`](Self::shrink).
    pub fn shrink_timeout(&mut self, limit: Duration) -> Result<Shrunk, Error> {
        let clock = Clock::get();
        self.shrink_until(clock.ticks().saturating_add(clock.ticks_in(limit)).clamp(NOW + 1, NEVER - 1))
    }

    pub(crate) fn shrink_until(&mut self, deadline: u64) -> Result<Shrunk, Error> {
        let Ends { core, survivors, .. } = self.ends_mut();
        match core.check_fault() {
            Ok(()) => return Err(Error::NotFailed),
            Err(Error::MemberLost { .. } | Error::Mismatched { .. }) if core.has_shrunk() => {
                return Err(Error::AlreadyJoined { rank: core.rank });
            }
            Err(Error::MemberLost { .. } | Error::Mismatched { .. }) => {}
            Err(other) => return Err(other),
        }
        let completed = core.completed();
        survivors.stay(core.rank, completed)?;
        core.table.wake_all();
        let stay = agree(core, survivors, deadline)?;
        let ranks: Vec<usize> = stay.iter().map(|&(rank, _)| rank).collect();
        let highest = stay.iter().map(|&(_, completed)| completed).max().unwrap_or(completed);
        let me = self.succeed(&ranks)?;
        let core = &mut self.ends_mut().core;
        core.succeed();
        let gone = (0..core.members).filter(|rank| ranks.binary_search(rank).is_err()).collect();
        Ok(Shrunk { me, old_rank: core.rank, gone, completed, highest })
    }

    /// The place of this member in the group of survivors.
    fn succeed(&self, ranks: &[usize]) -> Result<Self, Error> {
        let Ends { core, inputs, successor, survivors, .. } = self.ends();
        let rank = ranks.binary_search(&core.rank).map_err(|_| Error::Corrupt)?;
        let processes = core.table.processes.as_ref().map(|processes| Arc::new(processes.part(ranks)));
        let origin = Origin { table: Arc::clone(&core.table), ranks: ranks.to_vec(), step: Step::Shrink };
        let askers = if core.arena.is_shared() { 1 } else { ranks.len() };
        let memory = successor.memory(askers, |arena| {
            GroupMemory::new(GroupPlan::of_part(inputs.survivors(ranks)), arena, processes, Some(origin))
        })?;
        let ends = memory.ends(rank)?;
        survivors.agree_on(ends.bytes)?;
        Ok(Self::new(ends, Home::Own { kept: self.kept() }))
    }
}

/// Waits until each member has come or gone; returns the survivors.
fn agree(core: &mut Core, survivors: &Survivors, deadline: u64) -> Result<Vec<Survivor>, Error> {
    let Core { rank, waiter, table, wait_hook, .. } = core;
    let look = |waited| {
        for gone in table.gone_among(survivors.undecided(), waited) {
            survivors.declare_gone(gone);
            table.wake_all();
        }
    };
    // Most members have left long before.
    look(Duration::ZERO);
    let decided = || survivors.decided();
    waiter.until(table.wake_word(*rank), decided, |waited| {
        look(waited);
        let nap = nap_until(deadline, || Missing::of(survivors.undecided()));
        nap.map(|nap| nap.min(wait_hook.call(waited)))
    })?
}
