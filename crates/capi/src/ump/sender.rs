//! The sending end of a ump channel.

use std::ffi::c_void;

use corecast::channel::ump::{
    self,
    bytes::{Loan, Sender},
};

use crate::error::Failure;
use crate::lending::Lending;
use crate::message::room;
use crate::region::Region;

/// The sending end of a ump channel. One thread at a time uses it.
#[derive(Debug)]
pub struct UmpSender(Lending<Sender, Option<Loan<'static>>>);

impl UmpSender {
    pub(super) fn new(end: Sender) -> Self {
        Self(Lending::new(end))
    }

    fn reserve(
        &mut self,
        reserve: impl FnOnce(&'static mut Sender) -> Result<Loan<'static>, Failure>,
    ) -> Result<*mut c_void, Failure> {
        // SAFETY: the callers below keep the reference only in the loan.
        let lent = unsafe { self.0.lend(|end| reserve(end).map(Some)) }?;
        Ok(room(lent.as_mut().expect("just lent").bytes(), &mut Vec::new()))
    }
}

c_functions! {
    /// Opens the sending end of the channel with this name. If the last sender's process died, this one goes on behind the last
    /// message that was sent. CORECAST_TAKEN if another one has it, CORECAST_CLOSED if one end has said goodbye,
    /// CORECAST_NOT_FOUND if there is no such channel, CORECAST_MISMATCH if it is of another kind.
    unsafe fn corecast_ump_sender_open(region: &Region, name: text) -> (sender: new UmpSender) {
        UmpSender::new(ump::bytes::sender(&region.shared, name)?.with_honest(&region.honest()))
    }

    /// Closes the end; NULL is none. The receiver gets what was sent, and then CORECAST_CLOSED.
    closing fn corecast_ump_sender_close(sender: UmpSender);

    /// The longest message that the channel takes, in bytes.
    safe fn corecast_ump_sender_longest(sender: &mut UmpSender) -> (bytes: usize) {
        sender.0.end().max_len()
    }

    /// Sends a copy of `len` bytes, waiting for room. CORECAST_TOO_LARGE if the channel takes no message of this length,
    /// CORECAST_CLOSED if the receiver has said goodbye, CORECAST_DIED if its process is gone.
    unsafe fn corecast_ump_sender_send(sender: &mut UmpSender, data: bytes[len]) {
        sender.0.end().send(data)?
    }

    /// The same without waiting: CORECAST_FULL if there is no room.
    unsafe fn corecast_ump_sender_try_send(sender: &mut UmpSender, data: bytes[len]) {
        sender.0.end().try_send(data)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    unsafe fn corecast_ump_sender_send_timeout_ns(sender: &mut UmpSender, data: bytes[len], timeout_ns: Duration) {
        sender.0.end().send_timeout(data, timeout_ns)?
    }

    /// Room for a message of `len` bytes where the receiver will read it, waiting for it. Write there, then commit or abort;
    /// any other call with this sender aborts. At first the room holds what was left there. Fails as corecast_ump_sender_send.
    safe fn corecast_ump_sender_reserve(sender: &mut UmpSender, len: usize) -> (data: *mut c_void) {
        sender.reserve(|end| Ok(end.reserve(len)?))?
    }

    /// The same without waiting: CORECAST_FULL if there is no room.
    safe fn corecast_ump_sender_try_reserve(sender: &mut UmpSender, len: usize) -> (data: *mut c_void) {
        sender.reserve(|end| Ok(end.try_reserve(len)?))?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    safe fn corecast_ump_sender_reserve_timeout_ns(
        sender: &mut UmpSender,
        len: usize,
        timeout_ns: Duration
    ) -> (data: *mut c_void) {
        sender.reserve(|end| Ok(end.reserve_timeout(len, timeout_ns)?))?
    }

    /// Sends the message that was reserved and written. CORECAST_INVALID_ARGUMENT if none is.
    safe fn corecast_ump_sender_commit(sender: &mut UmpSender) {
        let loan = sender.0.lent().take();
        loan.ok_or_else(|| Failure::argument("sender", "has nothing reserved"))?.commit();
    }

    /// Takes the reservation back, if there is one: nothing is sent.
    safe fn corecast_ump_sender_abort(sender: &mut UmpSender) {
        sender.0.give_back();
    }
}
