//! corecast's own ring of one write and many readers, with one of them.

use std::sync::Arc;
use std::time::Duration;

use corecast::channel::mcast::{Config, Receiver, Sender, channel_with};

use crate::pair_body::stream_bodies;
use crate::pair_body::{RecvEnd, SendEnd};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};
use corecast_race::message::Message;

pub(super) struct Mcast {
    pub(super) slots: usize,
}

impl Contender for Mcast {
    fn name(&self) -> String {
        "mcast".to_owned()
    }

    fn about(&self) -> String {
        format!("corecast's mcast ring of {} messages with one reader, waiting as asked for", self.slots)
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let wake_cost = setting.machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64));
        let config = Config { slots: self.slots, readers: 1, wait: setting.wait, wake_cost, ..Config::default() };
        let (sender, source) = channel_with::<Message>(config);
        let receiver = source.subscribe().map_err(|error| Unfit(error.to_string()))?;
        Ok(stream_bodies((sender, receiver)))
    }
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
        Receiver::recv(self).map(|message| *message).map_err(Failure::refused)
    }
}
