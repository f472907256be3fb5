//! One sender, one receiver, messages of any length.

pub mod sender;

pub mod receiver;

use corecast::channel::ump::{self, Config, Credit, MAX_SLOTS};

use crate::argument::{Parameters, choice, within};
use crate::error::Failure;
use crate::region_plan::RegionPlan;
use crate::wait;

use receiver::UmpReceiver;
use sender::UmpSender;

/// How the sender of a ump channel learns which slots the receiver has read.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum UmpCredit {
    /// The receiver counts them on a line of its own. Messages of any length; the better one between sockets.
    AckLine = 0,
    /// The receiver clears each slot. Messages of up to 56 bytes only; the better one within a last-level cache.
    SlotClear = 1,
}

/// How a ump channel is laid out and waits. Set `size` to sizeof(corecast_ump_config), all else to 0, and then the fields
/// that matter; NULL stands for all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct UmpConfig {
    /// sizeof(corecast_ump_config).
    pub size: usize,
    /// Slots of 64 bytes, at most 2^20; rounded up to a power of two. 0: 64, for low latency; 1024 suits streams.
    pub slots: u32,
    /// A corecast_ump_credit.
    pub credit: u32,
    /// The longest message that will be sent, in bytes: the ring is made so large that it takes no more than a quarter of
    /// it. 0: the length that a quarter of the slots takes.
    pub longest_bytes: u64,
    /// A corecast_wait: how both ends wait.
    pub wait: u32,
    /// 0.
    pub reserved: u32,
    /// The cost of sleeping and waking up on this machine, in nanoseconds. 0: not known.
    pub wake_cost_ns: u64,
}

// SAFETY: numbers laid out as C does, without padding, the size first.
unsafe impl Parameters for UmpConfig {}

impl UmpConfig {
    fn check(&self) -> Result<Config, Failure> {
        let most = MAX_SLOTS as u64;
        let slots = within(self.slots.into(), 0, most, "config.slots")? as usize;
        let credit = choice(self.credit, &[Credit::AckLine, Credit::SlotClear], "config.credit")?;
        within(self.reserved, 0, 0, "config.reserved")?;
        let longest = match credit {
            Credit::SlotClear => 56,
            _ => most / 4 * 64 - 8,
        };
        let longest = within(self.longest_bytes, 0, longest, "config.longest_bytes")? as usize;
        let (wait, wake_cost) = (wait::policy(self.wait, "config.wait")?, wait::wake_cost(self.wake_cost_ns));
        let default = Config { credit, wait, wake_cost, ..Config::default() };
        Ok(if slots == 0 { default } else { Config { slots, ..default } }.holding(longest))
    }
}

c_functions! {
    /// Declares a ump channel.
    unsafe fn corecast_region_plan_add_ump(plan: &mut RegionPlan, name: text, config: parameters UmpConfig) {
        plan.change(|plan| ump::bytes::spec(config).declare(plan, name))?
    }

    /// A ump channel among two threads of this process. For one among processes, declare it in the plan of a region.
    unsafe fn corecast_ump_create(config: parameters UmpConfig) -> (sender: new UmpSender, receiver: new UmpReceiver) {
        let (sender, receiver) = ump::bytes::channel(config);
        (UmpSender::new(sender), UmpReceiver::new(receiver))
    }
}

const _: () = assert!(size_of::<UmpConfig>() == 40);
