//! Operations that are started now and finished later, and operations with a limit on the time they may take.

use std::ffi::c_void;
use std::fmt;
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::Member as Place;
use corecast::collective::{Error, Plain, Started as Operation};

use crate::argument::{elements_mut, give, required};
use crate::error::{Failure, call, finish};
use crate::member::Member;
use crate::number::{ForNumbers, for_numbers};
use crate::opened::Opened;
use crate::sized::{LINE_BYTES, LINE_WORDS, MESSAGE_BYTES, MESSAGE_WORDS, as_bytes, pack};
use crate::status::Status;

/// An operation that a member has started. One thread at a time uses it.
///
/// What others wait for from this member happens only while it is inside one of the calls that finish it. Whoever has
/// started an operation may only finish it, or leave: closed before, the member can do nothing else, and its leaving makes
/// the group fail. `data` and `numbers` are the operation's until it is finished: they hold the result then.
///
/// All members start an operation, or give it a limit, or none does: the plain ones go another way. Where members give
/// other lengths or types, whoever gets the result is told CORECAST_MISMATCH, or all are told CORECAST_LOST.
#[derive(Debug)]
pub struct Started {
    opened: Opened<Box<dyn Steps>, Value>,
    /// What is to come; `None` once it is there.
    result: Option<Awaited>,
}

/// A value on its way to all; of one that travels in a line only the first words.
type Value = [u64; MESSAGE_WORDS];

/// The result as its member expects it.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    room: Room,
    /// The first word of a value that fits.
    tag: u64,
    /// True if it is in the value that was given.
    is_in_value: bool,
}

/// Bytes of the caller.
#[derive(Debug, Clone, Copy)]
struct Room {
    data: *mut u8,
    len: usize,
}

impl Room {
    /// # Safety
    /// - `data` is NULL, or readable and writable for `len` bytes, which nobody else reaches until the result is there.
    unsafe fn new(data: *mut u8, len: usize, name: &'static str) -> Result<Self, Failure> {
        if len > MESSAGE_BYTES {
            let message = format!("a value that is started has at most {MESSAGE_BYTES} bytes, not {len}");
            return Err(Failure::new(Status::TooLarge, message));
        }
        // SAFETY: the caller's promise.
        unsafe { elements_mut(data, len, name) }?;
        Ok(Self { data, len })
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: what was promised, and checked, when this was made.
        unsafe { elements_mut(self.data, self.len, "data") }.unwrap_or_default()
    }

    /// As a value that is combined, marked with a tag.
    fn tagged<const WORDS: usize>(&mut self, tag: u64) -> [u64; WORDS] {
        let mut value = pack(self.bytes()).expect(FITS);
        value[0] = tag;
        value
    }
}

/// The length was checked.
const FITS: &str = "a value that was refused if it does not fit";

/// A started operation on values of some type.
trait Steps {
    fn try_finish(&mut self) -> Result<bool, Error>;
    /// The result, if this member gets one that is not in the value that was given.
    fn finish(&mut self, limit: Duration) -> Result<Option<Vec<u64>>, Error>;
}

impl<R: Given> Steps for Operation<'static, R> {
    fn try_finish(&mut self) -> Result<bool, Error> {
        Operation::try_finish(self)
    }

    fn finish(&mut self, limit: Duration) -> Result<Option<Vec<u64>>, Error> {
        self.finish_timeout(limit).map(Given::words)
    }
}

impl fmt::Debug for dyn Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").finish_non_exhaustive()
    }
}

/// What an operation gives.
trait Given: 'static {
    fn words(self) -> Option<Vec<u64>>;
}

impl Given for () {
    fn words(self) -> Option<Vec<u64>> {
        None
    }
}

impl<const WORDS: usize> Given for [u64; WORDS] {
    fn words(self) -> Option<Vec<u64>> {
        Some(self.to_vec())
    }
}

impl<const WORDS: usize> Given for Option<[u64; WORDS]> {
    fn words(self) -> Option<Vec<u64>> {
        self.map(|words| words.to_vec())
    }
}

