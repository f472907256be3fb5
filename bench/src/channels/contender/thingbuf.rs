//! The crate `thingbuf`: a ring for many senders whose slots keep their values.

use thingbuf::mpsc::blocking::{Receiver, Sender, channel};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static THINGBUF: Queues<Thingbuf> = Queues(Thingbuf);

pub(super) struct Thingbuf;

impl QueueFamily for Thingbuf {
    const NAME: &'static str = "thingbuf";
    const ABOUT: &'static str = "crate thingbuf, its blocking mpsc channel for each receiver; spins, then parks";
    type Sender<P: Payload> = Sender<P>;
    type Receiver<P: Payload> = Receiver<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Sender<P>>, Vec<Receiver<P>>) {
        each_receiver(wire, || channel(wire.depth))
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
        self.recv().ok_or_else(|| Failure::Refused("the sender is gone".to_owned()))
    }
}
