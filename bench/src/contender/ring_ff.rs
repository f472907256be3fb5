//! corecast's own channel of words.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use corecast::channel::ff::{Config, Receiver, Sender, channel_with};

use crate::pair_body::{RecvEnd, SendEnd};
use crate::pair_body::{channel_name, stream_bodies};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body};
use corecast_race::op::Op;

pub(super) struct Ff {
    pub(super) op: Op,
    pub(super) cells: usize,
}

impl Contender for Ff {
    fn name(&self) -> String {
        channel_name("ff", self.op, self.cells)
    }

    fn about(&self) -> String {
        format!("corecast's ff channel of {} cells of 8 bytes, waiting as asked for", self.cells)
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let wake_cost = setting.machine.extended.wake_ns.map(|ns| Duration::from_nanos(ns as u64));
        let config = Config { cells: self.cells, wait: setting.wait, wake_cost, ..Config::default() };
        Ok(stream_bodies(channel_with(config)))
    }
}

impl SendEnd for Sender {
    type Item = NonZeroU64;

    #[inline]
    fn send(&mut self, word: NonZeroU64) -> Result<(), Failure> {
        Sender::send(self, word).map_err(Failure::refused)
    }
}

impl RecvEnd for Receiver {
    type Item = NonZeroU64;

    #[inline]
    fn recv(&mut self) -> Result<NonZeroU64, Failure> {
        Receiver::recv(self).map_err(Failure::refused)
    }
}
