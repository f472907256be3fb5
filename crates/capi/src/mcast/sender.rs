//! A sending end of a mcast channel.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::channel::TrySendError;
use corecast::channel::mcast::{
    self,
    bytes::{Loan, Sender},
};

use super::policy;
use super::receiver::McastReceiver;
use crate::argument::{bytes, give, required, text};
use crate::error::{Failure, call, finish};
use crate::lending::Lending;
use crate::message::room;
use crate::region::Region;
use crate::status::Status;

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

    /// What was reserved and written, ready to be sent.
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

/// Opens a sending end of the channel with this name. CORECAST_TAKEN if it takes no more senders, CORECAST_NOT_FOUND if
/// there is no such channel, CORECAST_MISMATCH if it is of another kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_mcast_sender_open(
    region: Option<&Region>,
    name: *const c_char,
    sender: Option<&mut MaybeUninit<*mut McastSender>>,
) -> Status {
    call(|| {
        let (region, to) = (required(region, "region")?, required(sender, "sender")?);
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let sender = mcast::bytes::sender(&region.shared, name)?;
        give(to, McastSender::new(sender.with_honest(&region.honest())));
        Ok(())
    })
}

/// One more sender of the same channel. CORECAST_TAKEN if it takes no more.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_clone(
    sender: Option<&mut McastSender>,
    other: Option<&mut MaybeUninit<*mut McastSender>>,
) -> Status {
    call(|| {
        let (sender, to) = (required(sender, "sender")?, required(other, "other")?);
        give(to, McastSender::new(sender.0.end().clone_sender()?));
        Ok(())
    })
}

/// A reader of what is sent from now on, with a corecast_mcast_policy; `deadline_ns` means something for
/// CORECAST_MCAST_POLICY_DEADLINE only. CORECAST_TAKEN if the channel takes no more, CORECAST_PANIC if it never overwrites
/// and the policy is not the reliable one.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_subscribe(
    sender: Option<&mut McastSender>,
    policy: u32,
    deadline_ns: u64,
    receiver: Option<&mut MaybeUninit<*mut McastReceiver>>,
) -> Status {
    call(|| {
        let (sender, to) = (required(sender, "sender")?, required(receiver, "receiver")?);
        let policy = self::policy(policy, deadline_ns)?;
        give(to, McastReceiver::new(sender.0.end().subscribe(policy)?));
        Ok(())
    })
}

/// Closes the end; NULL is none. When it was the last one, the readers get what was sent, and are then told CORECAST_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_close(sender: Option<Box<McastSender>>) {
    finish(|| drop(sender));
}

/// The longest message that the channel takes, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_longest(
    sender: Option<&mut McastSender>,
    bytes: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let (sender, bytes) = (required(sender, "sender")?, required(bytes, "bytes")?);
        bytes.write(sender.0.end().max_len());
        Ok(())
    })
}

/// Sends a copy of `len` bytes to all readers, waiting for room. CORECAST_TOO_LARGE if the channel takes no message of this
/// length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_mcast_sender_send(
    sender: Option<&mut McastSender>,
    data: *const c_void,
    len: usize,
) -> Status {
    call(|| {
        // SAFETY: C passes bytes.
        let data = unsafe { bytes(data, len, "data") }?;
        Ok(required(sender, "sender")?.0.end().send(data)?)
    })
}

/// The same without waiting: CORECAST_FULL if there is no room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_mcast_sender_try_send(
    sender: Option<&mut McastSender>,
    data: *const c_void,
    len: usize,
) -> Status {
    call(|| {
        // SAFETY: C passes bytes.
        let data = unsafe { bytes(data, len, "data") }?;
        Ok(required(sender, "sender")?.0.end().try_send(data)?)
    })
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_mcast_sender_send_timeout_ns(
    sender: Option<&mut McastSender>,
    data: *const c_void,
    len: usize,
    timeout_ns: u64,
) -> Status {
    call(|| {
        // SAFETY: C passes bytes.
        let data = unsafe { bytes(data, len, "data") }?;
        Ok(required(sender, "sender")?.0.end().send_timeout(data, Duration::from_nanos(timeout_ns))?)
    })
}

/// Room for a message of `len` bytes, without waiting. Write there, then commit or abort. Others go on sending meanwhile. At
/// first the room holds what was left there. A message of a gated channel that does not fit into a slot is read where it was
/// written; others are copied into their slot. CORECAST_TOO_LARGE if the channel takes no message of this length.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_reserve(
    sender: Option<&mut McastSender>,
    len: usize,
    data: Option<&mut MaybeUninit<*mut c_void>>,
) -> Status {
    call(|| {
        let (sender, data) = (required(sender, "sender")?, required(data, "data")?);
        let reserve = |end: &'static mut Sender| -> Result<_, Failure> {
            Ok(Some(Reservation { loan: end.reserve(len)?, copy: Vec::new() }))
        };
        // SAFETY: the reference is kept in the loan alone.
        let lent = unsafe { sender.0.lend(reserve) }?;
        let Reservation { loan, copy } = lent.as_mut().expect("just lent");
        data.write(room(loan.bytes(), copy));
        Ok(())
    })
}

/// Sends the message that was reserved and written, waiting for room. CORECAST_INVALID_ARGUMENT if none is.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_commit(sender: Option<&mut McastSender>) -> Status {
    call(|| Ok(required(sender, "sender")?.written()?.loan.commit()?))
}

/// The same without waiting. With CORECAST_FULL the message stays reserved and written, to be committed later.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_try_commit(sender: Option<&mut McastSender>) -> Status {
    call(|| {
        let sender = required(sender, "sender")?;
        let Reservation { loan, copy } = sender.written()?;
        match loan.try_commit() {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(loan)) => {
                *sender.0.lent() = Some(Reservation { loan, copy });
                Err(TrySendError::Full(()).into())
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT, and the message is gone.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_commit_timeout_ns(sender: Option<&mut McastSender>, timeout_ns: u64) -> Status {
    call(|| Ok(required(sender, "sender")?.written()?.loan.commit_timeout(Duration::from_nanos(timeout_ns))?))
}

/// Takes the reservation back, if there is one: nothing is sent.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_mcast_sender_abort(sender: Option<&mut McastSender>) -> Status {
    call(|| {
        required(sender, "sender")?.0.give_back();
        Ok(())
    })
}
