//! The bounded channel of the standard library.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use crate::pair_body::{RecvEnd, SendEnd};
use crate::pair_body::{channel_name, one_way_bodies, stream_bodies};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};
use corecast_race::message::Message;
use corecast_race::op::Op;

pub(super) struct SyncChannel {
    pub(super) op: Op,
    pub(super) slots: usize,
}

impl Contender for SyncChannel {
    fn name(&self) -> String {
        channel_name("sync-channel", self.op, self.slots)
    }

    fn about(&self) -> String {
        format!("std::sync::mpsc::sync_channel of {} messages, sleeps after a short spin", self.slots)
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, _setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let channel = || sync_channel::<Message>(self.slots);
        Ok(if self.op == Op::OneWay { one_way_bodies(channel(), channel()) } else { stream_bodies(channel()) })
    }
}

impl SendEnd for SyncSender<Message> {
    type Item = Message;

    #[inline]
    fn send(&mut self, message: Message) -> Result<(), Failure> {
        SyncSender::send(self, message).map_err(Failure::refused)
    }
}

impl RecvEnd for Receiver<Message> {
    type Item = Message;

    #[inline]
    fn recv(&mut self) -> Result<Message, Failure> {
        Receiver::recv(self).map_err(Failure::refused)
    }
}
