//! The root's end of an acknowledged broadcast.
//!
//! An event is copied when it is published, and is C's again when the call returns. The end has its member's place in the
//! group until it is closed; `_finish` ends the broadcast for all, after which it can only be closed.

use std::fmt::Debug;
use std::time::Duration;

use corecast::Member as Place;
use corecast::collective::acknowledged::{AckConfig as Settings, AckError, AckRoot as Root};

use super::{AckConfig, LARGE_WORDS, LINE_WORDS, MESSAGE_WORDS, Room, for_room, too_large};
use crate::argument::within;
use crate::error::Failure;
use crate::member::Member;
use crate::opened::Opened;
use crate::sized::pack;

/// The member of a group that publishes events to all others, and learns which events they have acknowledged. One thread at
/// a time uses it.
///
/// Its room in the group's memory stays taken for as long as the group lives.
#[derive(Debug)]
pub struct AckRoot {
    opened: Opened<Box<dyn Publish>>,
    room: Room,
}

impl AckRoot {
    fn publish(
        &mut self,
        event: &[u8],
        publish: impl FnOnce(&mut dyn Publish, &[u8]) -> Result<u64, AckError>,
    ) -> Result<u64, Failure> {
        if event.len() > self.room.bytes() {
            return Err(too_large(event.len(), self.room.bytes()));
        }
        self.opened.with(|root| publish(&mut **root, event))
    }

    fn wait(&mut self, number: u64, longest: Option<Duration>) -> Result<(), Failure> {
        let published = self.opened.with(|root| Ok::<_, AckError>(root.published()))?;
        within(number, 0, published, "number")?;
        self.opened.with(|root| root.wait(number, longest))
    }
}

/// The root of events of some size.
trait Publish: Debug {
    fn publish(&mut self, event: &[u8]) -> Result<u64, AckError>;
    fn try_publish(&mut self, event: &[u8]) -> Result<u64, AckError>;
    fn acked(&mut self) -> Result<u64, AckError>;
    fn published(&self) -> u64;
    fn wait(&mut self, number: u64, longest: Option<Duration>) -> Result<(), AckError>;
    fn finish(self: Box<Self>) -> Result<(), AckError>;
}

/// The length was checked.
const FITS: &str = "an event that was refused if it does not fit";

impl<const WORDS: usize> Publish for Root<'static, [u64; WORDS]> {
    fn publish(&mut self, event: &[u8]) -> Result<u64, AckError> {
        Root::publish(self, &pack(event).expect(FITS))
    }

    fn try_publish(&mut self, event: &[u8]) -> Result<u64, AckError> {
        Root::try_publish(self, &pack(event).expect(FITS))
    }

    fn acked(&mut self) -> Result<u64, AckError> {
        Root::acked(self)
    }

    fn published(&self) -> u64 {
        Root::published(self)
    }

    fn wait(&mut self, number: u64, longest: Option<Duration>) -> Result<(), AckError> {
        match longest {
            Some(longest) => self.wait_timeout(number, longest),
            None => Root::wait(self, number),
        }
    }

    fn finish(self: Box<Self>) -> Result<(), AckError> {
        self.close()
    }
}

fn publish<const WORDS: usize>(place: &'static mut Place, settings: Settings) -> Result<Box<dyn Publish>, AckError> {
    Ok(Box::new(place.ack_root::<[u64; WORDS]>(settings)?))
}

c_functions! {
    /// Opens an acknowledged broadcast as its root, while all others call corecast_ack_follower_open with the same
    /// `config`. CORECAST_MISMATCH at all members if they do not agree on it, CORECAST_INVALID_ARGUMENT at members whose
    /// own is invalid or names another root; the group has not failed then. CORECAST_SYSTEM if the group's memory is used
    /// up. A number that no enumeration has, or CORECAST_TOO_LARGE for events of more than 4088 bytes, counts as if the
    /// member had not called.
    unsafe fn corecast_ack_root_open(member: &mut Member, config: parameters AckConfig) -> (root: new AckRoot) {
        let (settings, room) = config;
        let open = for_room!(room, publish);
        // SAFETY: the reference to the member is kept only in the returned object.
        let opened = unsafe { Opened::open(member, |place| open(place, settings)) }?;
        AckRoot { opened, room }
    }

    /// Closes the end; NULL is none. Its member can call other operations again. A broadcast that corecast_ack_root_finish
    /// has not ended makes the group fail, so that no member waits for more events in vain.
    closing fn corecast_ack_root_close(root: AckRoot);

    /// Publishes an event of `len` bytes, waiting while the window is full; `number` is its number, from 1. CORECAST_TOO_LARGE
    /// for more bytes than there is room for.
    unsafe fn corecast_ack_root_publish(root: &mut AckRoot, data: bytes[len]) -> (number: u64) {
        root.publish(data, |root, event| root.publish(event))?
    }

    /// The same without waiting: CORECAST_FULL if the window is full.
    unsafe fn corecast_ack_root_try_publish(root: &mut AckRoot, data: bytes[len]) -> (number: u64) {
        root.publish(data, |root, event| root.try_publish(event))?
    }

    /// The last event that all other members have acknowledged, and with it all before; 0 for none.
    safe fn corecast_ack_root_acked(root: &mut AckRoot) -> (number: u64) {
        root.opened.with(|root| root.acked())?
    }

    /// Returns when all other members have acknowledged the event of this number, which has been published.
    safe fn corecast_ack_root_wait(root: &mut AckRoot, number: u64) {
        root.wait(number, None)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT. The event stays published.
    safe fn corecast_ack_root_wait_timeout_ns(root: &mut AckRoot, number: u64, timeout_ns: Duration) {
        root.wait(number, Some(timeout_ns))?
    }

    /// Waits until all other members have acknowledged all events, and ends the broadcast: they learn that no event
    /// follows. Then close it.
    safe fn corecast_ack_root_finish(root: &mut AckRoot) {
        root.opened.end(Publish::finish)?
    }
}
