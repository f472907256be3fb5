//! Operations that are started now and finished later, and operations with a limit on the time they may take.
//!
//! C owns a `corecast_started` from the call that starts it until it closes it. In between it has the member's place in the
//! group, and holds what C passed to be read and written, which nobody else may touch; once it is finished, it holds nothing.
//! An operation with a limit is one that is started, finished and closed in a call.

use std::ffi::c_void;
use std::fmt::Debug;
use std::time::Duration;

use corecast::Member as Place;
use corecast::collective::{Error, Plain, Started as Operation};

use crate::argument::elements_mut;
use crate::error::Failure;
use crate::gather::OtherLength;
use crate::member::Member;
use crate::number::{ForNumbers, for_numbers};
use crate::opened::Opened;

/// An operation that a member has started. One thread at a time uses it.
///
/// What others wait for from this member happens only while it is inside one of the calls that finish it. Whoever has
/// started an operation may only finish it, or leave: closed before, the member can do nothing else, and its leaving makes
/// the group fail. What the call that starts it is passed to write to - `data`, `numbers`, `gathered`, `own`, `values` - is the
/// operation's until it is finished, when it holds the result, or closed.
///
/// An operation that some members start, or give a limit, may be a plain one for others. Where members give other lengths
/// they are told CORECAST_LOST, as by the plain ones.
#[derive(Debug)]
pub struct Started {
    opened: Opened<Box<dyn Finish>>,
    /// How it was finished.
    outcome: Option<Result<(), OtherLength>>,
}

/// An operation that was started, of some result, which goes where C wants it.
pub(crate) trait Finish: Debug {
    fn try_finish(&mut self) -> Result<bool, Error>;
    /// Finishes it, once.
    fn finish(&mut self, limit: Duration) -> Result<Result<(), OtherLength>, Error>;
}

impl Finish for Operation<'static, ()> {
    fn try_finish(&mut self) -> Result<bool, Error> {
        Operation::try_finish(self)
    }

    fn finish(&mut self, limit: Duration) -> Result<Result<(), OtherLength>, Error> {
        self.finish_timeout(limit).map(Ok)
    }
}

impl Started {
    /// # Safety
    /// - `start` keeps the reference nowhere but in what it returns.
    pub(crate) unsafe fn start<F: Finish + 'static>(
        member: &mut Member,
        start: impl FnOnce(&'static mut Place) -> Result<F, Error>,
    ) -> Result<Self, Failure> {
        let boxed = |place| start(place).map(|operation| Box::new(operation) as Box<dyn Finish>);
        // SAFETY: the caller's promise.
        let opened = unsafe { Opened::open(member, boxed) }?;
        Ok(Self { opened, outcome: None })
    }

    fn broadcast(member: &mut Member, root: u32, data: &'static mut [u8]) -> Result<Self, Failure> {
        // SAFETY: the member is kept in what is returned alone.
        unsafe { Self::start(member, |place| place.start_broadcast_slice(root as usize, data)) }
    }

    fn try_finish(&mut self) -> Result<bool, Failure> {
        if self.outcome.is_none() && !self.opened.with(|operation| operation.try_finish())? {
            return Ok(false);
        }
        self.finish(Duration::MAX)?;
        Ok(true)
    }

    /// Waits until it is finished. From then on the bytes are the caller's again.
    pub(crate) fn finish(&mut self, limit: Duration) -> Result<(), Failure> {
        if self.outcome.is_none() {
            self.outcome = Some(self.opened.with(|operation| operation.finish(limit))?);
            self.opened.end(|operation| {
                drop(operation);
                Ok::<(), Error>(())
            })?;
        }
        Ok(self.outcome.expect("it is finished")?)
    }
}

/// A reduction of the numbers there, to all where there is no root.
struct Reduction<'a> {
    member: &'a mut Member,
    root: Option<u32>,
    numbers: *mut c_void,
}

impl Reduction<'_> {
    fn start(self, count: usize, number: u32, op: u32) -> Result<Started, Failure> {
        for_numbers(number, op, count, self)
    }
}

