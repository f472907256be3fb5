//! The crate `crossfire`: a channel for async and blocking ends.

use crossfire::spsc::{Array, bounded_blocking};
use crossfire::{Rx, Tx};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static CROSSFIRE: Queues<Crossfire> = Queues(Crossfire);

pub(super) struct Crossfire;

impl QueueFamily for Crossfire {
    const NAME: &'static str = "crossfire";
    const ABOUT: &'static str = "crate crossfire, its blocking spsc channel for each receiver; spins, then parks";
    type Sender<P: Payload> = Tx<Array<P>>;
    type Receiver<P: Payload> = Rx<Array<P>>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Tx<Array<P>>>, Vec<Rx<Array<P>>>) {
        each_receiver(wire, || bounded_blocking(wire.depth))
    }
}

impl<P: Payload> QueueSend<P> for Tx<Array<P>> {
    #[inline]
    fn push(&mut self, message: P, _waiting: &Waiting) -> Result<(), Failure> {
        self.send(message).map_err(|_| Failure::Refused("the receiver is gone".to_owned()))
    }
}

impl<P: Payload> QueueRecv<P> for Rx<Array<P>> {
    #[inline]
    fn pop(&mut self, _waiting: &Waiting) -> Result<P, Failure> {
        self.recv().map_err(|_| Failure::Refused("the sender is gone".to_owned()))
    }
}
