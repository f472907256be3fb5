//! corecast's own ring of one sender and one receiver.

use std::sync::Arc;
use std::time::Duration;

use corecast::channel::ump::{Config, Receiver, Sender, channel_with};

use crate::pair_body::{RecvEnd, SendEnd};
use crate::pair_body::{channel_name, one_way_bodies, stream_bodies};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};
use corecast_race::message::Message;
use corecast_race::op::Op;

pub(super) struct Ump {
    pub(super) op: Op,
    pub(super) slots: usize,
}

impl Contender for Ump {
    fn name(&self) -> String {
        channel_name("ump", self.op, self.slots)
    }

    fn about(&self) -> String {
        format!("corecast's ump ring of {} slots of 64 bytes, waiting as asked for", self.slots)
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let channel = || ring(setting, self.slots);
        Ok(if self.op == Op::OneWay { one_way_bodies(channel(), channel()) } else { stream_bodies(channel()) })
    }
}

/// The two ends of a ring that waits as the setting says.
pub(crate) fn ring(setting: &Setting<'_>, slots: usize) -> (Sender<Message>, Receiver<Message>) {
    let wake_cost = setting.machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64));
    channel_with(Config { slots, wait: setting.wait, wake_cost, ..Config::default() })
}

impl SendEnd for Sender<Message> {
    type Item = Message;

    #[inline]
    fn send(&mut self, message: Message) -> Result<(), Failure> {
        Sender::send(self, message).map_err(Failure::refused)
    }
}

impl RecvEnd for Receiver<Message> {
    type Item = Message;

    #[inline]
    fn recv(&mut self) -> Result<Message, Failure> {
        Receiver::recv(self).map_err(Failure::refused)
    }
}