impl ForNumbers for Reduction<'_> {
    type Output = Started;

    fn with<T: Plain>(self, count: usize, combine: fn(T, T) -> T) -> Result<Started, Failure> {
        // SAFETY: C passes as many numbers of this type, readable and writable, which nobody else reaches until the operation
        // is finished or closed, when it is dropped.
        let numbers = unsafe { elements_mut(self.numbers.cast::<T>(), count, "numbers") }?;
        // SAFETY: the member is kept in what is returned alone.
        unsafe {
            Started::start(self.member, |place| match self.root {
                Some(root) => place.start_reduce_slice(root as usize, numbers, combine),
                None => place.start_allreduce_slice(numbers, combine),
            })
        }
    }
}

c_functions! {
    /// Enters the barrier, and returns before the others have.
    safe fn corecast_member_start_barrier(member: &mut Member) -> (started: new Started) {
        // SAFETY: the member is kept in what is returned alone.
        unsafe { Started::start(member, Place::start_barrier) }?
    }

    /// Begins to give the root's `len` bytes to all others. Until it is finished some of them may have come and others not.
    unsafe fn corecast_member_start_broadcast(
        member: &mut Member,
        root: u32,
        data: bytes_mut[len]
    ) -> (started: new Started) {
        Started::broadcast(member, root, data)?
    }

    /// Begins to combine the `count` numbers of all members for the root, as corecast_member_reduce does.
    unsafe fn corecast_member_start_reduce(
        member: &mut Member,
        root: u32,
        numbers: *mut c_void,
        count: usize,
        number: u32,
        op: u32
    ) -> (started: new Started) {
        Reduction { member, root: Some(root), numbers }.start(count, number, op)?
    }

    /// The same for all members.
    unsafe fn corecast_member_start_allreduce(
        member: &mut Member,
        numbers: *mut c_void,
        count: usize,
        number: u32,
        op: u32
    ) -> (started: new Started) {
        Reduction { member, root: None, numbers }.start(count, number, op)?
    }

    /// Does what can be done without waiting; `is_finished` is true if the operation is finished, and the result where it shall
    /// be.
    safe fn corecast_started_try_finish(started: &mut Started) -> (is_finished: bool) {
        started.try_finish()?
    }

    /// Waits until the operation is finished.
    safe fn corecast_started_finish(started: &mut Started) {
        started.finish(Duration::MAX)?
    }

    /// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT, whose message names who has not begun it. Call
    /// it, or another, again to go on.
    safe fn corecast_started_finish_timeout_ns(started: &mut Started, timeout_ns: Duration) {
        started.finish(timeout_ns)?
    }

    /// Closes the operation; NULL is none. If it is finished its member can call other operations again, else only leave.
    closing fn corecast_started_close(started: Started);

    /// corecast_member_start_broadcast and what finishes it, for at most so many nanoseconds in all. After CORECAST_TIMEOUT the
    /// member can only leave.
    unsafe fn corecast_member_broadcast_timeout_ns(
        member: &mut Member,
        root: u32,
        data: bytes_mut[len],
        timeout_ns: Duration
    ) {
        Started::broadcast(member, root, data)?.finish(timeout_ns)?
    }

    /// The same with corecast_member_start_reduce.
    unsafe fn corecast_member_reduce_timeout_ns(
        member: &mut Member,
        root: u32,
        numbers: *mut c_void,
        count: usize,
        number: u32,
        op: u32,
        timeout_ns: Duration
    ) {
        Reduction { member, root: Some(root), numbers }.start(count, number, op)?.finish(timeout_ns)?
    }

    /// The same with corecast_member_start_allreduce.
    unsafe fn corecast_member_allreduce_timeout_ns(
        member: &mut Member,
        numbers: *mut c_void,
        count: usize,
        number: u32,
        op: u32,
        timeout_ns: Duration
    ) {
        Reduction { member, root: None, numbers }.start(count, number, op)?.finish(timeout_ns)?
    }
}
