//! The crate `thingbuf`: a ring for many senders whose slots keep their values, written and read where they lie.

use thingbuf::Recycle;
use thingbuf::mpsc::blocking::{Receiver, Sender, with_recycle};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static THINGBUF: Queues<Thingbuf> = Queues(Thingbuf);

pub(super) struct Thingbuf;

/// Leaves a slot's value as it is. The crate's own recycling would write a default value over every message.
#[derive(Debug)]
pub(super) struct Keep;

impl<P: Payload> Recycle<P> for Keep {
    fn new_element(&self) -> P {
        P::default()
    }

    fn recycle(&self, _element: &mut P) {}
}

impl QueueFamily for Thingbuf {
    const NAME: &'static str = "thingbuf";
    const ABOUT: &'static str =
        "crate thingbuf, its blocking mpsc channel for each receiver, by reference; spins, then parks";
    type Sender<P: Payload> = Sender<P, Keep>;
    type Receiver<P: Payload> = Receiver<P, Keep>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Sender<P, Keep>>, Vec<Receiver<P, Keep>>) {
        each_receiver(wire, || with_recycle(wire.depth, Keep))
    }
}

impl<P: Payload> QueueSend<P> for Sender<P, Keep> {
    #[inline]
    fn push(&mut self, message: P, _waiting: &Waiting) -> Result<(), Failure> {
        *self.send_ref().map_err(|_| Failure::Refused("the receiver is gone".to_owned()))? = message;
        Ok(())
    }
}

impl<P: Payload> QueueRecv<P> for Receiver<P, Keep> {
    #[inline]
    fn pop(&mut self, _waiting: &Waiting) -> Result<P, Failure> {
        self.recv_ref().map(|message| message.clone()).ok_or_else(gone)
    }

    #[inline]
    fn read(&mut self, _most: u64, _waiting: &Waiting, mut read: impl FnMut(&P)) -> Result<(), Failure> {
        let message = self.recv_ref().ok_or_else(gone)?;
        read(&message);
        Ok(())
    }
}

fn gone() -> Failure {
    Failure::Refused("the sender is gone".to_owned())
}