impl Started {
    /// # Safety
    /// - `start` keeps the references nowhere but in what it returns.
    unsafe fn start<R: Given>(
        member: &mut Member,
        value: Value,
        result: Awaited,
        start: impl FnOnce(&'static mut Place, &'static mut Value) -> Result<Operation<'static, R>, Error>,
    ) -> Result<Self, Failure> {
        let start = |place, value| start(place, value).map(|operation| Box::new(operation) as Box<dyn Steps>);
        // SAFETY: the caller's promise.
        let opened = unsafe { Opened::open(member, value, start) }?;
        Ok(Self { opened, result: Some(result) })
    }

    fn barrier(member: &mut Member) -> Result<Self, Failure> {
        let nothing = Awaited { room: Room { data: std::ptr::null_mut(), len: 0 }, tag: 0, is_in_value: false };
        // SAFETY: the member is kept in what is returned alone.
        unsafe { Self::start(member, [0; MESSAGE_WORDS], nothing, |place, _| place.start_barrier()) }
    }

    fn broadcast(member: &mut Member, root: usize, mut room: Room) -> Result<Self, Failure> {
        let value = pack(room.bytes()).expect(FITS);
        let result = Awaited { room, tag: room.len as u64, is_in_value: true };
        let start = if room.len <= LINE_BYTES { broadcast::<LINE_WORDS> } else { broadcast::<MESSAGE_WORDS> };
        // SAFETY: member and value are kept in what is returned alone.
        unsafe { Self::start(member, value, result, |place, value| start(place, root, value)) }
    }

    /// Waits for the result, and writes it where the caller wants it.
    fn finish(&mut self, limit: Duration) -> Result<(), Failure> {
        let Some(mut result) = self.result else { return Ok(()) };
        let given = self.opened.with(|steps| steps.finish(limit))?;
        self.result = None;
        let words = match &given {
            Some(words) => words,
            None if result.is_in_value => self.opened.value_at_end().as_slice(),
            None => return Ok(()),
        };
        if words[0] != result.tag {
            return Err(Failure::new(Status::Mismatch, "the members did not give values of one length and type"));
        }
        let len = result.room.len;
        result.room.bytes().copy_from_slice(&as_bytes(&words[1..])[..len]);
        Ok(())
    }
}

fn broadcast<const WORDS: usize>(
    place: &'static mut Place,
    root: usize,
    value: &'static mut Value,
) -> Result<Operation<'static, ()>, Error> {
    place.start_broadcast(root, value.first_chunk_mut::<WORDS>().expect("a line is shorter than a message"))
}

/// A reduction of the numbers there, to all where there is no root.
struct Reduction<'a> {
    member: Option<&'a mut Member>,
    numbers: *mut c_void,
    root: Option<usize>,
    /// The type and what combines, as they were passed.
    kind: (u32, u32),
}

impl ForNumbers for Reduction<'_> {
    type Output = Started;

    fn with<T: Plain>(self, count: usize, combine: fn(T, T) -> T) -> Result<Started, Failure> {
        // SAFETY: C passes as many numbers of this type, readable and writable, which nobody else reaches meanwhile.
        let room = unsafe { Room::new(self.numbers.cast(), count.saturating_mul(size_of::<T>()), "numbers") }?;
        match room.len {
            ..=LINE_BYTES => self.start::<T, LINE_WORDS>(room, combine),
            _ => self.start::<T, MESSAGE_WORDS>(room, combine),
        }
    }
}

impl Reduction<'_> {
    fn start<T: Plain, const WORDS: usize>(self, mut room: Room, combine: fn(T, T) -> T) -> Result<Started, Failure> {
        let Self { member, root, kind: (number, op), .. } = self;
        let tag = room.len as u64 | u64::from(number) << 16 | u64::from(op) << 24;
        let (value, result) = (room.tagged::<WORDS>(tag), Awaited { room, tag, is_in_value: false });
        let combine = move |left, right| combine_words(left, &right, room.len, combine);
        let (member, nothing) = (required(member, "member")?, [0; MESSAGE_WORDS]);
        match root {
            Some(root) => {
                let start = |place: &'static mut Place, _| place.start_reduce(root, value, combine);
                // SAFETY: the member is kept in what is returned alone.
                unsafe { Started::start(member, nothing, result, start) }
            }
            None => {
                let start = |place: &'static mut Place, _| place.start_allreduce(value, combine);
                // SAFETY: the member is kept in what is returned alone.
                unsafe { Started::start(member, nothing, result, start) }
            }
        }
    }
}

