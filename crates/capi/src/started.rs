//! Operations that are started now and finished later, and operations with a time limit.
//!
//! C owns a `corecast_started` from the call that starts it until it closes it. In between it has the member's place in the
//! group, and holds the memory that C passed to be read and written, which nothing else may touch; once it is finished, it
//! holds nothing. An operation with a limit is one that is started, finished and closed in a call.

use std::ffi::c_void;
use std::fmt::Debug;
use std::time::Duration;

use corecast::Member as Place;
use corecast::collective::{Error, Plain, Started as Operation};

use crate::argument::elements_mut;
use crate::error::Failure;
use crate::member::Member;
use crate::number::{ForNumbers, for_numbers};
use crate::opened::Opened;
use crate::status::Status;

/// An operation that a member has started. One thread at a time uses it.
///
/// This member's part in it happens only while it is inside one of the calls that finish it. After a member has started an
/// operation it may only finish it, or leave: if it closes the operation before, it can do nothing else, and its leaving
/// makes the group fail. The memory that the call may write to - `data`, `numbers`, `gathered`, `own`, `values` - belongs
/// to the operation until it is finished, and then holds the result, or until it is closed.
///
/// An operation that some members start, or give a limit, may be a plain one for others. Members that give different
/// lengths get CORECAST_LOST, as from the plain ones.
#[derive(Debug)]
pub struct Started {
    opened: Opened<Box<dyn Finish>>,
    /// How it was finished.
    outcome: Option<Result<(), OtherLength>>,
}

/// The error of a member that gave another number of bytes than the root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OtherLength {
    pub(crate) rank: usize,
    pub(crate) given: usize,
    pub(crate) expected: usize,
}

impl From<OtherLength> for Failure {
    fn from(OtherLength { rank, given, expected }: OtherLength) -> Self {
        Self::new(Status::Mismatch, format!("member {rank} gave {given} bytes and not {expected}"))
    }
}

/// A started operation, whose result goes where C wants it.
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
    /// - `start` keeps the reference only in its result.
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
        // SAFETY: the reference to the member is kept only in the returned object.
        unsafe { Self::start(member, |place| place.start().broadcast_slice(root as usize, data)) }
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
        // SAFETY: C passes `count` numbers of this type, readable and writable, which nothing else reaches until the
        // operation is finished or closed, when it is dropped.
        let numbers = unsafe { elements_mut(self.numbers.cast::<T>(), count, "numbers") }?;
        // SAFETY: the reference to the member is kept only in the returned object.
        unsafe {
            Started::start(self.member, |place| match self.root {
                Some(root) => place.start().reduce_slice(root as usize, numbers, combine),
                None => place.start().allreduce_slice(numbers, combine),
            })
        }
    }
}

c_functions! {
    /// Enters the barrier, and returns without waiting for the others.
    safe fn corecast_member_start_barrier(member: &mut Member) -> (started: new Started) {
        // SAFETY: the reference to the member is kept only in the returned object.
        unsafe { Started::start(member, |place| place.start().barrier()) }?
    }

    /// Begins to give the root's `len` bytes to all others. Until it is finished, some of the bytes may have come and
    /// others not.
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

    /// Goes on with the operation without waiting; `is_finished` is true if it is finished, and the result is in its place.
    safe fn corecast_started_try_finish(started: &mut Started) -> (is_finished: bool) {
        started.try_finish()?
    }

    /// Waits until the operation is finished.
    safe fn corecast_started_finish(started: &mut Started) {
        started.finish(Duration::MAX)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT, whose message names the members that
    /// have not begun it. Call it, or another such call, again to go on.
    safe fn corecast_started_finish_timeout_ns(started: &mut Started, timeout_ns: Duration) {
        started.finish(timeout_ns)?
    }

    /// Closes the operation; NULL is none. If it is finished, its member can call other operations again; else it can only
    /// leave.
    closing fn corecast_started_close(started: Started);

    /// corecast_member_start_broadcast and what finishes it, for at most `timeout_ns` nanoseconds in all. After
    /// CORECAST_TIMEOUT the member can only leave.
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
