//! The standard library's bounded channel.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::super::wire::Wire;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static SYNC_CHANNEL: Queues<SyncChannel> = Queues(SyncChannel);

pub(super) struct SyncChannel;

impl QueueFamily for SyncChannel {
    const NAME: &'static str = "std-sync-channel";
    const ABOUT: &'static str = "std::sync::mpsc::sync_channel, one for each receiver; spins, then parks";
    type Sender<P: Payload> = SyncSender<P>;
    type Receiver<P: Payload> = Receiver<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<SyncSender<P>>, Vec<Receiver<P>>) {
        each_receiver(wire, || sync_channel(wire.depth))
    }
}

impl<P: Payload> QueueSend<P> for SyncSender<P> {
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
