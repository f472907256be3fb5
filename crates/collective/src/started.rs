//! Operations that are started now and finished later, and operations with a limit on the time they may take.
//!
//! **When to take it:** a member has other work while it waits, or must not wait for ever. **When not:** the plain
//! operations of a [`Member`] keep nothing beside the call and cost less.
//!
//! A start does as much as it can at once: it publishes the arrival at a barrier, or passes on a value that is there.
//! Others may need this member to act in the meantime, and it acts only inside [`try_finish`](Started::try_finish) or one
//! of the other calls: there is no background thread. No step is repeated, so a limit may pass any number of times, and
//! each call goes on where the last one ended. A member that drops an unfinished operation can only leave, which makes the
//! group fail, as others may wait for its remaining steps.
//!
//! **Progress:** `try_finish` looks, for about a microsecond where each member has a CPU, and does not wait; the others
//! block.
//! **Memory ordering:** that of the plain operation, once it is finished.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::Request::default())?);
//! let group = Group::builder(&machine).members(2).build()?;
//! let rounds = group.run(|me| {
//!     let mut worked = 0;
//!     let mut meeting = me.start_barrier()?;
//!     while !meeting.try_finish()? {
//!         worked += 1;
//!     }
//!     meeting.finish()?;
//!     me.allreduce(worked, u64::max)
//! })?;
//! assert_eq!(rounds[0], rounds[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::time::Duration;

use corecast_base::Clock;
use corecast_channel::Plain;

use crate::allreduce::Allreduction;
use crate::broadcast::{Progress, broadcast};
use crate::call::{Call, Operation};
use crate::core::{NEVER, NOW};
use crate::error::Error;
use crate::member::{Ends, Member};
use crate::reduce::{Order, Reduction, reduce};
use crate::web::LONGEST_MESSAGE;

/// The steps of one operation: called again after a limit, they go on where they ended.
pub(crate) type Steps<'a, T> = dyn FnMut(&mut Ends) -> Result<T, Error> + Send + 'a;

/// An operation that a member has started. Until it is finished the member can do nothing else.
#[must_use = "an operation that is dropped unfinished leaves its member nothing but to leave"]
pub struct Started<'a, T> {
    me: &'a mut Member,
    /// Called until they are done. Boxing those of a barrier allocates nothing.
    steps: Box<Steps<'a, T>>,
    result: Option<T>,
}

impl<'a, T> Started<'a, T> {
    /// Begins the operation of these steps without taking any of them.
    pub(crate) fn begin(me: &'a mut Member, call: Call, steps: Box<Steps<'a, T>>) -> Result<Self, Error> {
        me.begin(call)?.core.is_pending = true;
        Ok(Self { me, steps, result: None })
    }

