//! The crate `bus`: a broadcast ring in which the last reader of a slot takes the value and the others clone it.

use bus::BusReader;

use super::super::wire::Wire;
use super::Traits;
use super::payload::Payload;
use super::queue::{QueueFamily, QueueRecv, QueueSend, Queues, Waiting};
use corecast_race::failure::Failure;

pub(super) static BUS: Queues<Bus> = Queues(Bus);

pub(super) struct Bus;

impl QueueFamily for Bus {
    const NAME: &'static str = "bus";
    const ABOUT: &'static str = "crate bus, one sender and a reader for each receiver; spins, then parks";
    const TRAITS: Traits = Traits::BROADCAST;
    type Sender<P: Payload> = bus::Bus<P>;
    type Receiver<P: Payload> = BusReader<P>;

    fn channels<P: Payload>(wire: &Wire) -> (Vec<bus::Bus<P>>, Vec<BusReader<P>>) {
        let mut bus = bus::Bus::new(wire.depth);
        let readers = (0..wire.receivers).map(|_| bus.add_rx()).collect();
        (vec![bus], readers)
    }
}

impl<P: Payload> QueueSend<P> for bus::Bus<P> {
    #[inline]
    fn push(&mut self, message: P, _waiting: &Waiting) -> Result<(), Failure> {
        self.broadcast(message);
        Ok(())
    }
}

impl<P: Payload> QueueRecv<P> for BusReader<P> {
    #[inline]
    fn pop(&mut self, _waiting: &Waiting) -> Result<P, Failure> {
        self.recv().map_err(Failure::refused)
    }
}
