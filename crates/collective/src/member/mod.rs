//! One participant of a group and the operations it calls.
//!
//! `ends` is the member's state, which `layout` builds in the `memory` that the members share. Each operation is written
//! down once in `prepared`; `values`, `slices` and `records` run it at once, `start` as a `started` one. `split` and
//! `shrink` make members of other groups.

mod acknowledged;
mod ends;
mod layout;
mod memory;
mod prepared;
mod records;
mod seats;
mod shrink;
mod slices;
mod spares;
mod split;
mod start;
mod started;
mod values;

use std::any::Any;
use std::fmt;
use std::time::Duration;

use corecast_base::sync::{Arc, Mutex};
use corecast_base::wait::WaitCounts;

use crate::call::Call;
use crate::error::{Error, Loss};
use crate::wait_hook::WaitHook;
pub(crate) use ends::Ends;
pub(crate) use memory::{GroupMemory, GroupPlan, ReservedMemory};
use prepared::{Prepared, RankAndSize, Steps};
pub(crate) use seats::Seats;
pub use shrink::Shrunk;
pub use start::Start;
pub use started::Started;

/// One participant of a [`Group`](crate::Group).
///
/// All members must call the same operations, with the same roots and types, in the same order. If they do not, each of
/// them gets [`Error::Mismatched`], at the latest in its next operation that needs something from the others. An operation
/// that fails leaves the group failed, unless it was refused before it began, as with [`Error::BadRank`], or its errors say
/// otherwise. Values are of any [`Plain`](corecast_channel::Plain) type: up to 56 bytes travel in one cache line with their
/// header, larger ones in several lines.
///
/// Besides the errors that its own documentation lists, any operation returns [`Error::Pending`] while a started one is
/// unfinished, [`Error::Forked`] in a child of the process that joined, and [`Error::Corrupt`] once a member has read
/// something from the memory of a group of processes that no member writes.
///
/// Dropping a member leaves the group. If that happens in a panic, or while others still wait for this member, their
/// operations fail with [`Error::MemberLost`], which names it.
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

    /// Calls `hook` now and then while this member waits in an operation, with the time waited so far; each call returns the
    /// longest time that the member may sleep until the next one. Take it for a member whose thread has other duties, such
    /// as the progress of messages of another library. The calls begin when the wait has lasted for about a microsecond, and
    /// come as often as every few tenths of one: the hook itself decides when there is something to do. It must not call
    /// operations of this member's group. Groups that are split off or shrunk from this one have no hook.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use std::time::Duration;
    /// use corecast_collective::Group;
    /// use corecast_machine::{Machine, Topology, source};
    /// static CALLS: AtomicU32 = AtomicU32::new(0);
    /// let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
    /// let group = Group::builder(&machine).members(2).build()?;
    /// group.run(|me| {
    ///     if me.rank() == 0 {
    ///         me.call_while_waiting(|_waited| {
    ///             CALLS.fetch_add(1, Ordering::Relaxed);
    ///             Duration::from_millis(1)
    ///         });
    ///     } else {
    ///         while CALLS.load(Ordering::Relaxed) == 0 {
    ///             std::thread::yield_now();
    ///         }
    ///     }
    ///     me.barrier()
    /// })?;
    /// assert!(CALLS.load(Ordering::Relaxed) > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_while_waiting(&mut self, hook: impl FnMut(Duration) -> Duration + Send + 'static) {
        self.ends_mut().core.wait_hook = WaitHook::of(hook);
    }

    pub(crate) fn operations(&self) -> u64 {
        self.ends().core.operation
    }

    /// Runs an operation to its end.
    #[inline]
    fn run<T>(&mut self, mut prepared: Prepared<impl Steps<T>>) -> Result<T, Error> {
        (prepared.steps)(self.begin(prepared.call)?)
    }

    #[inline(always)]
    fn rank_and_size(&self) -> RankAndSize {
        let core = &self.ends().core;
        RankAndSize { rank: core.rank, members: core.members }
    }

    /// Makes the group fail as if this member had panicked.
    pub(crate) fn fail(&self) {
        let _ = self.ends().core.table.report(self.rank(), Loss::Panicked);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if self.ends().core.table.is_copy() {
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
            let _ = self.ends().core.table.report(self.rank(), Loss::Left);
        }
        let Some(ends) = self.ends.take() else { return };
        match &self.home {
            Home::Threads(seats) => seats.leave(ends),
            Home::Own { .. } => ends.core.table.leave(ends.core.rank, ends.core.seat_word()),
        }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({} of {})", self.rank(), self.size())
    }
}
