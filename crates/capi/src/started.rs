//! Operations that are started now and finished later, and operations with a limit on the time they may take.
//!
//! C owns a `corecast_started` from the call that starts it until it closes it. In between it has the member's place in the
//! group, and holds what C passed to be read and written, which nobody else may touch; once it is finished, it holds nothing.
//! An operation with a limit is one that is started, finished and closed in a call.

use std::ffi::c_void;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::Member as Place;
use corecast::collective::{Error, Plain, Started as Operation};

use crate::argument::{elements_mut, give, required};
use crate::error::{Failure, call, finish};
use crate::gather::OtherLength;
use crate::member::Member;
use crate::number::{ForNumbers, for_numbers};
use crate::opened::Opened;
use crate::status::Status;

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

    /// # Safety
    /// - `data` is NULL, or readable and writable for `len` bytes, which nobody else reaches until it is finished or closed.
    unsafe fn broadcast(
        member: Option<&mut Member>,
        root: u32,
        data: *mut c_void,
        len: usize,
    ) -> Result<Self, Failure> {
        let member = required(member, "member")?;
        // SAFETY: the caller's promise; what is finished or closed is dropped.
        let data = unsafe { elements_mut(data.cast::<u8>(), len, "data") }?;
        // SAFETY: the member is kept in what is returned alone.
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
    fn finish(&mut self, limit: Duration) -> Result<(), Failure> {
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
    member: Option<&'a mut Member>,
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
        let member = required(self.member, "member")?;
        // SAFETY: C passes as many numbers of this type, readable and writable, which nobody else reaches until the operation
        // is finished or closed, when it is dropped.
        let numbers = unsafe { elements_mut(self.numbers.cast::<T>(), count, "numbers") }?;
        // SAFETY: the member is kept in what is returned alone.
        unsafe {
            Started::start(member, |place| match self.root {
                Some(root) => place.start().reduce_slice(root as usize, numbers, combine),
                None => place.start().allreduce_slice(numbers, combine),
            })
        }
    }
}

/// Makes an operation, and gives it to C.
pub(crate) fn give_started(
    started: Option<&mut MaybeUninit<*mut Started>>,
    start: impl FnOnce() -> Result<Started, Failure>,
) -> Status {
    call(|| {
        let to = required(started, "started")?;
        give(to, start()?);
        Ok(())
    })
}

/// Makes an operation, and finishes it within so many nanoseconds.
pub(crate) fn limited(timeout_ns: u64, start: impl FnOnce() -> Result<Started, Failure>) -> Status {
    call(|| start()?.finish(Duration::from_nanos(timeout_ns)))
}

/// Enters the barrier, and returns before the others have.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_start_barrier(
    member: Option<&mut Member>,
    started: Option<&mut MaybeUninit<*mut Started>>,
) -> Status {
    // SAFETY: the member is kept in what is returned alone.
    give_started(started, || unsafe { Started::start(required(member, "member")?, |place| place.start().barrier()) })
}

/// Begins to give the root's `len` bytes to all others. Until it is finished some of them may have come and others not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_start_broadcast(
    member: Option<&mut Member>,
    root: u32,
    data: *mut c_void,
    len: usize,
    started: Option<&mut MaybeUninit<*mut Started>>,
) -> Status {
    // SAFETY: C passes bytes, and leaves them until the operation is finished or closed.
    give_started(started, || unsafe { Started::broadcast(member, root, data, len) })
}

/// Begins to combine the `count` numbers of all members for the root, as corecast_member_reduce does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_start_reduce(
    member: Option<&mut Member>,
    root: u32,
    numbers: *mut c_void,
    count: usize,
    number: u32,
    op: u32,
    started: Option<&mut MaybeUninit<*mut Started>>,
) -> Status {
    give_started(started, || Reduction { member, root: Some(root), numbers }.start(count, number, op))
}

/// The same for all members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_start_allreduce(
    member: Option<&mut Member>,
    numbers: *mut c_void,
    count: usize,
    number: u32,
    op: u32,
    started: Option<&mut MaybeUninit<*mut Started>>,
) -> Status {
    give_started(started, || Reduction { member, root: None, numbers }.start(count, number, op))
}

/// Does what can be done without waiting; `is_finished` is true if the operation is finished, and the result where it shall
/// be.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_started_try_finish(
    started: Option<&mut Started>,
    is_finished: Option<&mut MaybeUninit<bool>>,
) -> Status {
    call(|| {
        let (started, to) = (required(started, "started")?, required(is_finished, "is_finished")?);
        to.write(started.try_finish()?);
        Ok(())
    })
}

/// Waits until the operation is finished.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_started_finish(started: Option<&mut Started>) -> Status {
    call(|| required(started, "started")?.finish(Duration::MAX))
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT, whose message names who has not begun it. Call
/// it, or another, again to go on.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_started_finish_timeout_ns(started: Option<&mut Started>, timeout_ns: u64) -> Status {
    call(|| required(started, "started")?.finish(Duration::from_nanos(timeout_ns)))
}

/// Closes the operation; NULL is none. If it is finished its member can call other operations again, else only leave.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_started_close(started: Option<Box<Started>>) {
    finish(|| drop(started));
}

/// corecast_member_start_broadcast and what finishes it, for at most so many nanoseconds in all. After CORECAST_TIMEOUT the
/// member can only leave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_broadcast_timeout_ns(
    member: Option<&mut Member>,
    root: u32,
    data: *mut c_void,
    len: usize,
    timeout_ns: u64,
) -> Status {
    // SAFETY: C passes bytes, and the operation is dropped within.
    limited(timeout_ns, || unsafe { Started::broadcast(member, root, data, len) })
}

/// The same with corecast_member_start_reduce.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_reduce_timeout_ns(
    member: Option<&mut Member>,
    root: u32,
    numbers: *mut c_void,
    count: usize,
    number: u32,
    op: u32,
    timeout_ns: u64,
) -> Status {
    limited(timeout_ns, || Reduction { member, root: Some(root), numbers }.start(count, number, op))
}

/// The same with corecast_member_start_allreduce.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_allreduce_timeout_ns(
    member: Option<&mut Member>,
    numbers: *mut c_void,
    count: usize,
    number: u32,
    op: u32,
    timeout_ns: u64,
) -> Status {
    limited(timeout_ns, || Reduction { member, root: None, numbers }.start(count, number, op))
}
