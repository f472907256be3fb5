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

/// The state of one member; it waits in the group until somebody joins as that member.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) core: Core,
    pub(crate) broadcast: Web,
    pub(crate) reduce: Web,
    /// The root of the tree planned for reductions.
    pub(crate) reduce_root: usize,
    pub(crate) barrier: Part,
    /// Memory for allreduces of one value; `None` if the group has too many members for it, or trees were asked for.
    pub(crate) all_read: Option<AllRead>,
    /// Memory for allreduces of slices; `None` until the first one, and where there is no room for it.
    pub(crate) exchange: Option<Box<Exchange>>,
    /// The ways of acknowledged broadcasts, worked out once for all members in this process.
    pub(crate) routes: std::sync::Arc<Routes>,
    /// The inputs from which parts of the group are planned.
    pub(crate) basis: std::sync::Arc<Basis>,
    /// The plans that the group was built with.
    pub(crate) choice: std::sync::Arc<Choice>,
    /// The result of the last race among its members.
    pub(crate) races: Option<std::sync::Arc<Races>>,
    /// The parts that races have replaced.
    pub(crate) shelves: Shelves,
    /// The survivors once the group has failed, and the memory for their new group.
    pub(crate) survivors: Survivors,
    pub(crate) successor: Plot,
    /// The bytes laid out before the memory set aside for survivors.
    pub(crate) bytes: usize,
}

/// One participant of a [`Group`](crate::Group).
///
/// All members must call the same operations, with the same roots and types, in the same order. If they do not, each of
/// them gets [`Error::Mismatched`], at the latest in its next operation that needs something from the others. An operation
/// that fails leaves the group failed, unless it was refused before it began, as with [`Error::BadRank`], or its errors say
/// otherwise. Values are of any [`Plain`] type: up to 56 bytes travel in one cache line with their header, larger ones in
/// several lines.
///
/// Besides the errors that its own documentation lists, any operation returns [`Error::Pending`] while a started one is
/// unfinished, [`Error::Forked`] in a child of the process that joined, and [`Error::Corrupt`] once a member has read
/// something from the memory of a group of processes that no member writes.
///
/// Dropping a member leaves the group. If that happens in a panic, or while others still wait for this member, their
/// operations fail with [`Error::MemberLost`], which names it.
#[derive(Debug)]
pub struct Member {
    /// Taken out when dropped; `Some` until then.
    ends: Option<Ends>,
    home: Home,
}

/// The origin of a member.
#[derive(Debug)]
pub(crate) enum Home {
    /// The seats of a group of threads, to which its ends go back.
    Threads(Arc<Seats>),
    /// Made for this member, as among processes and in parts of groups: no other thread can take its place. Holds the
    /// resources that must stay open as long as the member lives.
    Own { kept: Option<Kept> },
}

/// Resources that stay open as long as a process is a member of any part of a group.
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

    /// The resources that stay open while it is a member of parts too.
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

    /// Counts of the long waits, yields and sleeps of this member.
    #[must_use]
    pub fn wait_counts(&self) -> WaitCounts {
        self.ends().core.waiter.counts()
    }

    pub(crate) fn operations(&self) -> u64 {
        self.ends().core.operation
    }

    /// Returns when every member has entered. Everything that any member wrote before is visible to all afterwards.
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

    /// Combines all members' values and returns the result, the same bits to all. In a small group each member combines all
    /// values itself, in rank order for every `Order`.
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
            // Before the seat is given up, so that the next member to take it sees the fault.
            self.fail();
        }
        if self.ends().core.is_pending {
            // Others may depend on steps of that operation that this member will not take.
            let _ = self.ends().core.roll.report(self.rank(), Loss::Left);
        }
        let Some(ends) = self.ends.take() else { return };
        match &self.home {
            Home::Threads(seats) => seats.leave(ends),
            Home::Own { .. } => ends.core.roll.leave(ends.core.rank, ends.core.seat_word()),
        }
    }
}
