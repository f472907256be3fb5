//! The broadcast channel of tokio, the async runtime that most programs use. It never makes the sender wait: a receiver that is a
//! ring behind misses messages, and is told how many.

use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::payload::{ForPayload, Payload, for_payload};
use super::{Carrier, Ends, Inlets, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct TokioBroadcast;

struct Out<P: Payload> {
    sender: Sender<P>,
    pen: P::Pen,
}

struct In<P> {
    receiver: Receiver<P>,
    len: usize,
    /// Messages missed that the reader has not been told of yet.
    missed: u64,
}

impl Carrier for TokioBroadcast {
    fn name(&self) -> &'static str {
        "tokio-broadcast"
    }

    fn about(&self) -> &'static str {
        "crate tokio, its broadcast channel through blocking calls; parks; drops what a receiver is late for"
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST.lossy()
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        Ok(for_payload(self, wire, abort))
    }
}

impl ForPayload for TokioBroadcast {
    fn open<P: Payload>(&self, wire: &Wire, _abort: &Arc<Abort>) -> Ends {
        let (sender, receiver) = channel::<P>(wire.depth);
        let mut receivers = vec![receiver];
        receivers.resize_with(wire.receivers, || sender.subscribe());
        let inlet = |receiver| Box::new(Receiving(In { receiver, len: wire.bytes, missed: 0 })) as Box<dyn Inlet>;
        let inlets = Inlets::Here(receivers.into_iter().map(inlet).collect());
        Ends { outlet: Box::new(Sending(Out { sender, pen: P::pen(wire) })), inlets }
    }
}

impl<P: Payload> ByteSend for Out<P> {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        let message = P::write(&mut self.pen, write);
        self.sender.send(message).map(drop).map_err(|_| Failure::Refused("the receivers are gone".to_owned()))
    }
}

impl<P: Payload> ByteRecv for In<P> {
    #[inline]
    fn recv<R: Reader>(&mut self, most: u64, reader: &mut R) -> Result<(), Failure> {
        loop {
            if self.missed > 0 {
                let told = self.missed.min(most);
                self.missed -= told;
                reader.miss(told);
                return Ok(());
            }
            match self.receiver.blocking_recv() {
                Ok(message) => {
                    reader.read(message.bytes(self.len));
                    return Ok(());
                }
                Err(RecvError::Lagged(messages)) => self.missed += messages,
                Err(error) => return Err(Failure::refused(error)),
            }
        }
    }
}
