//! Gather and scatter of bytes: at once, started, and with limits.
//!
//! A call copies the memory that C passes to be read, so C may reuse that when the call returns; memory that is written is
//! C's again when the operation is finished. Lengths are compared at the root where bytes are gathered, and on every edge
//! where they are dealt.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::collective::{Error, Started as Operation};

use crate::argument::{bytes, elements, elements_mut};
use crate::error::Failure;
use crate::member::Member;
use crate::started::{Finish, OtherLength, Started};

/// Where the root wants the bytes of all members; no room elsewhere.
#[derive(Debug)]
struct Room<'a> {
    gathered: &'a mut [MaybeUninit<u8>],
    /// Of each member.
    len: usize,
}

impl Room<'_> {
    /// # Safety
    /// - `gathered` is NULL, or writable for `len` bytes of each member at the root, which nothing else reaches meanwhile.
    unsafe fn of(member: &Member, root: u32, gathered: *mut c_void, len: usize) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        let gathered = unsafe { elements_mut(gathered.cast(), len_at(root, member, len), "gathered") }?;
        Ok(Self { gathered, len })
    }

    /// Writes the gathered bytes there, by rank; there are some only at the root.
    fn put(&mut self, all: Option<Vec<Vec<u8>>>) -> Result<(), OtherLength> {
        let all = all.unwrap_or_default();
        if let Some(rank) = all.iter().position(|bytes| bytes.len() != self.len) {
            return Err(OtherLength { rank, given: all[rank].len(), expected: self.len });
        }
        self.gathered.iter_mut().zip(all.iter().flatten()).for_each(|(to, &byte)| _ = to.write(byte));
        Ok(())
    }
}

/// The bytes of all members at the root, none elsewhere.
fn len_at(root: u32, member: &Member, len: usize) -> usize {
    if member.rank == root { len.saturating_mul(member.members()) } else { 0 }
}

/// A gather that was started.
#[derive(Debug)]
struct Gather {
    operation: Operation<'static, Option<Vec<Vec<u8>>>>,
    room: Room<'static>,
}

impl Finish for Gather {
    fn try_finish(&mut self) -> Result<bool, Error> {
        self.operation.try_finish()
    }

    fn finish(&mut self, limit: Duration) -> Result<Result<(), OtherLength>, Error> {
        let all = self.operation.finish_timeout(limit)?;
        Ok(self.room.put(all))
    }
}

/// # Safety
/// - As for [`Room::of`] with the length of `data`, until the operation is dropped.
unsafe fn start_gather(member: &mut Member, root: u32, data: &[u8], gathered: *mut c_void) -> Result<Started, Failure> {
    // SAFETY: the caller's promise.
    let room = unsafe { Room::of(member, root, gathered, data.len()) }?;
    // SAFETY: the reference to the member is kept only in the returned object.
    unsafe {
        Started::start(member, |place| {
            place.start().gather_slice(root as usize, data).map(|operation| Gather { operation, room })
        })
    }
}

/// # Safety
/// - `data` is NULL, or readable for `len` bytes of each member at the root.
/// - `own` is NULL, or writable for `len` bytes, which nothing else reaches until the operation is dropped.
unsafe fn start_scatter(
    member: &mut Member,
    root: u32,
    data: *const c_void,
    len: usize,
    own: *mut c_void,
) -> Result<Started, Failure> {
    // SAFETY: the caller's promise.
    let data = unsafe { bytes(data, len_at(root, member, len), "data") }?;
    // SAFETY: the caller's promise.
    let own = unsafe { elements_mut(own.cast::<u8>(), len, "own") }?;
    // SAFETY: the reference to the member is kept only in the returned object.
    unsafe { Started::start(member, |place| place.start().scatter_slice(root as usize, Some(data), own)) }
}

c_functions! {
    /// Brings the `len` bytes of each member to the root, where they replace those at `gathered`, by rank; elsewhere
    /// `gathered` is not looked at and may be NULL. CORECAST_MISMATCH at the root if members gave different lengths; all
    /// bytes were received.
    unsafe fn corecast_member_gather(member: &mut Member, root: u32, data: bytes[len], gathered: *mut c_void) {
        // SAFETY: C passes room for the bytes of all members at the root.
        let mut room = unsafe { Room::of(member, root, gathered, len) }?;
        let all = member.operate(|place| place.gather_slice(root as usize, data))?;
        room.put(all)?
    }

    /// Gives each member its `len` bytes of the root's `data`, those of member 0 first, which replace those at `own`; elsewhere
    /// `data` is not looked at and may be NULL. CORECAST_LOST, which names a neighbour, if members asked for different lengths.
    unsafe fn corecast_member_scatter(
        member: &mut Member,
        root: u32,
        data: *const c_void,
        len: usize,
        own: *mut c_void
    ) {
        // SAFETY: C passes the bytes of all members at the root.
        let data = unsafe { elements(data.cast::<u8>(), len_at(root, member, len), "data") }?;
        // SAFETY: C passes room for its bytes.
        let own = unsafe { elements_mut(own.cast::<u8>(), len, "own") }?;
        member.operate(|place| place.scatter_slice(root as usize, Some(data), own))?
    }

    /// Begins to bring the `len` bytes of each member, which are copied, to the root, as corecast_member_gather does. Calls that
    /// finish it return CORECAST_MISMATCH where that does; it is finished then.
    unsafe fn corecast_member_start_gather(
        member: &mut Member,
        root: u32,
        data: bytes[len],
        gathered: *mut c_void
    ) -> (started: new Started) {
        // SAFETY: C passes room for the bytes of all members, which it leaves until the operation is finished or closed.
        unsafe { start_gather(member, root, data, gathered) }?
    }

    /// Begins to give each member its `len` bytes of the root's `data`, which are copied, as corecast_member_scatter does.
    unsafe fn corecast_member_start_scatter(
        member: &mut Member,
        root: u32,
        data: *const c_void,
        len: usize,
        own: *mut c_void
    ) -> (started: new Started) {
        // SAFETY: C passes bytes, and room, which it leaves until the operation is finished or closed.
        unsafe { start_scatter(member, root, data, len, own) }?
    }

    /// corecast_member_start_gather and what finishes it, for at most `timeout_ns` nanoseconds in all. After
    /// CORECAST_TIMEOUT the member can only leave.
    unsafe fn corecast_member_gather_timeout_ns(
        member: &mut Member,
        root: u32,
        data: bytes[len],
        gathered: *mut c_void,
        timeout_ns: Duration
    ) {
        // SAFETY: C passes room for the bytes of all members, and the operation is dropped within.
        unsafe { start_gather(member, root, data, gathered) }?.finish(timeout_ns)?
    }

    /// The same with corecast_member_start_scatter.
    unsafe fn corecast_member_scatter_timeout_ns(
        member: &mut Member,
        root: u32,
        data: *const c_void,
        len: usize,
        own: *mut c_void,
        timeout_ns: Duration
    ) {
        // SAFETY: C passes bytes, and room, and the operation is dropped within.
        unsafe { start_scatter(member, root, data, len, own) }?.finish(timeout_ns)?
    }
}
