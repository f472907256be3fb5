//! Operations over several nodes that are started now and finished later, or within a limit.
//!
//! **When to take it:** a member has other work while it waits, or must not wait for ever: a node that stops is noticed by nobody
//! but those that wait with a limit. **When not:** the plain operations of a [`Member`](super::Member) cost less.
//!
//! A start takes no step. A member acts only inside [`try_finish`](Started::try_finish) or one of the other calls, and no step is
//! repeated, so a limit may pass any number of times. A member that drops an unfinished operation makes the group fail.
//!
//! **Progress:** `try_finish` does not wait: a leader polls its engine once for each message that is due; the others block.

use std::fmt;
use std::time::Duration;

use corecast_base::Clock;
use corecast_channel::Plain;

use super::ends::Ends;
use super::error::Error;
use super::member::{Member, known};
use super::prepared::{self, Steps};
use crate::core::{NEVER, NOW};
use crate::link::check_one_message;
use crate::op::Op;
use crate::operation::Order;

/// The operations of a member, each started instead of run: see [`Member::start`]. Each has the errors of the plain operation.
/// Those with a single value fail with [`TooLarge`](crate::Error::TooLarge) if it is more than the 504 bytes that travel in one
/// message.
#[derive(Debug)]
pub struct Start<'a> {
    me: &'a mut Member,
}

impl Member {
    /// The operations to be started now and finished later, or within a limit.
    #[must_use]
    pub fn start(&mut self) -> Start<'_> {
        Start { me: self }
    }
}

impl<'a> Start<'a> {
    /// Starts [`Member::barrier`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn barrier(self) -> Result<Started<'a, ()>, Error> {
        let steps = prepared::barrier(self.me.ends_mut())?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::broadcast`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn broadcast<T: Plain>(self, root: usize, value: &'a mut T) -> Result<Started<'a, ()>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::broadcast(self.me.ends_mut(), root, value)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::reduce`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn reduce<T: Plain>(
        self,
        root: usize,
        value: T,
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, Option<T>>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::reduce(self.me.ends_mut(), Order::Plan, root, value, combine)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::reduce_with`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn reduce_with<T: Plain>(
        self,
        root: usize,
        value: T,
        op: impl Op<T> + Send + 'a,
    ) -> Result<Started<'a, Option<T>>, Error> {
        check_one_message::<T>()?;
        let order = op.order();
        let combine = move |left, right| op.combine(left, right);
        let steps = prepared::reduce(self.me.ends_mut(), order, root, value, combine)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::allreduce`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn allreduce<T: Plain>(
        self,
        value: T,
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, T>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::allreduce(self.me.ends_mut(), Order::Plan, value, None, combine)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::allreduce_with`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn allreduce_with<T: Plain>(self, value: T, op: impl Op<T> + Send + 'a) -> Result<Started<'a, T>, Error> {
        check_one_message::<T>()?;
        let (order, known) = (op.order(), known(&op));
        let combine = move |left, right| op.combine(left, right);
        let steps = prepared::allreduce(self.me.ends_mut(), order, value, known, combine)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::gather`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn gather<T: Plain>(self, root: usize, value: T) -> Result<Started<'a, Option<Vec<T>>>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::gather(self.me.ends_mut(), root, value)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::broadcast_slice`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn broadcast_slice<T: Plain>(self, root: usize, values: &'a mut [T]) -> Result<Started<'a, ()>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::broadcast_slice(self.me.ends_mut(), root, values)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::reduce_slice`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn reduce_slice<T: Plain>(
        self,
        root: usize,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::reduce_slice(self.me.ends_mut(), root, values, combine)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::allreduce_slice`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn allreduce_slice<T: Plain>(
        self,
        values: &'a mut [T],
        combine: impl FnMut(T, T) -> T + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::allreduce_slice(self.me.ends_mut(), values, None, combine)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::allreduce_slice_with`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn allreduce_slice_with<T: Plain>(
        self,
        values: &'a mut [T],
        op: impl Op<T> + Send + 'a,
    ) -> Result<Started<'a, ()>, Error> {
        check_one_message::<T>()?;
        let known = known(&op);
        let combine = move |left, right| op.combine(left, right);
        let steps = prepared::allreduce_slice(self.me.ends_mut(), values, known, combine)?;
        Ok(Started::new(self.me, steps))
    }

    /// Starts [`Member::gather_slice`].
    ///
    /// # Errors
    /// Those of the plain operation.
    pub fn gather_slice<T: Plain>(self, root: usize, values: &[T]) -> Result<Started<'a, Option<Vec<Vec<T>>>>, Error> {
        check_one_message::<T>()?;
        let steps = prepared::gather_slice(self.me.ends_mut(), root, values)?;
        Ok(Started::new(self.me, steps))
    }
}

/// An operation that a member has started. Until it is finished the member can do nothing else.
#[must_use = "an operation that is dropped unfinished leaves its member nothing but to leave"]
pub struct Started<'a, T> {
    me: &'a mut Member,
    steps: Box<dyn Steps<T> + 'a>,
    result: Option<T>,
}

impl<'a, T> Started<'a, T> {
    fn new(me: &'a mut Member, steps: impl Steps<T> + 'a) -> Self {
        me.ends_mut().is_pending = true;
        Self { me, steps: Box::new(steps), result: None }
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

    /// Waits until the operation is finished, at most for `limit`, and returns its result. After [`Error::Timeout`] call this or
    /// another method again to go on.
    ///
    /// # Errors
    /// [`Error::Timeout`], which names those that were late, and those of the plain operation.
    ///
    /// # Panics
    /// If it has returned the result before.
    #[track_caller]
    pub fn finish_timeout(&mut self, limit: Duration) -> Result<T, Error> {
        self.go_on(deadline(limit))?;
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
        if !ends.is_pending {
            return Ok(());
        }
        if let Err(error) = ends.near.ends().core.check_own_failure() {
            return Err(ends.failed(error));
        }
        ends.deadline = deadline;
        let result = (self.steps)(ends);
        ends.deadline = NEVER;
        if let Err(Error::Timeout { .. }) = result {
            look_around(ends)?;
        }
        self.result = Some(result?);
        (ends.is_pending, ends.completed) = (false, ends.completed + 1);
        Ok(())
    }
}

/// A member that only polls waits for others as well.
fn look_around(ends: &mut Ends) -> Result<(), Error> {
    let looked = ends.near.ends_mut().core.look_around();
    looked.map_err(|error| ends.failed(error))
}

/// The end of waits that begin now, in ticks.
pub(super) fn deadline(limit: Duration) -> u64 {
    let clock = Clock::get();
    clock.ticks().saturating_add(clock.ticks_in(limit)).clamp(NOW + 1, NEVER - 1)
}

impl<T> fmt::Debug for Started<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("me", &self.me).finish_non_exhaustive()
    }
}
