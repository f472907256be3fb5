//! corecast's own ring of one sender and one receiver, for values.

use corecast::channel::ump::{Config, Receiver, Sender, channel_with};

use super::super::wire::Wire;
use super::Traits;
use super::payload::{INLINE_BYTES, Payload};
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting, each_receiver};
use corecast_race::failure::Failure;

pub(super) static UMP: Queues<Ump> = Queues(Ump);

pub(super) struct Ump;

impl QueueFamily for Ump {
    const NAME: &'static str = "ump";
    const ABOUT: &'static str = "corecast's ump ring for each receiver, waiting as asked for";
    const TRAITS: Traits = Traits::UNICAST.ours();
    type Sender<P: Payload> = Sender<P>;
    type Receiver<P: Payload> = Receiver<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<Sender<P>>, Vec<Receiver<P>>) {
        // A block travels as its handle.
        let bytes = if wire.bytes > INLINE_BYTES { size_of::<P>() } else { wire.bytes };
        let lines = (bytes + 8).div_ceil(64);
        each_receiver(wire, || {
            channel_with(Config {
                slots: wire.depth * lines,
                wait: wire.wait(),
                wake_cost: wire.wake_cost(),
                ..Config::default()
            })
        })
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
