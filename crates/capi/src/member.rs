//! One participant of a group and the operations it calls.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::Member as Participant;
use corecast::collective::Error;

use crate::argument::{elements_mut, required};
use crate::error::{Failure, call, finish};
use crate::number::{self, Combined, Number};
use crate::status::Status;

/// One participant of a group. One thread at a time uses it.
///
/// All members call the same operations, with the same roots, lengths and types, in the same order. An operation that
/// returns CORECAST_LOST leaves the group failed, for all members: one has panicked, died, left while others waited for it,
/// or called something else; corecast_member_lost says which.
#[derive(Debug)]
pub struct Member {
    participant: Participant,
    /// The member that was lost, once there is one.
    lost: Option<usize>,
}

impl Member {
    pub(crate) fn new(participant: Participant) -> Self {
        Self { participant, lost: None }
    }

    /// What all operations have in common.
    fn operate(&mut self, operation: impl FnOnce(&mut Participant) -> Result<(), Error>) -> Result<(), Failure> {
        operation(&mut self.participant).map_err(|error| {
            if let Error::MemberLost { rank, .. } = error {
                self.lost = Some(rank);
            }
            error.into()
        })
    }

    fn combine<T: Combined>(
        &mut self,
        values: &mut [T],
        op: u32,
        reduce: impl FnOnce(&mut Participant, &mut [T], fn(T, T) -> T) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let combine = T::combination(op)?;
        self.operate(|participant| reduce(participant, values, combine))
    }
}

/// Leaves the group; NULL is none. Others who wait for this member in an operation that it has not begun get CORECAST_LOST.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_leave(member: Option<Box<Member>>) {
    finish(|| drop(member));
}

/// Its number, from 0; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_rank(member: Option<&Member>) -> u32 {
    member.map_or(0, |member| member.participant.rank() as u32)
}

/// The number of members of its group; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_members(member: Option<&Member>) -> u32 {
    member.map_or(0, |member| member.participant.members() as u32)
}

/// The rank of the member that was lost, after CORECAST_LOST; -1 before, and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_lost(member: Option<&Member>) -> i32 {
    member.and_then(|member| member.lost).map_or(-1, |rank| rank as i32)
}

/// Returns when every member has entered. What any member wrote before is visible to all after.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_barrier(member: Option<&mut Member>) -> Status {
    call(|| required(member, "member")?.operate(Participant::barrier))
}

/// The same, waiting at most so long. After CORECAST_TIMEOUT, whose message names who is missing, this member has entered
/// and can only leave.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_barrier_timeout_ns(member: Option<&mut Member>, timeout_ns: u64) -> Status {
    let timeout = Duration::from_nanos(timeout_ns);
    call(|| required(member, "member")?.operate(|participant| participant.barrier_timeout(timeout)))
}

/// Gives the root's `len` bytes to all others, whose `len` bytes they replace. 0 bytes are a message too: it comes when the
/// root has called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_broadcast(
    member: Option<&mut Member>,
    root: u32,
    data: *mut c_void,
    len: usize,
) -> Status {
    call(|| {
        let member = required(member, "member")?;
        // SAFETY: C passes bytes.
        let data = unsafe { elements_mut(data.cast::<u8>(), len, "data") }?;
        member.operate(|participant| participant.broadcast_slice(root as usize, data))
    })
}

/// Combines the `count` numbers of all members, first with first and so on, and leaves the results in the root's `numbers`;
/// what the others' hold afterwards is of no use. `number` is a corecast_number, their type; `op` a corecast_op.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_reduce(
    member: Option<&mut Member>,
    root: u32,
    numbers: *mut c_void,
    count: usize,
    number: u32,
    op: u32,
) -> Status {
    // SAFETY: C passes numbers.
    unsafe { reduce(member, numbers, count, (number, op), Some(root as usize)) }
}

/// The same with the results in all members' `numbers`, the same bits in each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_allreduce(
    member: Option<&mut Member>,
    numbers: *mut c_void,
    count: usize,
    number: u32,
    op: u32,
) -> Status {
    // SAFETY: C passes numbers.
    unsafe { reduce(member, numbers, count, (number, op), None) }
}

/// # Safety
/// - `numbers` is NULL, or readable and writable for `count` numbers of the type, and nobody else reaches them meanwhile.
unsafe fn reduce(
    member: Option<&mut Member>,
    numbers: *mut c_void,
    count: usize,
    (number, op): (u32, u32),
    root: Option<usize>,
) -> Status {
    call(|| {
        let member = required(member, "member")?;
        let reduce = match number::number(number)? {
            Number::Int32 => reduce_of::<i32>,
            Number::Int64 => reduce_of::<i64>,
            Number::Uint32 => reduce_of::<u32>,
            Number::Uint64 => reduce_of::<u64>,
            Number::Float => reduce_of::<f32>,
            Number::Double => reduce_of::<f64>,
        };
        // SAFETY: the caller's promise, for this type.
        unsafe { reduce(member, numbers, count, op, root) }
    })
}

/// # Safety
/// - As for [`reduce`].
unsafe fn reduce_of<T: Combined>(
    member: &mut Member,
    numbers: *mut c_void,
    count: usize,
    op: u32,
    root: Option<usize>,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let numbers = unsafe { elements_mut(numbers.cast::<T>(), count, "numbers") }?;
    member.combine(numbers, op, |participant, numbers, combine| match root {
        Some(root) => participant.reduce_slice(root, numbers, combine),
        None => participant.allreduce_slice(numbers, combine),
    })
}

/// Brings the `len` bytes of each member to the root, where they replace those at `gathered`, by rank; elsewhere `gathered`
/// is not looked at and may be NULL. CORECAST_MISMATCH at the root if members gave different lengths; all were received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_gather(
    member: Option<&mut Member>,
    root: u32,
    data: *const c_void,
    len: usize,
    gathered: *mut c_void,
) -> Status {
    call(|| {
        let member = required(member, "member")?;
        // SAFETY: C passes bytes.
        let data = unsafe { crate::argument::bytes(data, len, "data") }?;
        let is_root = member.participant.rank() == root as usize;
        let room = if is_root { len.saturating_mul(member.participant.members()) } else { 0 };
        // SAFETY: C passes room for the bytes of all members at the root.
        let gathered = unsafe { elements_mut(gathered.cast::<MaybeUninit<u8>>(), room, "gathered") }?;
        let mut found = None;
        member.operate(|participant| {
            found = participant.gather_slice(root as usize, data)?;
            Ok(())
        })?;
        let Some(all) = found else { return Ok(()) };
        if let Some(rank) = all.iter().position(|bytes| bytes.len() != len) {
            let other = all[rank].len();
            return Err(Failure::new(Status::Mismatch, format!("member {rank} gave {other} bytes and not {len}")));
        }
        gathered.iter_mut().zip(all.iter().flatten()).for_each(|(to, &byte)| _ = to.write(byte));
        Ok(())
    })
}
