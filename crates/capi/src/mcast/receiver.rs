//! A receiving end of a mcast channel.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::channel::mcast::{
    self,
    bytes::{Msg, Receiver},
};

use super::policy;
use crate::argument::{give, required, text};
use crate::error::{Failure, call, finish};
use crate::lending::Lending;
use crate::message::{Message, tell};
use crate::region::Region;
use crate::status::Status;

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
        // SAFETY: the reference is kept in the message alone, and this end is lent in no other way.
        let received = unsafe { self.end.lend_more(open) };
        received.inspect_err(|failure: &Failure| self.missed += failure.missed)
    }
}

/// What all ways to receive have in common.
fn receive(
    receiver: Option<&mut McastReceiver>,
    message: Option<&mut MaybeUninit<Message>>,
    receive: impl FnOnce(&'static Receiver) -> Result<Msg<'static>, Failure>,
) -> Status {
    call(|| required(receiver, "receiver")?.receive(required(message, "message")?, receive))
}

/// Opens a reader of what is sent through the channel with this name from now on, with a corecast_mcast_policy;
/// `deadline_ns` means something for CORECAST_MCAST_POLICY_DEADLINE only. CORECAST_TAKEN if it takes no more readers,
/// CORECAST_NOT_FOUND if there is no such channel, CORECAST_MISMATCH if it is of another kind, CORECAST_INVALID_ARGUMENT if
/// it never overwrites and the policy is not the reliable one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_mcast_receiver_open(
    region: Option<&Region>,
    name: *const c_char,
    policy: u32,
    deadline_ns: u64,
    receiver: Option<&mut MaybeUninit<*mut McastReceiver>>,
) -> Status {
    call(|| {
        let (region, to) = (required(region, "region")?, required(receiver, "receiver")?);
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let policy = self::policy(policy, deadline_ns)?;
        let receiver = mcast::bytes::receiver(&region.shared, name, policy)?;
        give(to, McastReceiver::new(receiver.with_honest(&region.honest())));
        Ok(())
    })
}

/// Closes the end; NULL is none. Its open messages are released, and senders wait for it no more.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_receiver_close(receiver: Option<Box<McastReceiver>>) {
    finish(|| drop(receiver));
}

/// Receives, waiting for a message. CORECAST_LAGGED, once, if messages were missed; CORECAST_CLOSED or CORECAST_DIED once
/// everything sent has been received and no sender is left.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_receiver_recv(
    receiver: Option<&mut McastReceiver>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(receiver, message, |end| Ok(end.recv()?))
}

/// The same without waiting: CORECAST_EMPTY if nothing is there.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_receiver_try_recv(
    receiver: Option<&mut McastReceiver>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(receiver, message, |end| Ok(end.try_recv()?))
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_receiver_recv_timeout_ns(
    receiver: Option<&mut McastReceiver>,
    timeout_ns: u64,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(receiver, message, |end| Ok(end.recv_timeout(Duration::from_nanos(timeout_ns))?))
}

/// Releases a message. CORECAST_INVALID_ARGUMENT if it is not open.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_receiver_release(
    receiver: Option<&mut McastReceiver>,
    message: Option<&Message>,
) -> Status {
    call(|| {
        let (receiver, message) = (required(receiver, "receiver")?, required(message, "message")?);
        let number = usize::try_from(message.number).ok();
        let place = number.and_then(|number| receiver.end.lent().get_mut(number));
        let open = place.and_then(Option::take).ok_or_else(|| Failure::argument("message", "is not open"))?;
        drop(open);
        Ok(())
    })
}

/// How many messages this reader has been told it missed, in all.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_receiver_missed(
    receiver: Option<&McastReceiver>,
    count: Option<&mut MaybeUninit<u64>>,
) -> Status {
    call(|| {
        let (receiver, count) = (required(receiver, "receiver")?, required(count, "count")?);
        count.write(receiver.missed);
        Ok(())
    })
}
