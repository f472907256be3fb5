//! One participant of a group and the operations it calls.

use std::any::Any;

use corecast_base::sync::{Arc, Mutex};
use corecast_base::wait::WaitCounts;
use corecast_channel::Plain;

use crate::acknowledged::Routes;
use crate::all_read::AllRead;
use crate::allreduce::Allreduction;
use crate::barrier::Part;
use crate::basis::Basis;
use crate::broadcast::broadcast;
use crate::call::{Call, Operation};
use crate::choose::Choice;
use crate::commons::Plot;
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::exchange::Exchange;
use crate::group::Seats;
use crate::race::{Races, Shelves};
use crate::reduce::{Order, Reduction, reduce};
use crate::survivors::Survivors;
use crate::web::Web;

/// All that belongs to one member; waits in the group while nobody has joined as it.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) core: Core,
    pub(crate) broadcast: Web,
    pub(crate) reduce: Web,
    /// The root of the tree planned for reductions.
    pub(crate) reduce_root: usize,
    pub(crate) barrier: Part,
    /// In which values are reduced for all; `None` if members are too many for it, or trees were asked for.
    pub(crate) all_read: Option<AllRead>,
    /// In which slices are reduced for all; `None` until one is, and where the memory has no room for it.
    pub(crate) exchange: Option<Box<Exchange>>,
    /// The ways of acknowledged broadcasts, worked out once for all members in this process.
    pub(crate) routes: std::sync::Arc<Routes>,
    /// What parts of the group are planned from.
    pub(crate) basis: std::sync::Arc<Basis>,
    /// What it was put together by.
    pub(crate) choice: std::sync::Arc<Choice>,
    /// What the last race among its members found.
    pub(crate) races: Option<std::sync::Arc<Races>>,
    /// What races have put out of use.
    pub(crate) shelves: Shelves,
    /// Who is left once the group has failed, and where they will be a group.
    pub(crate) survivors: Survivors,
    pub(crate) successor: Plot,
    /// The bytes that were laid out before what was set aside for that.
    pub(crate) bytes: usize,
}

/// One participant of a [`Group`](crate::Group).
///
/// All members must call the same operations, with the same roots and types, in the same order. Where they do not, each of
/// them gets [`Error::Mismatched`], at the latest in its next operation that needs something from the others. An operation that
/// fails leaves the group failed, except one that was refused before it began, as with [`Error::BadRank`], and where its errors
/// say otherwise. Values are of any [`Plain`] types: up to 56 bytes travel in one cache line with their header, larger ones in
/// several.
///
/// Beside what its own documentation names, any operation returns [`Error::Pending`] while one that was started is not
/// finished, [`Error::Forked`] in a child of the process that joined, and [`Error::Corrupt`] once something was read from
/// the memory of a group of processes that no member writes.
///
/// Dropping a member leaves the group: in a panic, or while others still wait for it, their operations fail with
/// [`Error::MemberLost`] that names it.
#[derive(Debug)]
pub struct Member {
    /// Taken out when dropped; `Some` until then.
    ends: Option<Ends>,
    home: Home,
}

/// Where a member comes from.
#[derive(Debug)]
pub(crate) enum Home {
    /// The seats of a group of threads, to which its ends go back.
    Threads(Arc<Seats>),
    /// Made for this member, as among processes and in parts of groups: nobody takes its place. And what stays open for as long
    /// as it is a member.
    Own { kept: Option<Kept> },
}

