//! Every other member's end of an acknowledged broadcast.
//!
//! An event that `_recv` gives is a copy that the end owns until its next call; one that `_drain` hands to C's function is lent
//! to that until it returns. The end has its member's place in the group until it is closed.

use std::ffi::c_void;
use std::fmt::Debug;

use corecast::Member as Place;
use corecast::collective::acknowledged::{AckConfig as Settings, AckError, AckFollower as Follower, Event};

use super::{AckConfig, LARGE_WORDS, LINE_WORDS, MESSAGE_WORDS, Room, for_room};
use crate::argument::required;
use crate::error::Failure;
use crate::member::Member;
use crate::message::Message;
use crate::opened::Opened;
use crate::sized::unpack;
use crate::status::Status;

/// A member of a group that receives the root's events, passes them on and acknowledges them. One thread at a time uses it.
///
/// All this happens within its calls, so others wait for a member that does not call. Use it until the broadcast is over:
/// closing it before makes the group fail.
#[derive(Debug)]
pub struct AckFollower {
    opened: Opened<Box<dyn Follow>>,
    /// The event that corecast_ack_follower_recv has given last.
    event: Vec<u8>,
}

impl AckFollower {
    /// Keeps the event that `receive` finds until the next call, and tells where it is.
    fn receive(
        &mut self,
        receive: impl FnOnce(&mut dyn Follow, &mut Vec<u8>) -> Result<Option<u64>, AckError>,
    ) -> Result<(u64, Message), Failure> {
        let Self { opened, event } = self;
        match opened.with(|follower| receive(&mut **follower, event))? {
            Some(number) => Ok((number, Message { data: event.as_ptr().cast(), len: event.len(), number: 0 })),
            None => Err(self.nothing()?),
        }
    }

    /// Hands events to C's function, and returns how many.
    ///
    /// # Safety
    /// - `process` may be called with this context, any number, and bytes.
    unsafe fn drain(
        &mut self,
        process: Process,
        context: *mut c_void,
        drain: impl FnOnce(&mut dyn Follow, &mut dyn FnMut(u64, &[u8])) -> Result<usize, AckError>,
    ) -> Result<usize, Failure> {
        let process = required(process, "process")?;
        let mut process = |number, bytes: &[u8]| {
            // SAFETY: the caller's promise.
            unsafe { process(context, number, bytes.as_ptr().cast(), bytes.len()) };
        };
        match self.opened.with(|follower| drain(&mut **follower, &mut process))? {
            0 => Err(self.nothing()?),
            some => Ok(some),
        }
    }

    /// Why there is no event.
    fn nothing(&mut self) -> Result<Failure, Failure> {
        Ok(match self.opened.with(|follower| Ok::<_, AckError>(follower.is_over()))? {
            true => Failure::new(Status::Closed, "the broadcast is over"),
            false => Failure::new(Status::Empty, "no event has come"),
        })
    }
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

/// A function that processes an event: its number, its bytes.
pub type Process = Option<unsafe extern "C" fn(context: *mut c_void, number: u64, data: *const c_void, len: usize)>;

c_functions! {
    /// Opens an acknowledged broadcast as a member that receives; it fails as corecast_ack_root_open does.
    unsafe fn corecast_ack_follower_open(
        member: &mut Member,
        config: parameters AckConfig
    ) -> (follower: new AckFollower) {
        let (settings, room) = config;
        let open = for_room!(room, follow);
        // SAFETY: the reference to the member is kept only in the returned object.
        let opened = unsafe { Opened::open(member, |place| open(place, settings)) }?;
        AckFollower { opened, event: Vec::new() }
    }

    /// Closes the end; NULL is none. Its member can call other operations again.
    closing fn corecast_ack_follower_close(follower: AckFollower);

    /// Waits for the next event: its number, from 1, and where its bytes are until the next call with this follower, when it
    /// counts as processed. CORECAST_CLOSED if the broadcast is over.
    safe fn corecast_ack_follower_recv(follower: &mut AckFollower) -> (number: u64, message: Message) {
        follower.receive(|follower, event| follower.recv(event))?
    }

    /// The same without waiting: CORECAST_EMPTY if there is no event yet.
    safe fn corecast_ack_follower_try_recv(follower: &mut AckFollower) -> (number: u64, message: Message) {
        follower.receive(|follower, event| follower.try_recv(event))?
    }

    /// Waits for events, and hands all that are there to `process`; the return of `process` acknowledges the event. `count`
    /// is their number. CORECAST_CLOSED if the broadcast is over. `process` makes no call with this follower, and neither
    /// throws nor jumps; it may use the bytes until it returns.
    unsafe fn corecast_ack_follower_drain(
        follower: &mut AckFollower,
        process: Process,
        context: *mut c_void
    ) -> (count: usize) {
        // SAFETY: C passes a function that takes this context.
        unsafe { follower.drain(process, context, |follower, process| follower.drain(process)) }?
    }

    /// The same without waiting: CORECAST_EMPTY if there is no event yet.
    unsafe fn corecast_ack_follower_try_drain(
        follower: &mut AckFollower,
        process: Process,
        context: *mut c_void
    ) -> (count: usize) {
        // SAFETY: C passes a function that takes this context.
        unsafe { follower.drain(process, context, |follower, process| follower.try_drain(process)) }?
    }

    /// Waits until this member has passed on all events that it has processed. A member calls it before it stops calling
    /// for a while, so that others need not wait for it meanwhile.
    safe fn corecast_ack_follower_flush(follower: &mut AckFollower) {
        follower.opened.with(|follower| follower.flush())?
    }
}
