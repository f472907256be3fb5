//! One of many crossbeam channels, received from through crossbeam's `Select`.

use std::sync::Arc;

use crossbeam_channel::{Receiver, Select, Sender, bounded};

use super::selected::SLOTS;
use crate::pair_body::stream_bodies;
use crate::pair_body::{RecvEnd, SendEnd};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};
use corecast_race::message::Message;

pub(super) struct CrossbeamSelect {
    pub(super) channels: usize,
}

struct Receiving {
    /// Borrows the receivers, which are never dropped: a selection made once for all is its fastest use.
    select: Select<'static>,
    receivers: &'static [Receiver<Message>],
    /// The sending ends of the channels that stay empty.
    _idle: Vec<Sender<Message>>,
}

impl Contender for CrossbeamSelect {
    fn name(&self) -> String {
        format!("crossbeam-select/{}", self.channels)
    }

    fn about(&self) -> String {
        format!("crate crossbeam-channel, Select over {} bounded channels, one of them in use", self.channels)
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, _setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..self.channels).map(|_| bounded(SLOTS)).unzip();
        let busy = senders.swap_remove(self.channels / 2);
        // A contender is built once in a run.
        let receivers: &'static [_] = receivers.leak();
        let mut select = Select::new();
        for receiver in receivers {
            select.recv(receiver);
        }
        Ok(stream_bodies((busy, Receiving { select, receivers, _idle: senders })))
    }
}

impl SendEnd for Sender<Message> {
    type Item = Message;

    #[inline]
    fn send(&mut self, message: Message) -> Result<(), Failure> {
        Sender::send(self, message).map_err(Failure::refused)
    }
}

impl RecvEnd for Receiving {
    type Item = Message;

    #[inline]
    fn recv(&mut self) -> Result<Message, Failure> {
        let chosen = self.select.select();
        let receiver = &self.receivers[chosen.index()];
        chosen.recv(receiver).map_err(Failure::refused)
    }
}
