//! The crate `rtrb`, the best rival among rings of one sender and one receiver.

use rtrb::{Consumer, Producer, RingBuffer};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static RTRB: Queues<Rtrb> = Queues(Rtrb);

pub(super) struct Rtrb;

impl QueueFamily for Rtrb {
    const NAME: &'static str = "rtrb";
    const ABOUT: &'static str = "crate rtrb, a ring for each receiver; polls for 50 us, then yields";
    type Sender<P: Payload> = Producer<P>;
    type Receiver<P: Payload> = Consumer<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Producer<P>>, Vec<Consumer<P>>) {
        each_receiver(wire, || RingBuffer::new(wire.depth))
    }
}

impl<P: Payload> QueueSend<P> for Producer<P> {
    #[inline]
    fn push(&mut self, message: P, waiting: &Waiting) -> Result<(), Failure> {
        waiting.until(|| !self.is_full())?;
        Producer::push(self, message).map_err(Failure::refused)
    }
}

impl<P: Payload> QueueRecv<P> for Consumer<P> {
    #[inline]
    fn pop(&mut self, waiting: &Waiting) -> Result<P, Failure> {
        waiting.some(|| Consumer::pop(self).ok())
    }
}
