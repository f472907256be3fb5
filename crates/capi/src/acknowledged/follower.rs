//! Every other member's end of an acknowledged broadcast.
//!
//! An event that `_recv` gives is a copy that the end owns until its next call; one that `_drain` hands to C's function is lent
//! to that until it returns. The end has its member's place in the group until it is closed.

use std::ffi::c_void;
use std::fmt::Debug;
use std::mem::MaybeUninit;

use corecast::Member as Place;
use corecast::collective::acknowledged::{AckConfig as Settings, AckError, AckFollower as Follower, Event};

use super::{AckConfig, LARGE_WORDS, LINE_WORDS, MESSAGE_WORDS, Room, for_room};
use crate::argument::{give, required};
use crate::error::{Failure, call, finish};
use crate::member::Member;
use crate::message::Message;
use crate::opened::Opened;
use crate::sized::unpack;
use crate::status::Status;

/// A member of a group that receives the root's events, passes them on and acknowledges them. One thread at a time uses it.
///
/// All this happens within its calls, so others wait for a member that does not call. To be used until the broadcast is over:
/// closed before, it makes the group fail.
#[derive(Debug)]
pub struct AckFollower {
    opened: Opened<Box<dyn Follow>>,
    /// The event that corecast_ack_follower_recv has given last.
    event: Vec<u8>,
}

/// A follower of events of some size.
trait Follow: Debug {
    fn drain(&mut self, process: &mut dyn FnMut(u64, &[u8])) -> Result<usize, AckError>;
    fn try_drain(&mut self, process: &mut dyn FnMut(u64, &[u8])) -> Result<usize, AckError>;
    fn recv(&mut self, event: &mut Vec<u8>) -> Result<Option<u64>, AckError>;
    fn try_recv(&mut self, event: &mut Vec<u8>) -> Result<Option<u64>, AckError>;
    fn flush(&mut self) -> Result<(), AckError>;
    fn is_over(&self) -> bool;
}

/// Keeps the bytes of an event, and returns its number.
fn keep<const WORDS: usize>(event: Event<[u64; WORDS]>, bytes: &mut Vec<u8>) -> u64 {
    bytes.clear();
    bytes.extend_from_slice(unpack(&event.value));
    event.number
}

impl<const WORDS: usize> Follow for Follower<'static, [u64; WORDS]> {
    fn drain(&mut self, process: &mut dyn FnMut(u64, &[u8])) -> Result<usize, AckError> {
        Follower::drain(self, |event| process(event.number, unpack(&event.value)))
    }

    fn try_drain(&mut self, process: &mut dyn FnMut(u64, &[u8])) -> Result<usize, AckError> {
        Follower::try_drain(self, |event| process(event.number, unpack(&event.value)))
    }

    fn recv(&mut self, bytes: &mut Vec<u8>) -> Result<Option<u64>, AckError> {
        Ok(Follower::recv(self)?.map(|event| keep(event, bytes)))
    }

    fn try_recv(&mut self, bytes: &mut Vec<u8>) -> Result<Option<u64>, AckError> {
        Ok(Follower::try_recv(self)?.map(|event| keep(event, bytes)))
    }

    fn flush(&mut self) -> Result<(), AckError> {
        Follower::flush(self)
    }

    fn is_over(&self) -> bool {
        Follower::is_over(self)
    }
}

fn follow<const WORDS: usize>(place: &'static mut Place, settings: Settings) -> Result<Box<dyn Follow>, AckError> {
    Ok(Box::new(place.ack_follower::<[u64; WORDS]>(settings)?))
}

/// Opens an acknowledged broadcast as a member that receives; what it returns is told at corecast_ack_root_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ack_follower_open(
    member: Option<&mut Member>,
    config: *const AckConfig,
    follower: Option<&mut MaybeUninit<*mut AckFollower>>,
) -> Status {
    call(|| {
        let (member, to) = (required(member, "member")?, required(follower, "follower")?);
        // SAFETY: C passes parameters.
        let (settings, room) = unsafe { AckConfig::read(config) }?;
        let open = for_room!(room, follow);
        // SAFETY: the member is kept in what is returned alone.
        let opened = unsafe { Opened::open(member, |place| open(place, settings)) }?;
        give(to, AckFollower { opened, event: Vec::new() });
        Ok(())
    })
}