/// What stays open for as long as a process is a member of any part of a group.
#[derive(Debug, Clone)]
pub(crate) struct Kept(#[expect(dead_code, reason = "it is dropped with the last clone")] Arc<Mutex<dyn Any + Send>>);

impl Kept {
    #[cfg(not(loom))]
    pub(crate) fn of(open: impl Any + Send) -> Self {
        Self(Arc::new(Mutex::new(open)))
    }
}

impl Member {
    pub(crate) fn new(ends: Ends, home: Home) -> Self {
        Self { ends: Some(ends), home }
    }

    #[inline(always)]
    pub(crate) fn ends(&self) -> &Ends {
        self.ends.as_ref().expect("the ends are taken out only when the member is dropped")
    }

    #[inline(always)]
    pub(crate) fn ends_mut(&mut self) -> &mut Ends {
        self.ends.as_mut().expect("the ends are taken out only when the member is dropped")
    }

    #[inline(always)]
    pub(crate) fn begin(&mut self, call: Call) -> Result<&mut Ends, Error> {
        let ends = self.ends_mut();
        ends.core.begin(call)?;
        Ok(ends)
    }

    /// What stays open while it is a member of parts too.
    pub(crate) fn kept(&self) -> Option<Kept> {
        match &self.home {
            Home::Threads(_) => None,
            Home::Own { kept } => kept.clone(),
        }
    }

    /// This member's number, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.ends().core.rank
    }

    /// The number of members.
    #[must_use]
    pub fn size(&self) -> usize {
        self.ends().core.members
    }

    /// How often this member has waited long, yielded and slept.
    #[must_use]
    pub fn wait_counts(&self) -> WaitCounts {
        self.ends().core.waiter.counts()
    }

    pub(crate) fn operations(&self) -> u64 {
        self.ends().core.operation
    }

    /// Returns when every member has entered. What any member wrote before is visible to all after.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    #[inline]
    pub fn barrier(&mut self) -> Result<(), Error> {
        let ends = self.begin(Call::of(Operation::Barrier))?;
        ends.barrier.wait(&mut ends.core)
    }

    /// Gives the root's `value` to all members. The root may run ahead of the others by some operations.
    ///
    /// # Errors
    /// [`Error::MemberLost`]; [`Error::BadRank`] if there is no such root.
    #[inline]
    pub fn broadcast<T: Plain>(&mut self, root: usize, value: &mut T) -> Result<(), Error> {
        self.check_rank(root)?;
        let ends = self.begin(Call::rooted(Operation::Broadcast, root))?;
        broadcast(&mut ends.core, &mut ends.broadcast, root, value, &mut Default::default())
    }

    /// Returns when the root has called it, and at the root at once: a broadcast of nothing.
    ///
    /// # Errors
    /// As [`broadcast`](Self::broadcast).
    #[inline]
    pub fn notify_broadcast(&mut self, root: usize) -> Result<(), Error> {
        self.broadcast(root, &mut ())
    }

    /// Combines all members' values and returns the result at `root`, `None` elsewhere. `combine` must be associative and
    /// commutative up to rounding; the same plan combines in the same order.
    ///
    /// # Errors
    /// [`Error::MemberLost`]; [`Error::BadRank`] if there is no such root.
    #[inline]
    pub fn reduce<T: Plain>(
        &mut self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        self.reduce_in(Order::Plan, root, value, combine)
    }

    /// As [`reduce`](Self::reduce), combining in the order asked for.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    #[inline]
    pub fn reduce_in<T: Plain>(
        &mut self,
        order: Order,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<Option<T>, Error> {
        self.check_rank(root)?;
        let ends = self.begin(order.reduce(root))?;
        reduce(&mut ends.core, &mut ends.reduce, root, order, &mut Reduction::of(value), combine)
    }

    /// Returns at the root when all members have called it, elsewhere at once: a reduction of nothing.
    ///
    /// # Errors
    /// As [`reduce`](Self::reduce).
    #[inline]
    pub fn notify_reduce(&mut self, root: usize) -> Result<(), Error> {
        self.reduce(root, (), |(), ()| ()).map(drop)
    }

    /// Combines all members' values and returns the result, the same bits to all. Among few members each one combines all values
    /// itself, in every order by rank.
    ///
    /// # Errors
    /// [`Error::MemberLost`].
    #[inline]
    pub fn allreduce<T: Plain>(&mut self, value: T, combine: impl FnMut(T, T) -> T) -> Result<T, Error> {
        self.allreduce_in(Order::Plan, value, combine)
    }

    /// As [`allreduce`](Self::allreduce), combining in the order asked for.
    ///
    /// # Errors
    /// As [`allreduce`](Self::allreduce).
    #[inline]
    pub fn allreduce_in<T: Plain>(
        &mut self,
        order: Order,
        value: T,
        combine: impl FnMut(T, T) -> T,
    ) -> Result<T, Error> {
        let ends = self.begin(order.allreduce())?;
        Allreduction::of(value).go_on(ends, order, combine)
    }

    #[inline(always)]
    pub(crate) fn check_rank(&self, rank: usize) -> Result<(), Error> {
        let members = self.size();
        if rank < members { Ok(()) } else { Err(Error::BadRank { rank, members }) }
    }

    /// Makes the group fail as if this member had panicked.
    pub(crate) fn fail(&self) {
        let _ = self.ends().core.roll.report(self.rank(), Loss::Panicked);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if self.ends().core.roll.is_copy() {
            // The memory is not in a forked child, and the place is its parent's.
            std::mem::forget(self.ends.take());
            return;
        }
        if std::thread::panicking() {
            // Before the seat is given up: whoever takes it sees the fault.
            self.fail();
        }
        if self.ends().core.is_pending {
            // What it had to do for others in that operation will not be done.
            let _ = self.ends().core.roll.report(self.rank(), Loss::Left);
        }
        let Some(ends) = self.ends.take() else { return };
        match &self.home {
            Home::Threads(seats) => seats.leave(ends),
            Home::Own { .. } => ends.core.roll.leave(ends.core.rank, ends.core.seat_word()),
        }
    }
}
