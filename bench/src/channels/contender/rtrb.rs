//! The crate `rtrb`, the best rival among rings of one sender and one receiver.
//!
//! A message at a time. Reading all that is there as one chunk, in place, was tried: 38 million messages of 64 bytes a second
//! where this has 46 to 51, as room is told of late.

use rtrb::{Consumer, Producer, PushError, RingBuffer};

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
        match Producer::push(self, message) {
            Ok(()) => Ok(()),
            Err(PushError::Full(message)) => push_later(self, message, waiting),
        }
    }
}

impl<P: Payload> QueueRecv<P> for Consumer<P> {
    #[inline]
    fn pop(&mut self, waiting: &Waiting) -> Result<P, Failure> {
        waiting.some(|| Consumer::pop(self).ok())
    }
}

/// Puts in a message for which there was no room.
#[cold]
fn push_later<P: Payload>(queue: &mut Producer<P>, message: P, waiting: &Waiting) -> Result<(), Failure> {
    waiting.until(|| !queue.is_full())?;
    Producer::push(queue, message).map_err(Failure::refused)
}
