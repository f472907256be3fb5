//! The receiving end of a ump channel.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::channel::ump::{
    self,
    bytes::{Msg, Receiver},
};

use crate::argument::{give, required, text};
use crate::error::{Failure, call, finish};
use crate::lending::Lending;
use crate::message::{Message, tell};
use crate::region::Region;
use crate::status::Status;

/// The receiving end of a ump channel. One thread at a time uses it. One message is open at a time: receiving the next one
/// releases it.
#[derive(Debug)]
pub struct UmpReceiver(pub(crate) Lending<Receiver, Option<Msg<'static>>>);

impl UmpReceiver {
    pub(super) fn new(end: Receiver) -> Self {
        Self(Lending::new(end))
    }
}

/// What all ways to receive have in common.
fn receive(
    receiver: Option<&mut UmpReceiver>,
    message: Option<&mut MaybeUninit<Message>>,
    receive: impl FnOnce(&'static mut Receiver) -> Result<Msg<'static>, Failure>,
) -> Status {
    call(|| {
        let (receiver, to) = (required(receiver, "receiver")?, required(message, "message")?);
        // SAFETY: the callers below keep the reference in the message alone.
        let lent = unsafe { receiver.0.lend(|end| receive(end).map(Some)) }?;
        tell(to, lent.as_ref().expect("just lent"), 0);
        Ok(())
    })
}

/// Opens the receiving end of the channel with this name: once in the life of a channel. CORECAST_TAKEN if another one has
/// it, CORECAST_DIED if that one died, CORECAST_CLOSED if it has said goodbye, CORECAST_NOT_FOUND if there is no such
/// channel, CORECAST_MISMATCH if it is of another kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ump_receiver_open(
    region: Option<&Region>,
    name: *const c_char,
    receiver: Option<&mut MaybeUninit<*mut UmpReceiver>>,
) -> Status {
    call(|| {
        let (region, to) = (required(region, "region")?, required(receiver, "receiver")?);
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let receiver = ump::bytes::receiver(&region.shared, name)?;
        give(to, UmpReceiver::new(receiver.with_honest(&region.honest())));
        Ok(())
    })
}

/// Closes the end; NULL is none. Its open message is released, and sends fail with CORECAST_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_receiver_close(receiver: Option<Box<UmpReceiver>>) {
    finish(|| drop(receiver));
}

/// Receives, waiting for a message. CORECAST_CLOSED or CORECAST_DIED once everything sent has been received and the sender
/// has said goodbye, or its process is gone.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_receiver_recv(
    receiver: Option<&mut UmpReceiver>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(receiver, message, |end| Ok(end.recv()?))
}

/// The same without waiting: CORECAST_EMPTY if nothing is there.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_receiver_try_recv(
    receiver: Option<&mut UmpReceiver>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(receiver, message, |end| Ok(end.try_recv()?))
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_receiver_recv_timeout_ns(
    receiver: Option<&mut UmpReceiver>,
    timeout_ns: u64,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    receive(receiver, message, |end| Ok(end.recv_timeout(Duration::from_nanos(timeout_ns))?))
}

/// Releases the open message, if there is one: the sender may write there again.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_receiver_release(receiver: Option<&mut UmpReceiver>) -> Status {
    call(|| {
        required(receiver, "receiver")?.0.give_back();
        Ok(())
    })
}

/// Hands up to `max` messages that are there to `each`, and tells their number; the sender is told once that they have been
/// read. A message is released when `each` returns. `each` calls nothing with this receiver, and neither throws nor jumps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ump_receiver_drain(
    receiver: Option<&mut UmpReceiver>,
    max: usize,
    each: Option<unsafe extern "C" fn(context: *mut c_void, message: *const Message)>,
    context: *mut c_void,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let receiver = required(receiver, "receiver")?;
        let (each, count) = (required(each, "each")?, required(count, "count")?);
        let drained = receiver.0.end().drain(max, |bytes| {
            let mut message = MaybeUninit::uninit();
            tell(&mut message, bytes, 0);
            // SAFETY: the caller's function, called as the header says, with a message that was just written.
            unsafe { each(context, message.as_ptr()) };
        })?;
        count.write(drained);
        Ok(())
    })
}
