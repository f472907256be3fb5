//! Words from one sender to one receiver, eight to a cache line.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::time::Duration;

use corecast::channel::ff::{self, Config, MAX_CELLS, Probe, Receiver, Sender, Slip};

use crate::argument::{Parameters, choice, give, parameters, required, text, within};
use crate::error::{Failure, call, finish};
use crate::region::Region;
use crate::region_plan::{self, RegionPlan};
use crate::status::Status;
use crate::wait;

/// How the sender of a ff channel looks for empty cells.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum FfProbe {
    /// At each cell before it writes there.
    Cell = 0,
    /// At one cell for a whole line, which the receiver clears at once. Up to 16 cells fewer can be in use.
    Line = 1,
}

/// How a ff channel is laid out and waits. Set `size` to sizeof(corecast_ff_config) and all else to 0, then what is wanted;
/// NULL in its place is all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct FfConfig {
    /// sizeof(corecast_ff_config).
    pub size: usize,
    /// Words that the channel holds, at most 2^23; rounded up to a power of two, to at least 32. 0: 1024.
    pub cells: u32,
    /// A corecast_ff_probe.
    pub probe: u32,
    /// If not 0 the receiver takes whole lines of 8 words, and a part of a line when the sender flushes or leaves, or after
    /// so many nanoseconds. 0: words as soon as they are there.
    pub slip_ns: u64,
    /// A corecast_wait: how both ends wait.
    pub wait: u32,
    /// 0.
    pub reserved: u32,
    /// What sleeping and waking up costs on this machine, in nanoseconds. 0: not known.
    pub wake_cost_ns: u64,
}

// SAFETY: numbers laid out as C does, without padding, the size first.
unsafe impl Parameters for FfConfig {}

/// The sending end of a ff channel. One thread at a time uses it.
#[derive(Debug)]
pub struct FfSender(Sender);

/// The receiving end of a ff channel. One thread at a time uses it.
#[derive(Debug)]
pub struct FfReceiver(pub(crate) Receiver);

impl FfConfig {
    fn check(&self) -> Result<Config, Failure> {
        let default = Config::default();
        let cells = within(self.cells, 0, MAX_CELLS as u32, "config.cells")? as usize;
        within(self.reserved, 0, 0, "config.reserved")?;
        Ok(Config {
            cells: if cells == 0 { default.cells } else { cells },
            slip: if self.slip_ns == 0 { Slip::None } else { Slip::Line(Duration::from_nanos(self.slip_ns)) },
            probe: choice(self.probe, &[Probe::Cell, Probe::Line], "config.probe")?,
            wait: wait::policy(self.wait, "config.wait")?,
            wake_cost: wait::wake_cost(self.wake_cost_ns),
        })
    }
}

/// What all ways to send have in common.
fn send(
    sender: Option<&mut FfSender>,
    word: u64,
    send: impl FnOnce(&mut Sender, NonZeroU64) -> Result<(), Failure>,
) -> Status {
    call(|| {
        let sender = required(sender, "sender")?;
        let word = NonZeroU64::new(word).ok_or_else(|| Failure::argument("word", "is 0, which is no message"))?;
        send(&mut sender.0, word)
    })
}

/// What all ways to receive have in common.
fn receive(
    receiver: Option<&mut FfReceiver>,
    word: Option<&mut MaybeUninit<u64>>,
    receive: impl FnOnce(&mut Receiver) -> Result<NonZeroU64, Failure>,
) -> Status {
    call(|| {
        let (receiver, to) = (required(receiver, "receiver")?, required(word, "word")?);
        to.write(receive(&mut receiver.0)?.get());
        Ok(())
    })
}

/// Declares a ff channel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_region_plan_add_ff(
    plan: Option<&mut RegionPlan>,
    name: *const c_char,
    config: *const FfConfig,
) -> Status {
    call(|| {
        // SAFETY: C passes parameters.
        let config = unsafe { parameters(config, "config") }?.check()?;
        // SAFETY: C passes a text.
        unsafe { region_plan::add(plan, name, |plan, name| ff::spec(&config).declare(plan, name)) }
    })
}

