//! Receiving from any of many channels, whichever has a message.

use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::os::fd::AsRawFd;

use corecast::base::wait::{CpuSharing, Waiter};
use corecast::channel::select::{Armed, MAX_CHANNELS, Notifier, Select as SelectOf, SelectError, Subset, Token};

use crate::any_receiver::{AnyMessage, AnyReceiver};
use crate::argument::{elements, required};
use crate::error::{Failure, call};
use crate::ff::FfReceiver;
use crate::lending::Lending;
use crate::mcast::receiver::McastReceiver;
use crate::message::Message;
use crate::status::Status;
use crate::ump::receiver::UmpReceiver;

/// The receivers of any kinds.
type Receivers = SelectOf<AnyReceiver>;

/// The receiving ends of many channels, of any kinds, up to 4096. One thread at a time uses it. One message is open at a
/// time: receiving the next one releases it. No channel starves; there is no order among channels.
#[derive(Debug)]
pub struct Select {
    receivers: Lending<Receivers, Option<AnyMessage<'static>>>,
    /// By number; `None` where an end was removed.
    tokens: Vec<Option<Token>>,
    /// The subset of the last call that had one, and the numbers that C passed for it.
    subset: (Vec<u32>, Subset),
    notifier: Option<Notifier>,
}

/// The message that was received, and its channel.
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

/// Adds a receiver of any kind. If that fails, the caller still owns it.
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

/// The part that all ways to receive share.
fn receive(
    select: &mut Select,
    number: &mut MaybeUninit<u32>,
    message: &mut MaybeUninit<Message>,
    receive: impl FnOnce(&'static mut Receivers, &Subset) -> Received,
) -> Result<(), Failure> {
    let Select { receivers, subset, .. } = select;
    let mut from = None;
    // SAFETY: the callers below keep the reference only in the message.
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

c_functions! {
    /// A select without channels, which waits as `wait`, a corecast_wait, says. Channels whose own policy never sleeps
    /// (spin, yield) want one that does not sleep either.
    safe fn corecast_select_create(wait: Wait) -> (select: new Select) {
        let receivers = Receivers::with_waiter(Waiter::new(wait, CpuSharing::unpinned(2), None));
        let subset = (Vec::new(), Subset::default());
        Select { receivers: Lending::new(receivers), tokens: Vec::new(), subset, notifier: None }
    }

    /// Destroys a select and closes the receivers that were added; NULL is none.
    closing fn corecast_select_destroy(select: Select);

    /// Adds a receiver, which is the select's from now on: do not use or close it any more. `number` is its number in the
    /// select: 0, 1, ...; numbers of removed receivers are used again. Its open messages are released.
    safe fn corecast_select_add_ump(
        select: Option<&mut Select>,
        receiver: Option<Box<UmpReceiver>>,
        number: Option<&mut MaybeUninit<u32>>
    ) => (Status) {
        add(select, receiver, number, |receiver| AnyReceiver::Bytes(receiver.0.into_end().into()))
    }

    /// The same for the receiver of a ff channel: its messages are words of 8 bytes.
    safe fn corecast_select_add_ff(
        select: Option<&mut Select>,
        receiver: Option<Box<FfReceiver>>,
        number: Option<&mut MaybeUninit<u32>>
    ) => (Status) {
        add(select, receiver, number, |receiver| AnyReceiver::Words(receiver.0))
    }

    /// The same for a reader of a mcast channel.
    safe fn corecast_select_add_mcast(
        select: Option<&mut Select>,
        receiver: Option<Box<McastReceiver>>,
        number: Option<&mut MaybeUninit<u32>>
    ) => (Status) {
        add(select, receiver, number, |receiver| AnyReceiver::Bytes(receiver.end.into_end().into()))
    }

    /// Closes the receiver with this number and takes it out.
    safe fn corecast_select_remove(select: &mut Select, number: u32) {
        let token = select.token(number, "number")?;
        select.tokens[token.index()] = None;
        // A subset that has this channel is not valid any more.
        select.subset = (Vec::new(), Subset::default());
        drop(select.receivers.end().remove(token));
    }

    /// Receives from any channel, waiting until one has a message; `number` is its number. CORECAST_CLOSED, CORECAST_DIED,
    /// CORECAST_LAGGED and CORECAST_CORRUPT are about the channel with this number; after any of them but CORECAST_LAGGED
    /// the select skips this channel. CORECAST_NONE_LEFT when it skips all of them.
    safe fn corecast_select_recv(select: &mut Select, number: out u32, message: out Message) {
        receive(select, number, message, |receivers, _| receivers.recv())?
    }

    /// The same without waiting: CORECAST_EMPTY if nothing is there.
    safe fn corecast_select_try_recv(select: &mut Select, number: out u32, message: out Message) {
        receive(select, number, message, |receivers, _| receivers.try_recv())?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    safe fn corecast_select_recv_timeout_ns(
        select: &mut Select,
        timeout_ns: Duration,
        number: out u32,
        message: out Message
    ) {
        receive(select, number, message, |receivers, _| receivers.recv_timeout(Subset::everything(), timeout_ns))?
    }

    /// The same from some channels only: those with the `count` numbers.
    unsafe fn corecast_select_recv_from_timeout_ns(
        select: &mut Select,
        numbers: *const u32,
        count: usize,
        timeout_ns: Duration,
        number: out u32,
        message: out Message
    ) {
        // SAFETY: C passes `count` numbers.
        select.turn_to(unsafe { elements(numbers, count, "numbers") }?)?;
        receive(select, number, message, |receivers, subset| receivers.recv_timeout(subset, timeout_ns))?
    }

    /// Releases the open message, if there is one: its sender may write there again.
    safe fn corecast_select_release(select: &mut Select) {
        select.receivers.give_back();
    }

    /// A descriptor for poll, epoll and event loops, which belongs to the select: do not read or close it. It becomes
    /// readable after corecast_select_arm when a channel has a message.
    safe fn corecast_select_fd(select: &mut Select) -> (fd: c_int) {
        select.notifier()?.1.as_raw_fd()
    }

    /// Asks for the descriptor to become readable when a channel has a message; call it each time before waiting for the
    /// descriptor. `is_ready` is true if a channel has one already: receive it and arm again.
    safe fn corecast_select_arm(select: &mut Select) -> (is_ready: bool) {
        let (receivers, notifier) = select.notifier()?;
        notifier.arm(receivers) == Armed::Ready
    }
}
