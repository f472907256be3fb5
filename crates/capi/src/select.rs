//! Receiving from whichever of many channels has something.

use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::AsRawFd;
use std::time::Duration;

use corecast::base::wait::{CpuSharing, Waiter};
use corecast::channel::select::{Armed, MAX_CHANNELS, Notifier, Select as SelectOf, SelectError, Subset, Token};

use crate::any_receiver::{AnyMessage, AnyReceiver};
use crate::argument::{elements, give, required};
use crate::error::{Failure, call, finish};
use crate::ff::FfReceiver;
use crate::lending::Lending;
use crate::mcast::receiver::McastReceiver;
use crate::message::Message;
use crate::status::Status;
use crate::ump::receiver::UmpReceiver;
use crate::wait;

/// The receivers of any kinds.
type Receivers = SelectOf<AnyReceiver>;

/// The receiving ends of many channels, of any kinds, up to 4096. One thread at a time uses it. One message is open at a
/// time: receiving the next one releases it. No channel starves; there is no order among channels.
#[derive(Debug)]
pub struct Select {
    receivers: Lending<Receivers, Option<AnyMessage<'static>>>,
    /// By number; `None` where an end was removed.
    tokens: Vec<Option<Token>>,
    /// The subset of the last call that had one, as it was passed.
    subset: (Vec<u32>, Subset),
    notifier: Option<Notifier>,
}

/// What was received, and from which channel.
type Received = Result<(Token, AnyMessage<'static>), SelectError>;

impl Select {
    fn token(&self, number: u32, name: &'static str) -> Result<Token, Failure> {
        let wrong = || Failure::argument(name, format_args!("{number} is the number of no channel"));
        self.tokens.get(number as usize).copied().flatten().ok_or_else(wrong)
    }

    /// Takes the numbers of a subset in, unless they are those of the last call.
    fn turn_to(&mut self, numbers: &[u32]) -> Result<(), Failure> {
        if self.subset.0 != numbers {
            let tokens = numbers.iter().map(|&number| self.token(number, "numbers"));
            self.subset = (numbers.to_vec(), tokens.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    fn notifier(&mut self) -> Result<(&mut Receivers, &mut Notifier), Failure> {
        let receivers = self.receivers.end();
        let notifier = match self.notifier.take() {
            Some(notifier) => notifier,
            None => receivers.notifier()?,
        };
        Ok((receivers, self.notifier.insert(notifier)))
    }
}

/// Adds a receiver of any kind. If that fails it stays the caller's.
fn add<R>(
    select: Option<&mut Select>,
    receiver: Option<Box<R>>,
    number: Option<&mut MaybeUninit<u32>>,
    into_end: impl FnOnce(R) -> AnyReceiver,
) -> Status {
    let receiver = receiver.map(ManuallyDrop::new);
    call(|| {
        let (select, receiver) = (required(select, "select")?, required(receiver, "receiver")?);
        let number = required(number, "number")?;
        if select.tokens.iter().flatten().count() >= MAX_CHANNELS {
            return Err(Failure::argument("select", format_args!("has {MAX_CHANNELS} channels, and takes no more")));
        }
        let token = select.receivers.end().add(into_end(*ManuallyDrop::into_inner(receiver)));
        if select.tokens.len() <= token.index() {
            select.tokens.resize(token.index() + 1, None);
        }
        select.tokens[token.index()] = Some(token);
        number.write(token.index() as u32);
        Ok(())
    })
}

/// What all ways to receive have in common.
fn receive(
    select: &mut Select,
    to: (Option<&mut MaybeUninit<u32>>, Option<&mut MaybeUninit<Message>>),
    receive: impl FnOnce(&'static mut Receivers, &Subset) -> Received,
) -> Result<(), Failure> {
    let (number, message) = (required(to.0, "number")?, required(to.1, "message")?);
    let Select { receivers, subset, .. } = select;
    let mut from = None;
    // SAFETY: the callers below keep the reference in the message alone.
    let lent = unsafe {
        receivers.lend(|receivers| match receive(receivers, &subset.1) {
            Ok((token, message)) => {
                from = Some(token);
                Ok(Some(message))
            }
            Err(error) => {
                from = error.token();
                Err(error)
            }
        })
    };
    if let Some(token) = from {
        number.write(token.index() as u32);
    }
    lent?.as_ref().expect("just lent").tell(message);
    Ok(())
}

/// A select of no channels, which waits as a corecast_wait says. Channels whose own policy never sleeps (spin, yield) want
/// one that does not sleep either.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_create(wait: u32, select: Option<&mut MaybeUninit<*mut Select>>) -> Status {
    call(|| {
        let (wait, to) = (wait::policy(wait, "wait")?, required(select, "select")?);
        let receivers = Receivers::with_waiter(Waiter::new(wait, CpuSharing::unpinned(2), None));
        let subset = (Vec::new(), Subset::default());
        give(to, Select { receivers: Lending::new(receivers), tokens: Vec::new(), subset, notifier: None });
        Ok(())
    })
}

/// Destroys a select and closes the receivers that were added; NULL is none.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_destroy(select: Option<Box<Select>>) {
    finish(|| drop(select));
}

/// Adds a receiver, which is the select's from now on: do not use or close it any more. `number` is what it is called here:
/// 0, 1, ..., numbers of removed ones again. Its open messages are released.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_add_ump(
    select: Option<&mut Select>,
    receiver: Option<Box<UmpReceiver>>,
    number: Option<&mut MaybeUninit<u32>>,
) -> Status {
    add(select, receiver, number, |receiver| AnyReceiver::Bytes(receiver.0.into_end().into()))
}

/// The same for the receiver of a ff channel: its messages are words of 8 bytes.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_add_ff(
    select: Option<&mut Select>,
    receiver: Option<Box<FfReceiver>>,
    number: Option<&mut MaybeUninit<u32>>,
) -> Status {
    add(select, receiver, number, |receiver| AnyReceiver::Words(receiver.0))
}

/// The same for a reader of a mcast channel.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_add_mcast(
    select: Option<&mut Select>,
    receiver: Option<Box<McastReceiver>>,
    number: Option<&mut MaybeUninit<u32>>,
) -> Status {
    add(select, receiver, number, |receiver| AnyReceiver::Bytes(receiver.end.into_end().into()))
}

