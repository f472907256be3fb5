//! The crate `async-broadcast`: a broadcast queue for async programs, used through its blocking calls.

use async_broadcast::{Receiver, Sender, broadcast};

use super::super::wire::Wire;
use super::Traits;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting};
use corecast_race::failure::Failure;

pub(super) static ASYNC_BROADCAST: Queues<AsyncBroadcast> = Queues(AsyncBroadcast);

pub(super) struct AsyncBroadcast;

impl QueueFamily for AsyncBroadcast {
    const NAME: &'static str = "async-broadcast";
    const ABOUT: &'static str = "crate async-broadcast, its blocking calls; parks";
    const TRAITS: Traits = Traits::BROADCAST;
    type Sender<P: Payload> = Sender<P>;
    type Receiver<P: Payload> = Receiver<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Sender<P>>, Vec<Receiver<P>>) {
        let (sender, receiver) = broadcast(wire.depth);
        let mut receivers = vec![receiver];
        receivers.resize_with(wire.receivers, || sender.new_receiver());
        (vec![sender], receivers)
    }
}

impl<P: Payload> QueueSend<P> for Sender<P> {
    #[inline]
    fn push(&mut self, message: P, _waiting: &Waiting) -> Result<(), Failure> {
        let sent = self.broadcast_blocking(message);
        sent.map(drop).map_err(|_| Failure::Refused("the receivers are gone".to_owned()))
    }
}

impl<P: Payload> QueueRecv<P> for Receiver<P> {
    #[inline]
    fn pop(&mut self, _waiting: &Waiting) -> Result<P, Failure> {
        self.recv_blocking().map_err(Failure::refused)
    }
}