/// Closes the end; NULL is none. Its member can call other operations again.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ack_follower_close(follower: Option<Box<AckFollower>>) {
    finish(|| drop(follower));
}

/// Waits for the next event: its number, from 1, and where its bytes are until the next call with this follower, when it
/// counts as processed. CORECAST_CLOSED if the broadcast is over.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ack_follower_recv(
    follower: Option<&mut AckFollower>,
    number: Option<&mut MaybeUninit<u64>>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(follower, number, message, |follower, event| follower.recv(event))
}

/// The same without waiting: CORECAST_EMPTY if there is no event yet.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ack_follower_try_recv(
    follower: Option<&mut AckFollower>,
    number: Option<&mut MaybeUninit<u64>>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(follower, number, message, |follower, event| follower.try_recv(event))
}

fn receive(
    follower: Option<&mut AckFollower>,
    number: Option<&mut MaybeUninit<u64>>,
    message: Option<&mut MaybeUninit<Message>>,
    receive: impl FnOnce(&mut Box<dyn Follow>, &mut Vec<u8>) -> Result<Option<u64>, AckError>,
) -> Status {
    call(|| {
        let AckFollower { opened, event } = required(follower, "follower")?;
        let (number, message) = (required(number, "number")?, required(message, "message")?);
        let Some(found) = opened.with(|follower| receive(follower, event))? else {
            return Err(nothing(opened.with(|follower| Ok::<_, AckError>(follower.is_over()))?));
        };
        number.write(found);
        message.write(Message { data: event.as_ptr().cast(), len: event.len(), number: 0 });
        Ok(())
    })
}

fn nothing(is_over: bool) -> Failure {
    match is_over {
        true => Failure::new(Status::Closed, "the broadcast is over"),
        false => Failure::new(Status::Empty, "no event has come"),
    }
}

/// What processes an event: its number, its bytes.
pub type Process = Option<unsafe extern "C" fn(context: *mut c_void, number: u64, data: *const c_void, len: usize)>;

/// Waits for events, and hands all that are there to `process`, which acknowledges each when it returns; `count` is how
/// many. CORECAST_CLOSED if the broadcast is over. `process` calls nothing with this follower, and neither throws nor jumps;
/// the bytes are its until it returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ack_follower_drain(
    follower: Option<&mut AckFollower>,
    process: Process,
    context: *mut c_void,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    // SAFETY: C passes a function that takes this context.
    unsafe { drain(follower, process, context, count, |follower, process| follower.drain(process)) }
}

/// The same without waiting: CORECAST_EMPTY if there is no event yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ack_follower_try_drain(
    follower: Option<&mut AckFollower>,
    process: Process,
    context: *mut c_void,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    // SAFETY: C passes a function that takes this context.
    unsafe { drain(follower, process, context, count, |follower, process| follower.try_drain(process)) }
}

/// # Safety
/// - `process` may be called with this context, any number, and bytes.
unsafe fn drain(
    follower: Option<&mut AckFollower>,
    process: Process,
    context: *mut c_void,
    count: Option<&mut MaybeUninit<usize>>,
    drain: impl FnOnce(&mut dyn Follow, &mut dyn FnMut(u64, &[u8])) -> Result<usize, AckError>,
) -> Status {
    call(|| {
        let (follower, to) = (required(follower, "follower")?, required(count, "count")?);
        let process = required(process, "process")?;
        let mut process = |number, bytes: &[u8]| {
            // SAFETY: the caller's promise.
            unsafe { process(context, number, bytes.as_ptr().cast(), bytes.len()) };
        };
        match follower.opened.with(|follower| drain(&mut **follower, &mut process))? {
            0 => Err(nothing(follower.opened.with(|follower| Ok::<_, AckError>(follower.is_over()))?)),
            some => {
                to.write(some);
                Ok(())
            }
        }
    })
}

/// Waits until this member has passed on all events that it has processed. For a member that will not call for a while, so
/// that others need not wait for it meanwhile.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ack_follower_flush(follower: Option<&mut AckFollower>) -> Status {
    call(|| required(follower, "follower")?.opened.with(|follower| follower.flush()))
}