/// Closes the receiver with this number and takes it out.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_remove(select: Option<&mut Select>, number: u32) -> Status {
    call(|| {
        let select = required(select, "select")?;
        let token = select.token(number, "number")?;
        select.tokens[token.index()] = None;
        // A subset that has it is none any more.
        select.subset = (Vec::new(), Subset::default());
        drop(select.receivers.end().remove(token));
        Ok(())
    })
}

/// Receives from any channel, waiting until one has something; `number` tells which. With CORECAST_CLOSED, CORECAST_DIED,
/// CORECAST_LAGGED or CORECAST_CORRUPT the channel with this number has something else to say than a message; unless it is
/// CORECAST_LAGGED it is passed over from now on. CORECAST_NONE_LEFT when that is so for all.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_recv(
    select: Option<&mut Select>,
    number: Option<&mut MaybeUninit<u32>>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    call(|| receive(required(select, "select")?, (number, message), |receivers, _| receivers.recv()))
}

/// The same without waiting: CORECAST_EMPTY if nothing is there.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_try_recv(
    select: Option<&mut Select>,
    number: Option<&mut MaybeUninit<u32>>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    call(|| receive(required(select, "select")?, (number, message), |receivers, _| receivers.try_recv()))
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_recv_timeout_ns(
    select: Option<&mut Select>,
    timeout_ns: u64,
    number: Option<&mut MaybeUninit<u32>>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    call(|| {
        let select = required(select, "select")?;
        let timeout = Duration::from_nanos(timeout_ns);
        receive(select, (number, message), |receivers, _| receivers.recv_timeout(Subset::everything(), timeout))
    })
}

/// The same from some channels only: those with the `count` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_select_recv_from_timeout_ns(
    select: Option<&mut Select>,
    numbers: *const u32,
    count: usize,
    timeout_ns: u64,
    number: Option<&mut MaybeUninit<u32>>,
    message: Option<&mut MaybeUninit<Message>>,
) -> Status {
    call(|| {
        let select = required(select, "select")?;
        // SAFETY: C passes so many numbers.
        select.turn_to(unsafe { elements(numbers, count, "numbers") }?)?;
        let timeout = Duration::from_nanos(timeout_ns);
        receive(select, (number, message), |receivers, subset| receivers.recv_timeout(subset, timeout))
    })
}

/// Releases the open message, if there is one: its sender may write there again.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_release(select: Option<&mut Select>) -> Status {
    call(|| {
        required(select, "select")?.receivers.give_back();
        Ok(())
    })
}

/// A descriptor for poll, epoll and event loops, which belongs to the select: do not read or close it. It becomes readable
/// after corecast_select_arm when a channel has something.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_fd(select: Option<&mut Select>, fd: Option<&mut MaybeUninit<c_int>>) -> Status {
    call(|| {
        let (select, fd) = (required(select, "select")?, required(fd, "fd")?);
        fd.write(select.notifier()?.1.as_raw_fd());
        Ok(())
    })
}

/// Asks for the descriptor to become readable when a channel has something; call it each time before waiting for the
/// descriptor. `is_ready` is true if a channel has something already: receive it and arm again.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_select_arm(select: Option<&mut Select>, is_ready: Option<&mut MaybeUninit<bool>>) -> Status {
    call(|| {
        let (select, is_ready) = (required(select, "select")?, required(is_ready, "is_ready")?);
        let (receivers, notifier) = select.notifier()?;
        is_ready.write(notifier.arm(receivers) == Armed::Ready);
        Ok(())
    })
}
