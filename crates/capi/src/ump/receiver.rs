//! The receiving end of a ump channel.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use corecast::channel::ump::{
    self,
    bytes::{Msg, Receiver},
};

use crate::argument::required;
use crate::error::Failure;
use crate::lending::Lending;
use crate::message::{Message, tell};
use crate::region::Region;

/// The receiving end of a ump channel. One thread at a time uses it. One message is open at a time: receiving the next one
/// releases it.
#[derive(Debug)]
pub struct UmpReceiver(pub(crate) Lending<Receiver, Option<Msg<'static>>>);

impl UmpReceiver {
    pub(super) fn new(end: Receiver) -> Self {
        Self(Lending::new(end))
    }

    /// The part that all ways to receive share.
    fn receive(
        &mut self,
        to: &mut MaybeUninit<Message>,
        receive: impl FnOnce(&'static mut Receiver) -> Result<Msg<'static>, Failure>,
    ) -> Result<(), Failure> {
        // SAFETY: the callers below keep the reference only in the message.
        let lent = unsafe { self.0.lend(|end| receive(end).map(Some)) }?;
        tell(to, lent.as_ref().expect("just lent"), 0);
        Ok(())
    }
}

c_functions! {
    /// Opens the receiving end of the channel with this name: once in the life of a channel. CORECAST_TAKEN if another one has
    /// it, CORECAST_DIED if that one died, CORECAST_CLOSED if it has said goodbye, CORECAST_NOT_FOUND if there is no such
    /// channel, CORECAST_MISMATCH if it is of another kind.
    unsafe fn corecast_ump_receiver_open(region: &Region, name: text) -> (receiver: new UmpReceiver) {
        UmpReceiver::new(ump::bytes::receiver(&region.shared, name)?.with_honest(&region.honest()))
    }

    /// Closes the end; NULL is none. Its open message is released, and sends fail with CORECAST_CLOSED.
    closing fn corecast_ump_receiver_close(receiver: UmpReceiver);

    /// Receives, waiting for a message. CORECAST_CLOSED or CORECAST_DIED once everything sent has been received and the sender
    /// has said goodbye, or its process is gone.
    safe fn corecast_ump_receiver_recv(receiver: &mut UmpReceiver, message: out Message) {
        receiver.receive(message, |end| Ok(end.recv()?))?
    }

    /// The same without waiting: CORECAST_EMPTY if nothing is there.
    safe fn corecast_ump_receiver_try_recv(receiver: &mut UmpReceiver, message: out Message) {
        receiver.receive(message, |end| Ok(end.try_recv()?))?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    safe fn corecast_ump_receiver_recv_timeout_ns(
        receiver: &mut UmpReceiver,
        timeout_ns: Duration,
        message: out Message
    ) {
        receiver.receive(message, |end| Ok(end.recv_timeout(timeout_ns)?))?
    }

    /// Releases the open message, if there is one: the sender may write there again.
    safe fn corecast_ump_receiver_release(receiver: &mut UmpReceiver) {
        receiver.0.give_back();
    }

    /// Hands up to `max` messages that are there to `each`, and writes their number to `count`; the sender learns once that
    /// they have been read. A message is released when `each` returns. `each` makes no call with this receiver, and neither
    /// throws nor jumps.
    unsafe fn corecast_ump_receiver_drain(
        receiver: &mut UmpReceiver,
        max: usize,
        each: Option<unsafe extern "C" fn(context: *mut c_void, message: *const Message)>,
        context: *mut c_void
    ) -> (count: usize) {
        let each = required(each, "each")?;
        receiver.0.end().drain(max, |bytes| {
            let mut message = MaybeUninit::uninit();
            tell(&mut message, bytes, 0);
            // SAFETY: the caller's function, called as the header says, with a message that was just written.
            unsafe { each(context, message.as_ptr()) };
        })?
    }
}
