//! Operations that are started now and finished later, and operations with a limit on the time they may take.
//!
//! **When to take it:** a member has other work while it waits, or must not wait for ever. **When not:** the plain
//! operations of a [`Member`] keep nothing beside the call and cost less.
//!
//! [`Member::start`] starts them. A start does as much as it can at once: it publishes the arrival at a barrier, or passes
//! on a value that is there. Others may need this member to act in the meantime, and it acts only inside
//! [`try_finish`](Started::try_finish) or one of the other calls: there is no background thread. No step is repeated, so a
//! limit may pass any number of times, and each call goes on where the last one ended. A member that drops an unfinished
//! operation can only leave, which makes the group fail, as others may wait for its remaining steps.
//!
//! **Progress:** `try_finish` looks, for about a microsecond where each member has a CPU, and does not wait; the others
//! block.
//! **Memory ordering:** that of the plain operation, once it is finished.
//!
//! ```
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(2).build()?;
//! let rounds = group.run(|me| {
//!     let mut worked = 0;
//!     let mut meeting = me.start().barrier()?;
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

use super::Member;
use super::prepared::{Prepared, Steps};
use crate::core::{NEVER, NOW};
use crate::error::Error;

/// An operation that a member has started. Until it is finished the member can do nothing else.
#[must_use = "an operation that is dropped unfinished leaves its member nothing but to leave"]
pub struct Started<'a, T> {
    me: &'a mut Member,
    /// Called until they are done. Boxing those of a barrier allocates nothing.
    steps: Box<dyn Steps<T> + Send + 'a>,
    result: Option<T>,
}

impl<'a, T> Started<'a, T> {
    /// Begins an operation and takes all the steps that can be taken at once.
    pub(super) fn begin(me: &'a mut Member, prepared: Prepared<impl Steps<T> + Send + 'a>) -> Result<Self, Error> {
        me.begin(prepared.call)?.core.is_pending = true;
        let mut begun = Self { me, steps: Box::new(prepared.steps), result: None };
        begun.try_finish()?;
        Ok(begun)
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
        if ends.core.table.is_copy() {
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
