//! Words from one sender to one receiver, eight to a cache line.

use std::num::NonZeroU64;
use std::time::Duration;

use corecast::channel::ff::{self, Config, MAX_CELLS, Probe, Receiver, Sender, Slip};

use crate::argument::{Parameters, choice, within};
use crate::error::Failure;
use crate::region::Region;
use crate::region_plan::RegionPlan;
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

/// How a ff channel is laid out and waits. Set `size` to sizeof(corecast_ff_config), all else to 0, and then the fields
/// that matter; NULL stands for all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct FfConfig {
    /// sizeof(corecast_ff_config).
    pub size: usize,
    /// Words that the channel holds, at most 2^23; rounded up to a power of two, to at least 32. 0: 1024.
    pub cells: u32,
    /// A corecast_ff_probe.
    pub probe: u32,
    /// If not 0, the receiver takes whole lines of 8 words, and a part of a line when the sender flushes or leaves, or
    /// after this number of nanoseconds. 0: words as soon as they are there.
    pub slip_ns: u64,
    /// A corecast_wait: how both ends wait.
    pub wait: u32,
    /// 0.
    pub reserved: u32,
    /// The cost of sleeping and waking up on this machine, in nanoseconds. 0: not known.
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

/// The word that C passes, as a message.
fn message(word: u64) -> Result<NonZeroU64, Failure> {
    NonZeroU64::new(word).ok_or_else(|| Failure::argument("word", "is 0, which is no message"))
}

c_functions! {
    /// Declares a ff channel.
    unsafe fn corecast_region_plan_add_ff(plan: &mut RegionPlan, name: text, config: parameters FfConfig) {
        plan.change(|plan| ff::spec(config).declare(plan, name))?
    }

    /// A ff channel among two threads of this process. For one among processes, declare it in the plan of a region.
    unsafe fn corecast_ff_create(config: parameters FfConfig) -> (sender: new FfSender, receiver: new FfReceiver) {
        let (sender, receiver) = ff::channel_with(config);
        (FfSender(sender), FfReceiver(receiver))
    }

    /// Opens the sending end of the channel with this name: once in the life of a channel. Fails as corecast_ump_receiver_open.
    unsafe fn corecast_ff_sender_open(region: &Region, name: text) -> (sender: new FfSender) {
        FfSender(ff::sender(&region.shared, name)?)
    }

    /// Closes the end; NULL is none. The receiver gets what was sent, and then CORECAST_CLOSED.
    closing fn corecast_ff_sender_close(sender: FfSender);

    /// Sends a word that is not 0, waiting for room. CORECAST_CLOSED if the receiver has said goodbye, CORECAST_DIED if its
    /// process is gone.
    safe fn corecast_ff_sender_send(sender: &mut FfSender, word: u64) {
        sender.0.send(message(word)?)?
    }

    /// The same without waiting: CORECAST_FULL if there is no room.
    safe fn corecast_ff_sender_try_send(sender: &mut FfSender, word: u64) {
        sender.0.try_send(message(word)?)?
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    safe fn corecast_ff_sender_send_timeout_ns(sender: &mut FfSender, word: u64, timeout_ns: Duration) {
        sender.0.send_timeout(message(word)?, timeout_ns)?
    }

    /// Lets the receiver take all that was sent, even if it takes whole lines otherwise.
    safe fn corecast_ff_sender_flush(sender: &mut FfSender) {
        sender.0.flush()?
    }

    /// Opens the receiving end of the channel with this name: once in the life of a channel. Fails as
    /// corecast_ump_receiver_open.
    unsafe fn corecast_ff_receiver_open(region: &Region, name: text) -> (receiver: new FfReceiver) {
        FfReceiver(ff::receiver(&region.shared, name)?)
    }

    /// Closes the end; NULL is none. Sends fail with CORECAST_CLOSED.
    closing fn corecast_ff_receiver_close(receiver: FfReceiver);

    /// Receives, waiting for a word. CORECAST_CLOSED or CORECAST_DIED once everything sent has been received and the sender has
    /// said goodbye, or its process is gone.
    safe fn corecast_ff_receiver_recv(receiver: &mut FfReceiver) -> (word: u64) {
        receiver.0.recv()?.get()
    }

    /// The same without waiting: CORECAST_EMPTY if nothing is there, also while a part of a line waits for the rest.
    safe fn corecast_ff_receiver_try_recv(receiver: &mut FfReceiver) -> (word: u64) {
        receiver.0.try_recv()?.get()
    }

    /// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
    safe fn corecast_ff_receiver_recv_timeout_ns(receiver: &mut FfReceiver, timeout_ns: Duration) -> (word: u64) {
        receiver.0.recv_timeout(timeout_ns)?.get()
    }
}

const _: () = assert!(size_of::<FfConfig>() == 40);