    /// Does what can be done without waiting; true if the operation is finished.
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn try_finish(&mut self) -> Result<bool, Error> {
        match self.go_on(NOW) {
            Ok(()) => Ok(true),
            Err(Error::Timeout { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until the operation is finished, at most for `limit`, and returns its result. After [`Error::Timeout`] call
    /// this or another method again to go on.
    ///
    /// # Errors
    /// [`Error::Timeout`], which names the members that have not begun the operation, and those of the plain operation.
    ///
    /// # Panics
    /// If it has returned the result before.
    #[track_caller]
    pub fn finish_timeout(&mut self, limit: Duration) -> Result<T, Error> {
        let clock = Clock::get();
        self.go_on(clock.ticks().saturating_add(clock.ticks_in(limit)).clamp(NOW + 1, NEVER - 1))?;
        Ok(self.result.take().expect("a result is returned once"))
    }

    /// Waits until the operation is finished and returns its result.
    ///
    /// # Errors
    /// Those of the plain operation.
    ///
    /// # Panics
    /// If [`finish_timeout`](Self::finish_timeout) has returned the result.
    #[track_caller]
    pub fn finish(mut self) -> Result<T, Error> {
        self.go_on(NEVER)?;
        Ok(self.result.take().expect("a result is returned once"))
    }

    fn go_on(&mut self, deadline: u64) -> Result<(), Error> {
        let ends = self.me.ends_mut();
        if ends.core.roll.is_copy() {
            return Err(Error::Forked);
        }
        if ends.core.is_pending {
            ends.core.check_own_failure()?;
            ends.core.deadline = deadline;
            let result = (self.steps)(ends);
            ends.core.deadline = NEVER;
            if let Err(Error::Timeout { .. }) = result {
                // A member that only polls waits for others as well.
                ends.core.look_around()?;
            }
            self.result = Some(result?);
            ends.core.is_pending = false;
        }
        Ok(())
    }
}

impl<T> fmt::Debug for Started<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_finished = !self.me.ends().core.is_pending;
        f.debug_struct("Started").field("me", &self.me).field("is_finished", &is_finished).finish_non_exhaustive()
    }
}

/// Operations in parts, and with limits. After a limit has passed in a form that returns no [`Started`], the member can
/// only leave.
impl Member {
    /// Enters the barrier, and returns before the others have.
    ///
    /// # Errors
    /// [`Error::MemberLost`], [`Error::Pending`].
    pub fn start_barrier(&mut self) -> Result<Started<'_, ()>, Error> {
        started(self.begin_barrier()?)
    }

    /// Begins to give the root's `value` to all members.
    ///
    /// # Errors
    /// [`Error::BadRank`]; [`Error::TooLarge`] if a value is more than the 504 bytes that travel in one message;
    /// [`Error::MemberLost`], [`Error::Pending`].
    pub fn start_broadcast<'a, T: Plain>(
        &'a mut self,
        root: usize,
        value: &'a mut T,
    ) -> Result<Started<'a, ()>, Error> {
        started(self.begin_broadcast(root, value)?)
    }

    /// Begins to combine all members' values at `root`.
    ///
    /// # Errors
    /// As [`start_broadcast`](Self::start_broadcast).
    pub fn start_reduce<'a, T: Plain>(
        &'a mut self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, Option<T>>, Error> {
        started(self.begin_reduce(root, value, combine)?)
    }

    /// Begins to combine all members' values for all of them.
    ///
    /// # Errors
    /// As [`start_broadcast`](Self::start_broadcast).
    pub fn start_allreduce<'a, T: Plain>(
        &'a mut self,
        value: T,
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, T>, Error> {
        started(self.begin_allreduce(value, combine)?)
    }

    /// As [`barrier`](Self::barrier), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], which names the members that have not come, and those of [`start_barrier`](Self::start_barrier).
    pub fn barrier_timeout(&mut self, limit: Duration) -> Result<(), Error> {
        self.begin_barrier()?.finish_timeout(limit)
    }

    /// As [`broadcast`](Self::broadcast), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_broadcast`](Self::start_broadcast).
    pub fn broadcast_timeout<T: Plain>(&mut self, root: usize, value: &mut T, limit: Duration) -> Result<(), Error> {
        self.begin_broadcast(root, value)?.finish_timeout(limit)
    }

    /// As [`reduce`](Self::reduce), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_reduce`](Self::start_reduce).
    pub fn reduce_timeout<T: Plain>(
        &mut self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T + Send,
        limit: Duration,
    ) -> Result<Option<T>, Error> {
        self.begin_reduce(root, value, combine)?.finish_timeout(limit)
    }

    /// As [`allreduce`](Self::allreduce), for `limit` at most.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`start_allreduce`](Self::start_allreduce).
    pub fn allreduce_timeout<T: Plain>(
        &mut self,
        value: T,
        combine: impl FnMut(T, T) -> T + Send,
        limit: Duration,
    ) -> Result<T, Error> {
        self.begin_allreduce(value, combine)?.finish_timeout(limit)
    }

    fn begin_barrier(&mut self) -> Result<Started<'_, ()>, Error> {
        Started::begin(self, Call::of(Operation::Barrier), Box::new(|ends| ends.barrier.wait(&mut ends.core)))
    }

    fn begin_broadcast<'a, T: Plain>(&'a mut self, root: usize, value: &'a mut T) -> Result<Started<'a, ()>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut progress = Progress::default();
        let steps = move |ends: &mut Ends| broadcast(&mut ends.core, &mut ends.broadcast, root, value, &mut progress);
        Started::begin(self, Call::rooted(Operation::Broadcast, root), Box::new(steps))
    }

    fn begin_reduce<'a, T: Plain>(
        &'a mut self,
        root: usize,
        value: T,
        mut combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, Option<T>>, Error> {
        self.check_rank(root)?;
        check_size::<T>()?;
        let mut reduction = Reduction::of(value);
        let steps = move |ends: &mut Ends| {
            reduce(&mut ends.core, &mut ends.reduce, root, Order::Plan, &mut reduction, &mut combine)
        };
        Started::begin(self, Order::Plan.reduce(root), Box::new(steps))
    }

    fn begin_allreduce<'a, T: Plain>(
        &'a mut self,
        value: T,
        mut combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, T>, Error> {
        check_size::<T>()?;
        let mut reduction = Allreduction::of(value);
        let steps = move |ends: &mut Ends| reduction.go_on(ends, Order::Plan, &mut combine);
        Started::begin(self, Order::Plan.allreduce(), Box::new(steps))
    }
}

/// The operation, after all the steps that can be taken at once.
pub(crate) fn started<T>(mut begun: Started<'_, T>) -> Result<Started<'_, T>, Error> {
    begun.try_finish()?;
    Ok(begun)
}

/// Refuses values of several messages: a limit could end the wait in the middle of one.
pub(crate) fn check_size<T>() -> Result<(), Error> {
    let (bytes, most) = (size_of::<T>(), LONGEST_MESSAGE);
    if bytes <= most { Ok(()) } else { Err(Error::TooLarge { bytes, most }) }
}
