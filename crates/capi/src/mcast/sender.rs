//! A sending end of a mcast channel.

use std::ffi::c_void;

use corecast::channel::TrySendError;
use corecast::channel::mcast::{
    self,
    bytes::{Loan, Sender},
};

use super::policy;
use super::receiver::McastReceiver;
use crate::error::Failure;
use crate::lending::Lending;
use crate::message::room;
use crate::region::Region;

/// A sending end of a mcast channel. One thread at a time uses it. Any call but those that commit takes a reservation back.
#[derive(Debug)]
pub struct McastSender(Lending<Sender, Option<Reservation>>);

/// A message that C writes.
#[derive(Debug)]
struct Reservation {
    loan: Loan<'static>,
    /// The message, if readers may look where it will be: in words, so that it is aligned as in a channel.
    copy: Vec<u64>,
}

impl McastSender {
    pub(super) fn new(end: Sender) -> Self {
        Self(Lending::new(end))
    }

    /// The reserved message as C has written it, ready to be sent.
    fn written(&mut self) -> Result<Reservation, Failure> {
        let reserved = self.0.lent().take();
        let mut reserved = reserved.ok_or_else(|| Failure::argument("sender", "has nothing reserved"))?;
        let Reservation { loan, copy } = &mut reserved;
        let mut bytes = loan.bytes();
        let len = bytes.len();
        for (at, word) in copy.iter().enumerate() {
            let word = word.to_ne_bytes();
            bytes.write_at(at * word.len(), &word[..word.len().min(len - at * word.len())]);
        }
        Ok(reserved)
    }
}

c_functions! {
    /// Opens a sending end of the channel with this name. CORECAST_TAKEN if it takes no more senders, CORECAST_NOT_FOUND if
    /// there is no such channel, CORECAST_MISMATCH if it is of another kind.
    unsafe fn corecast_mcast_sender_open(region: &Region, name: text) -> (sender: new McastSender) {
        McastSender::new(mcast::bytes::sender(&region.shared, name)?.with_honest(&region.honest()))
    }

    /// One more sender of the same channel. CORECAST_TAKEN if it takes no more.
    safe fn corecast_mcast_sender_clone(sender: &mut McastSender) -> (other: new McastSender) {
        McastSender::new(sender.0.end().clone_sender()?)
    }

    /// A reader of what is sent from now on, with a corecast_mcast_policy; `deadline_ns` matters only for
    /// CORECAST_MCAST_POLICY_DEADLINE. CORECAST_TAKEN if the channel takes no more, CORECAST_PANIC if it never overwrites
    /// and the policy is not the reliable one.
    safe fn corecast_mcast_sender_subscribe(
        sender: &mut McastSender,
        policy: u32,
        deadline_ns: Duration
    ) -> (receiver: new McastReceiver) {
        McastReceiver::new(sender.0.end().subscribe(self::policy(policy, deadline_ns)?)?)
    }

    /// Closes the end; NULL is none. When it was the last one, the readers get what was sent, and then CORECAST_CLOSED.
    closing fn corecast_mcast_sender_close(sender: McastSender);

    /// The longest message that the channel takes, in bytes.
    safe fn corecast_mcast_sender_longest(sender: &mut McastSender) -> (bytes: usize) {
        sender.0.end().max_len()
    }

    /// Sends a copy of `len` bytes to all readers, waiting for room. CORECAST_TOO_LARGE if the channel takes no message of this
    /// length.
    unsafe fn corecast_mcast_sender_send(sender: &mut McastSender, data: bytes[len]) {
        sender.0.end().send(data)?
    }

    /// The same without waiting: CORECAST_FULL if there is no room.
    unsafe fn corecast_mcast_sender_try_send(sender: &mut McastSender, data: bytes[len]) {
        sender.0.end().try_send(data)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    unsafe fn corecast_mcast_sender_send_timeout_ns(sender: &mut McastSender, data: bytes[len], timeout_ns: Duration) {
        sender.0.end().send_timeout(data, timeout_ns)?
    }

    /// Room for a message of `len` bytes, without waiting. Write there, then commit or abort. Others go on sending meanwhile. At
    /// first the room holds what was left there. A message of a gated channel that does not fit into a slot is read where it was
    /// written; others are copied into their slot. CORECAST_TOO_LARGE if the channel takes no message of this length.
    safe fn corecast_mcast_sender_reserve(sender: &mut McastSender, len: usize) -> (data: *mut c_void) {
        let reserve = |end: &'static mut Sender| -> Result<_, Failure> {
            Ok(Some(Reservation { loan: end.reserve(len)?, copy: Vec::new() }))
        };
        // SAFETY: the reference is kept only in the loan.
        let lent = unsafe { sender.0.lend(reserve) }?;
        let Reservation { loan, copy } = lent.as_mut().expect("just lent");
        room(loan.bytes(), copy)
    }

    /// Sends the message that was reserved and written, waiting for room. CORECAST_INVALID_ARGUMENT if none is.
    safe fn corecast_mcast_sender_commit(sender: &mut McastSender) {
        sender.written()?.loan.commit()?
    }

    /// The same without waiting. With CORECAST_FULL the message stays reserved and written, to be committed later.
    safe fn corecast_mcast_sender_try_commit(sender: &mut McastSender) {
        let Reservation { loan, copy } = sender.written()?;
        match loan.try_commit() {
            Ok(()) => {}
            Err(TrySendError::Full(loan)) => {
                *sender.0.lent() = Some(Reservation { loan, copy });
                return Err(TrySendError::Full(()).into());
            }
            Err(error) => return Err(error.into()),
        }
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT, and the message is gone.
    safe fn corecast_mcast_sender_commit_timeout_ns(sender: &mut McastSender, timeout_ns: Duration) {
        sender.written()?.loan.commit_timeout(timeout_ns)?
    }

    /// Takes the reservation back, if there is one: nothing is sent.
    safe fn corecast_mcast_sender_abort(sender: &mut McastSender) {
        sender.0.give_back();
    }
}
