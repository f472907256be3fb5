//! The crate `nexus-queue`: a young ring of one sender and one receiver with cached indices.

use nexus_queue::spsc::{Consumer, Producer, ring_buffer};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static NEXUS_QUEUE: Queues<NexusQueue> = Queues(NexusQueue);

pub(super) struct NexusQueue;

impl QueueFamily for NexusQueue {
    const NAME: &'static str = "nexus-queue";
    const ABOUT: &'static str = "crate nexus-queue, its spsc ring for each receiver; polls for 50 us, then yields";
    type Sender<P: Payload> = Producer<P>;
    type Receiver<P: Payload> = Consumer<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Producer<P>>, Vec<Consumer<P>>) {
        each_receiver(wire, || ring_buffer(wire.depth))
    }
}

impl<P: Payload> QueueSend<P> for Producer<P> {
    #[inline]
    fn push(&mut self, message: P, waiting: &Waiting) -> Result<(), Failure> {
        let mut message = Some(message);
        waiting.until(|| {
            let refused = message.take().and_then(|given| Producer::push(self, given).err());
            message = refused.map(nexus_queue::Full::into_inner);
            message.is_none()
        })
    }
}

impl<P: Payload> QueueRecv<P> for Consumer<P> {
    #[inline]
    fn pop(&mut self, waiting: &Waiting) -> Result<P, Failure> {
        waiting.some(|| Consumer::pop(self))
    }
}