/// A ff channel among two threads of this process. For one among processes, declare it in the plan of a region.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ff_create(
    config: *const FfConfig,
    sender: Option<&mut MaybeUninit<*mut FfSender>>,
    receiver: Option<&mut MaybeUninit<*mut FfReceiver>>,
) -> Status {
    call(|| {
        // SAFETY: C passes parameters.
        let config = unsafe { parameters(config, "config") }?.check()?;
        let (to_sender, to_receiver) = (required(sender, "sender")?, required(receiver, "receiver")?);
        let (sender, receiver) = ff::channel(&config);
        give(to_sender, FfSender(sender));
        give(to_receiver, FfReceiver(receiver));
        Ok(())
    })
}

/// Opens the sending end of the channel with this name: once in the life of a channel. Fails as corecast_ump_receiver_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ff_sender_open(
    region: Option<&Region>,
    name: *const c_char,
    sender: Option<&mut MaybeUninit<*mut FfSender>>,
) -> Status {
    call(|| {
        let (region, to) = (required(region, "region")?, required(sender, "sender")?);
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        give(to, FfSender(ff::sender(&region.shared, name)?));
        Ok(())
    })
}

/// Closes the end; NULL is none. The receiver gets what was sent, and is then told CORECAST_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_sender_close(sender: Option<Box<FfSender>>) {
    finish(|| drop(sender));
}

/// Sends a word that is not 0, waiting for room. CORECAST_CLOSED if the receiver has said goodbye, CORECAST_DIED if its
/// process is gone.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_sender_send(sender: Option<&mut FfSender>, word: u64) -> Status {
    send(sender, word, |end, word| Ok(end.send(word)?))
}

/// The same without waiting: CORECAST_FULL if there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_sender_try_send(sender: Option<&mut FfSender>, word: u64) -> Status {
    send(sender, word, |end, word| Ok(end.try_send(word)?))
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_sender_send_timeout_ns(
    sender: Option<&mut FfSender>,
    word: u64,
    timeout_ns: u64,
) -> Status {
    send(sender, word, |end, word| Ok(end.send_timeout(word, Duration::from_nanos(timeout_ns))?))
}

/// Lets the receiver take all that was sent, even if it takes whole lines otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_sender_flush(sender: Option<&mut FfSender>) -> Status {
    call(|| Ok(required(sender, "sender")?.0.flush()?))
}

/// Opens the receiving end of the channel with this name: once in the life of a channel. Fails as
/// corecast_ump_receiver_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn corecast_ff_receiver_open(
    region: Option<&Region>,
    name: *const c_char,
    receiver: Option<&mut MaybeUninit<*mut FfReceiver>>,
) -> Status {
    call(|| {
        let (region, to) = (required(region, "region")?, required(receiver, "receiver")?);
        // SAFETY: C passes a text.
        let name = unsafe { text(name, "name") }?;
        give(to, FfReceiver(ff::receiver(&region.shared, name)?));
        Ok(())
    })
}

/// Closes the end; NULL is none. Sends fail with CORECAST_CLOSED.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_receiver_close(receiver: Option<Box<FfReceiver>>) {
    finish(|| drop(receiver));
}

/// Receives, waiting for a word. CORECAST_CLOSED or CORECAST_DIED once everything sent has been received and the sender has
/// said goodbye, or its process is gone.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_receiver_recv(
    receiver: Option<&mut FfReceiver>,
    word: Option<&mut MaybeUninit<u64>>,
) -> Status {
    receive(receiver, word, |end| Ok(end.recv()?))
}

/// The same without waiting: CORECAST_EMPTY if nothing is there, also while a part of a line waits for the rest.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_receiver_try_recv(
    receiver: Option<&mut FfReceiver>,
    word: Option<&mut MaybeUninit<u64>>,
) -> Status {
    receive(receiver, word, |end| Ok(end.try_recv()?))
}

/// The same, waiting for at most so many nanoseconds: then CORECAST_TIMEOUT.
#[unsafe(no_mangle)]
pub extern "C" fn corecast_ff_receiver_recv_timeout_ns(
    receiver: Option<&mut FfReceiver>,
    timeout_ns: u64,
    word: Option<&mut MaybeUninit<u64>>,
) -> Status {
    receive(receiver, word, |end| Ok(end.recv_timeout(Duration::from_nanos(timeout_ns))?))
}

const _: () = assert!(size_of::<FfConfig>() == 40);
