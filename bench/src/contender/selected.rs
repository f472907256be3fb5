//! One of many `ump` channels, received from through corecast's `Select`.

use std::sync::Arc;
use std::time::Duration;

use corecast::base::wait::{CpuSharing, Waiter};
use corecast::channel::select::Select;
use corecast::channel::ump::{Receiver, Sender};

use crate::pair_body::{RecvEnd, stream_bodies};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};
use corecast_race::message::Message;

/// The number of slots of a channel that is one of many.
pub(super) const SLOTS: usize = 64;

pub(super) struct Selected {
    pub(super) channels: usize,
}

/// All receiving ends, of which one is sent to.
struct Receiving {
    select: Select<Receiver<Message>>,
    /// The sending ends of the others, whose channels stay open and empty.
    _idle: Vec<Sender<Message>>,
}

impl Contender for Selected {
    fn name(&self) -> String {
        format!("select/{}", self.channels)
    }

    fn about(&self) -> String {
        format!("corecast's Select over {} ump channels, one of them in use, waiting as asked for", self.channels)
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let (mut senders, select) = select(setting, self.channels, SLOTS);
        let busy = senders.swap_remove(self.channels / 2);
        Ok(stream_bodies((busy, Receiving { select, _idle: senders })))
    }
}

/// Channels with their sending ends, and all their receiving ends in one.
pub(crate) fn select(
    setting: &Setting<'_>,
    channels: usize,
    slots: usize,
) -> (Vec<Sender<Message>>, Select<Receiver<Message>>) {
    let wake_cost = setting.machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64));
    let mut select = Select::with_waiter(Waiter::new(setting.wait, CpuSharing::unpinned(2), wake_cost));
    let channel = |_| {
        let (sender, receiver) = super::ump_ring(setting, slots);
        select.add(receiver);
        sender
    };
    let senders = (0..channels).map(channel).collect();
    (senders, select)
}

impl RecvEnd for Receiving {
    type Item = Message;

    #[inline]
    fn recv(&mut self) -> Result<Message, Failure> {
        self.select.recv().map(|(_, message)| message).map_err(Failure::refused)
    }
}
