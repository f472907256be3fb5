//! The sending end of a ump channel.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::time::Duration;

use corecast::channel::ump::{
    self,
    bytes::{Loan, Sender},
};

use crate::argument::{bytes, give, required, text};
use crate::error::{Failure, call, finish};
use crate::lending::Lending;
use crate::message::room;
use crate::region::Region;
use crate::status::Status;

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
        // SAFETY: the callers below keep the reference in the loan alone.
        let lent = unsafe { self.0.lend(|end| reserve(end).map(Some)) }?;
        Ok(room(lent.as_mut().expect("just lent").bytes(), &mut Vec::new()))
    }
}

/// Opens the sending end of the channel with this name. If the last sender's process died, this one goes on behind the last
/// message that was sent. CORECAST_TAKEN if another one has it, CORECAST_CLOSED if one end has said goodbye,
/// CORECAST_NOT_FOUND if there is no such channel, CORECAST_MISMATCH if it is of another kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ump_sender_open(
    region: Option<&Region>,
    name: *const c_char,
    sender: Option<&mut MaybeUninit<*mut UmpSender>>,
) -> Status {
    call(|| {
        let (region, to) = (required(region, "region")?, required(sender, "sender")?);
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        let sender = ump::bytes::sender(&region.shared, name)?;
        give(to, UmpSender::new(sender.with_honest(&region.honest())));
        Ok(())
    })
}

/// Closes the end; NULL is none. The receiver gets what was sent, and is then told CORECAST_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_sender_close(sender: Option<Box<UmpSender>>) {
    finish(|| drop(sender));
}

/// The longest message that the channel takes, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_sender_longest(
    sender: Option<&mut UmpSender>,
    bytes: Option<&mut MaybeUninit<usize>>,
) -> Status {
    call(|| {
        let (sender, bytes) = (required(sender, "sender")?, required(bytes, "bytes")?);
        bytes.write(sender.0.end().max_len());
        Ok(())
    })
}

/// Sends a copy of `len` bytes, waiting for room. CORECAST_TOO_LARGE if the channel takes no message of this length,
/// CORECAST_CLOSED if the receiver has said goodbye, CORECAST_DIED if its process is gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ump_sender_send(
    sender: Option<&mut UmpSender>,
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
pub unsafe extern "C" fn corecast_ump_sender_try_send(
    sender: Option<&mut UmpSender>,
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
pub unsafe extern "C" fn corecast_ump_sender_send_timeout_ns(
    sender: Option<&mut UmpSender>,
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

/// Room for a message of `len` bytes where the receiver will read it, waiting for it. Write there, then commit or abort;
/// any other call with this sender aborts. At first the room holds what was left there. Fails as corecast_ump_sender_send.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_sender_reserve(
    sender: Option<&mut UmpSender>,
    len: usize,
    data: Option<&mut MaybeUninit<*mut c_void>>,
) -> Status {
    call(|| {
        let (sender, data) = (required(sender, "sender")?, required(data, "data")?);
        data.write(sender.reserve(|end| Ok(end.reserve(len)?))?);
        Ok(())
    })
}

/// The same without waiting: CORECAST_FULL if there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_sender_try_reserve(
    sender: Option<&mut UmpSender>,
    len: usize,
    data: Option<&mut MaybeUninit<*mut c_void>>,
) -> Status {
    call(|| {
        let (sender, data) = (required(sender, "sender")?, required(data, "data")?);
        data.write(sender.reserve(|end| Ok(end.try_reserve(len)?))?);
        Ok(())
    })
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_sender_reserve_timeout_ns(
    sender: Option<&mut UmpSender>,
    len: usize,
    timeout_ns: u64,
    data: Option<&mut MaybeUninit<*mut c_void>>,
) -> Status {
    call(|| {
        let (sender, data) = (required(sender, "sender")?, required(data, "data")?);
        data.write(sender.reserve(|end| Ok(end.reserve_timeout(len, Duration::from_nanos(timeout_ns))?))?);
        Ok(())
    })
}

/// Sends the message that was reserved and written. CORECAST_INVALID_ARGUMENT if none is.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_sender_commit(sender: Option<&mut UmpSender>) -> Status {
    call(|| {
        let loan = required(sender, "sender")?.0.lent().take();
        loan.ok_or_else(|| Failure::argument("sender", "has nothing reserved"))?.commit();
        Ok(())
    })
}

/// Takes the reservation back, if there is one: nothing is sent.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ump_sender_abort(sender: Option<&mut UmpSender>) -> Status {
    call(|| {
        required(sender, "sender")?.0.give_back();
        Ok(())
    })
}
