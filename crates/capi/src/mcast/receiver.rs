//! A receiving end of a mcast channel.

use std::mem::MaybeUninit;

use corecast::channel::mcast::{
    self,
    bytes::{Msg, Receiver},
};

use super::policy;
use crate::error::Failure;
use crate::lending::Lending;
use crate::message::{Message, tell};
use crate::region::Region;

/// A receiving end of a mcast channel. One thread at a time uses it. Several messages can be open at a time, and are
/// released in any order; while a reliable reader has one open nothing is written there, so that senders wait for it in
/// the end.
#[derive(Debug)]
pub struct McastReceiver {
    pub(crate) end: Lending<Receiver, Vec<Option<Msg<'static>>>>,
    missed: u64,
}

impl McastReceiver {
    pub(super) fn new(end: Receiver) -> Self {
        Self { end: Lending::new(end), missed: 0 }
    }

    fn receive(
        &mut self,
        to: &mut MaybeUninit<Message>,
        receive: impl FnOnce(&'static Receiver) -> Result<Msg<'static>, Failure>,
    ) -> Result<(), Failure> {
        let open = |end: &'static Receiver, open: &mut Vec<Option<Msg<'static>>>| {
            let message = receive(end)?;
            let number = open.iter().position(Option::is_none).unwrap_or(open.len());
            tell(to, &message.bytes(), number as u64);
            if number == open.len() {
                open.push(None);
            }
            open[number] = Some(message);
            Ok(())
        };
        // SAFETY: the reference is kept only in the message, and this end is lent in no other way.
        let received = unsafe { self.end.lend_more(open) };
        received.inspect_err(|failure: &Failure| self.missed += failure.missed)
    }
}

c_functions! {
    /// Opens a reader of what is sent through the channel with this name from now on, with a corecast_mcast_policy;
    /// `deadline_ns` matters only for CORECAST_MCAST_POLICY_DEADLINE. CORECAST_TAKEN if it takes no more readers,
    /// CORECAST_NOT_FOUND if there is no such channel, CORECAST_MISMATCH if it is of another kind,
    /// CORECAST_INVALID_ARGUMENT if it never overwrites and the policy is not the reliable one.
    unsafe fn corecast_mcast_receiver_open(
        region: &Region,
        name: text,
        policy: u32,
        deadline_ns: Duration
    ) -> (receiver: new McastReceiver) {
        let receiver = mcast::bytes::receiver(&region.shared, name, self::policy(policy, deadline_ns)?)?;
        McastReceiver::new(receiver.with_honest(&region.honest()))
    }

    /// Closes the end; NULL is none. Its open messages are released, and senders wait for it no more.
    closing fn corecast_mcast_receiver_close(receiver: McastReceiver);

    /// Receives, waiting for a message. CORECAST_LAGGED, once, if messages were missed; CORECAST_CLOSED or CORECAST_DIED once
    /// everything sent has been received and no sender is left.
    safe fn corecast_mcast_receiver_recv(receiver: &mut McastReceiver, message: out Message) {
        receiver.receive(message, |end| Ok(end.recv()?))?
    }

    /// The same without waiting: CORECAST_EMPTY if nothing is there.
    safe fn corecast_mcast_receiver_try_recv(receiver: &mut McastReceiver, message: out Message) {
        receiver.receive(message, |end| Ok(end.try_recv()?))?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    safe fn corecast_mcast_receiver_recv_timeout_ns(
        receiver: &mut McastReceiver,
        timeout_ns: Duration,
        message: out Message
    ) {
        receiver.receive(message, |end| Ok(end.recv_timeout(timeout_ns)?))?
    }

    /// Releases a message. CORECAST_INVALID_ARGUMENT if it is not open.
    safe fn corecast_mcast_receiver_release(receiver: &mut McastReceiver, message: &Message) {
        let number = usize::try_from(message.number).ok();
        let place = number.and_then(|number| receiver.end.lent().get_mut(number));
        drop(place.and_then(Option::take).ok_or_else(|| Failure::argument("message", "is not open"))?);
    }

    /// How many messages this reader has missed in all, as CORECAST_LAGGED reported them.
    safe fn corecast_mcast_receiver_missed(receiver: &McastReceiver) -> (count: u64) {
        receiver.missed
    }
}
