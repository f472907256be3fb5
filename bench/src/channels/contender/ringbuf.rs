//! The crate `ringbuf`, the most downloaded ring of one sender and one receiver.

use ringbuf::traits::{Consumer, Observer, Producer, Split};
use ringbuf::{HeapCons, HeapProd, HeapRb};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static RINGBUF: Queues<Ringbuf> = Queues(Ringbuf);

pub(super) struct Ringbuf;

impl QueueFamily for Ringbuf {
    const NAME: &'static str = "ringbuf";
    const ABOUT: &'static str = "crate ringbuf, a ring for each receiver; polls for 50 us, then yields";
    type Sender<P: Payload> = HeapProd<P>;
    type Receiver<P: Payload> = HeapCons<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<HeapProd<P>>, Vec<HeapCons<P>>) {
        each_receiver(wire, || HeapRb::new(wire.depth).split())
    }
}

impl<P: Payload> QueueSend<P> for HeapProd<P> {
    #[inline]
    fn push(&mut self, message: P, waiting: &Waiting) -> Result<(), Failure> {
        match self.try_push(message) {
            Ok(()) => Ok(()),
            Err(message) => push_later(self, message, waiting),
        }
    }
}

impl<P: Payload> QueueRecv<P> for HeapCons<P> {
    #[inline]
    fn pop(&mut self, waiting: &Waiting) -> Result<P, Failure> {
        waiting.some(|| self.try_pop())
    }
}

/// Puts in a message for which there was no room.
#[cold]
fn push_later<P: Payload>(queue: &mut HeapProd<P>, message: P, waiting: &Waiting) -> Result<(), Failure> {
    waiting.until(|| !queue.is_full())?;
    queue.try_push(message).map_err(|_| Failure::Refused("full although it was not".to_owned()))
}
