//! One write, read by many, from one sender or several.

pub mod sender;

pub mod receiver;

use std::time::Duration;

use corecast::base::region::DEFAULT_LIMIT_BYTES;
use corecast::channel::mcast::{
    self, Config, Delivery, MAX_BYTES, MAX_READERS, MAX_SENDERS, MAX_SLOTS, Policy, ZeroReaders,
};

use crate::argument::{Parameters, choice, within};
use crate::error::Failure;
use crate::region_plan::RegionPlan;
use crate::wait;

use sender::McastSender;

/// Whether the senders of a mcast channel may overwrite what a reader has not read.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum McastDelivery {
    /// Never: every reader is reliable.
    Gated = 0,
    /// Where the reader's policy says so.
    Overwrite = 1,
}

/// How the senders of a mcast channel behave while there is no reader.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum McastZeroReaders {
    /// The message is dropped.
    Discard = 0,
    /// Wait for a reader.
    Block = 1,
}

/// How a mcast channel treats a reader that falls behind.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum McastPolicy {
    /// The senders wait, however long it takes.
    Reliable = 0,
    /// The senders wait until the reader's deadline, then go on without it, and it gets CORECAST_LAGGED.
    Deadline = 1,
    /// The senders do not wait, and it gets CORECAST_LAGGED.
    Lossy = 2,
}

/// How a mcast channel is laid out, delivers and waits. Set `size` to sizeof(corecast_mcast_config), all else to 0, and
/// then the fields that matter; NULL stands for all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct McastConfig {
    /// sizeof(corecast_mcast_config).
    pub size: usize,
    /// The number of messages that the ring holds, at most 2^20; rounded up to a power of two. 0: 64.
    pub slots: u32,
    /// Bytes of a message that lie in the slot itself: 48, 112 or 240; rounded up to one of these. 0: 48.
    pub inline_bytes: u32,
    /// The longest message in bytes, at most 1 GiB. Longer ones than `inline_bytes` lie in blocks of this size, of which
    /// there is one per slot and one per sender. 0: what lies in a slot.
    pub longest_bytes: u64,
    /// Readers at a time, at most 1024. 0: 64.
    pub readers: u32,
    /// Senders at a time, at most 256. 0: 1, which sends without any atomic read-modify-write.
    pub senders: u32,
    /// A corecast_mcast_delivery.
    pub delivery: u32,
    /// A corecast_mcast_zero_readers.
    pub zero_readers: u32,
    /// A corecast_wait: how all ends wait.
    pub wait: u32,
    /// 0.
    pub reserved: u32,
    /// The cost of sleeping and waking up on this machine, in nanoseconds. 0: not known.
    pub wake_cost_ns: u64,
}

// SAFETY: numbers laid out as C does, without padding, the size first.
unsafe impl Parameters for McastConfig {}

impl McastConfig {
    fn check(&self) -> Result<Config, Failure> {
        let default = Config::default();
        let size = |given: u64, default: usize, most: usize, name| {
            let given = within(given, 0, most as u64, name)? as usize;
            Ok::<_, Failure>(if given == 0 { default } else { given })
        };
        within(self.reserved, 0, 0, "config.reserved")?;
        Ok(Config {
            slots: size(self.slots.into(), default.slots, MAX_SLOTS, "config.slots")?,
            inline: size(self.inline_bytes.into(), default.inline, 240, "config.inline_bytes")?,
            block_bytes: size(self.longest_bytes, 0, MAX_BYTES, "config.longest_bytes")?,
            readers: size(self.readers.into(), default.readers, MAX_READERS, "config.readers")?,
            senders: size(self.senders.into(), default.senders, MAX_SENDERS, "config.senders")?,
            delivery: choice(self.delivery, &[Delivery::Gated, Delivery::Overwrite], "config.delivery")?,
            zero_readers: choice(
                self.zero_readers,
                &[ZeroReaders::Discard, ZeroReaders::Block],
                "config.zero_readers",
            )?,
            wait: wait::policy(self.wait, "config.wait")?,
            wake_cost: wait::wake_cost(self.wake_cost_ns),
        }
        .rounded())
    }
}

/// The policy of a reader.
fn policy(policy: u32, deadline: Duration) -> Result<Policy, Failure> {
    choice(policy, &[Policy::Reliable, Policy::Deadline(deadline), Policy::Lossy], "policy")
}

c_functions! {
    /// Declares a mcast channel.
    unsafe fn corecast_region_plan_add_mcast(plan: &mut RegionPlan, name: text, config: parameters McastConfig) {
        plan.change(|plan| mcast::bytes::spec(config).declare(plan, name))?
    }

    /// A mcast channel among the threads of this process, of up to 1 GiB, by its first sender; further ends come from that. For
    /// one among processes, declare it in the plan of a region.
    unsafe fn corecast_mcast_create(config: parameters McastConfig) -> (sender: new McastSender) {
        // Memory that cannot be had would end the process.
        let bytes = mcast::bytes::spec(config.clone()).bytes;
        if bytes > DEFAULT_LIMIT_BYTES {
            let why = format_args!("the channel would take {bytes} bytes, more than {DEFAULT_LIMIT_BYTES}");
            return Err(Failure::argument("config", why));
        }
        let (sender, _) = mcast::bytes::channel(config);
        McastSender::new(sender)
    }
}

const _: () = assert!(size_of::<McastConfig>() == 56);
