//! The crate `flume`: a channel without unsafe code of its own, a queue under a lock.

use flume::{Receiver, Sender, bounded};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static FLUME: Queues<Flume> = Queues(Flume);

pub(super) struct Flume;

impl QueueFamily for Flume {
    const NAME: &'static str = "flume";
    const ABOUT: &'static str = "crate flume, a bounded channel for each receiver; parks";
    type Sender<P: Payload> = Sender<P>;
    type Receiver<P: Payload> = Receiver<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Sender<P>>, Vec<Receiver<P>>) {
        each_receiver(wire, || bounded(wire.depth))
    }
}

impl<P: Payload> QueueSend<P> for Sender<P> {
    #[inline]
    fn push(&mut self, message: P, _waiting: &Waiting) -> Result<(), Failure> {
        self.send(message).map_err(|_| Failure::Refused("the receiver is gone".to_owned()))
    }
}

impl<P: Payload> QueueRecv<P> for Receiver<P> {
    #[inline]
    fn pop(&mut self, _waiting: &Waiting) -> Result<P, Failure> {
        self.recv().map_err(|_| Failure::Refused("the sender is gone".to_owned()))
    }
}
