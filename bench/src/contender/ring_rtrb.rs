//! The crate `rtrb`, the best rival among rings of one sender and one receiver.

use std::sync::Arc;

use rtrb::{Consumer, Producer, RingBuffer};

use crate::pair_body::{RecvEnd, SendEnd};
use crate::pair_body::{channel_name, one_way_bodies, stream_bodies};
use corecast_race::contender::{Contender, Setting, Unfit};
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Body, Patience};
use corecast_race::message::Message;
use corecast_race::op::Op;

pub(super) struct Rtrb {
    pub(super) op: Op,
    pub(super) slots: usize,
}

/// rtrb has no waiting of its own: its ends poll as the bare contenders do.
struct Sending {
    ring: Producer<Message>,
    patience: Patience,
    abort: Arc<Abort>,
}

struct Receiving {
    ring: Consumer<Message>,
    patience: Patience,
    abort: Arc<Abort>,
}

impl Contender for Rtrb {
    fn name(&self) -> String {
        channel_name("rtrb", self.op, self.slots)
    }

    fn about(&self) -> String {
        format!("rtrb ring of {} messages; polls for 50 us, then yields", self.slots)
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let channel = || {
            let (sending, receiving) = RingBuffer::new(self.slots);
            let patience = setting.patience();
            let sending = Sending { ring: sending, patience, abort: Arc::clone(abort) };
            (sending, Receiving { ring: receiving, patience, abort: Arc::clone(abort) })
        };
        Ok(if self.op == Op::OneWay { one_way_bodies(channel(), channel()) } else { stream_bodies(channel()) })
    }
}

impl SendEnd for Sending {
    type Item = Message;

    #[inline]
    fn send(&mut self, message: Message) -> Result<(), Failure> {
        self.patience.until(&self.abort, || self.ring.push(message).is_ok())
    }
}

impl RecvEnd for Receiving {
    type Item = Message;

    #[inline]
    fn recv(&mut self) -> Result<Message, Failure> {
        let mut message = None;
        self.patience.until(&self.abort, || {
            message = self.ring.pop().ok();
            message.is_some()
        })?;
        Ok(message.expect("waited until there was one"))
    }
}