/// The tag of a value that was made of values of different ones.
const MIXED: u64 = u64::MAX;

/// Combines the `len` bytes of values behind two tags, if these are the same.
fn combine_words<T: Plain, const WORDS: usize>(
    mut left: [u64; WORDS],
    right: &[u64; WORDS],
    len: usize,
    combine: fn(T, T) -> T,
) -> [u64; WORDS] {
    if left[0] != right[0] {
        left[0] = MIXED;
        return left;
    }
    const { assert!(align_of::<T>() <= align_of::<u64>() && size_of::<T>() > 0) };
    let count = len / size_of::<T>();
    let (own, other) = (left[1..].as_mut_ptr().cast::<T>(), right[1..].as_ptr().cast::<T>());
    // SAFETY: the values fit in, as the length was checked, are aligned as words are, and any bytes are plain values.
    let own = unsafe { std::slice::from_raw_parts_mut(own, count) };
    // SAFETY: the same.
    let other = unsafe { std::slice::from_raw_parts(other, count) };
    own.iter_mut().zip(other).for_each(|(own, other)| *own = combine(*own, *other));
    left
}

/// Makes an operation, and gives it to C.
fn give_started(
    started: Option<&mut MaybeUninit<*mut Started>>,
    start: impl FnOnce() -> Result<Started, Failure>,
) -> Status {
    call(|| {
        let to = required(started, "started")?;
        give(to, start()?);
        Ok(())
    })
}

/// Enters the barrier, and returns before the others have.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_member_start_barrier(
    member: Option<&mut Member>,
    started: Option<&mut MaybeUninit<*mut Started>>,
) -> Status {
    give_started(started, || Started::barrier(required(member, "member")?))
}

/// Begins to give the root's `len` bytes to all others. CORECAST_TOO_LARGE for more than 496.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_member_start_broadcast(
    member: Option<&mut Member>,
    root: u32,
    data: *mut c_void,
    len: usize,
    started: Option<&mut MaybeUninit<*mut Started>>,
) -> Status {
    give_started(started, || {
        let member = required(member, "member")?;
        // SAFETY: C passes bytes, and leaves them until the operation is finished.
        Started::broadcast(member, root as usize, unsafe { Room::new(data.cast(), len, "data") }?)
    })
}

/// Begins to combine the `count` numbers of all members for the root, as corecast_member_reduce does; elsewhere `numbers` stay
/// as they are. CORECAST_TOO_LARGE for more than 496 bytes.
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
    let reduction = Reduction { member, numbers, root: Some(root as usize), kind: (number, op) };
    give_started(started, || for_numbers(number, op, count, reduction))
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
    let reduction = Reduction { member, numbers, root: None, kind: (number, op) };
    give_started(started, || for_numbers(number, op, count, reduction))
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
        let is_finished = started.result.is_none() || started.opened.with(|steps| steps.try_finish())?;
        if is_finished {
            started.finish(Duration::MAX)?;
        }
        to.write(is_finished);
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
    call(|| {
        let member = required(member, "member")?;
        // SAFETY: C passes bytes.
        let room = unsafe { Room::new(data.cast(), len, "data") }?;
        Started::broadcast(member, root as usize, room)?.finish(Duration::from_nanos(timeout_ns))
    })
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
    let reduction = Reduction { member, numbers, root: Some(root as usize), kind: (number, op) };
    call(|| for_numbers(number, op, count, reduction)?.finish(Duration::from_nanos(timeout_ns)))
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
    let reduction = Reduction { member, numbers, root: None, kind: (number, op) };
    call(|| for_numbers(number, op, count, reduction)?.finish(Duration::from_nanos(timeout_ns)))
}
