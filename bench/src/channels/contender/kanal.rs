//! The crate `kanal`: a channel that writes straight to a waiting receiver's stack.

use kanal::{Receiver, Sender, bounded};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static KANAL: Queues<Kanal> = Queues(Kanal);

pub(super) struct Kanal;

impl QueueFamily for Kanal {
    const NAME: &'static str = "kanal";
    const ABOUT: &'static str = "crate kanal, a bounded channel for each receiver; spins, then parks";
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
