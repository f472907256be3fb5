//! The Rust form of the LMAX disruptor: slots are written in place and read by reference.

use std::sync::Arc;

use disruptor::{
    BusySpinWithSpinLoopHint, EventPoller, MultiConsumerBarrier, Producer, SingleProducer, SingleProducerBarrier,
    build_single_producer,
};

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::payload::Slot;
use super::queue::Waiting;
use super::{Carrier, Ends, Inlets, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct Disruptor;

type Poller = EventPoller<Slot, SingleProducerBarrier>;

struct Out {
    producer: SingleProducer<Slot, MultiConsumerBarrier>,
    len: usize,
    waiting: Waiting,
}

struct In {
    poller: Poller,
    len: usize,
    waiting: Waiting,
}

impl Carrier for Disruptor {
    fn name(&self) -> &'static str {
        "disruptor"
    }

    fn about(&self) -> &'static str {
        "crate disruptor, a single producer and a poller for each receiver, in place; polls for 50 us, then yields"
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let (len, waiting) = (wire.bytes, Waiting::new(wire, abort));
        let builder = build_single_producer(wire.depth, || Slot::of(len), BusySpinWithSpinLoopHint);
        let mut builder = builder.with_multi_consumer();
        let mut inlets: Vec<Box<dyn Inlet>> = Vec::with_capacity(wire.receivers);
        for _ in 0..wire.receivers {
            let (poller, rest) = builder.new_event_poller();
            inlets.push(Box::new(Receiving(In { poller, len, waiting: waiting.clone() })));
            builder = rest;
        }
        let outlet = Box::new(Sending(Out { producer: builder.build(), len, waiting }));
        Ok(Ends { outlet, inlets: Inlets::Here(inlets) })
    }
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        let mut write = Some(write);
        let (producer, len) = (&mut self.producer, self.len);
        self.waiting.until(|| {
            let update = |slot: &mut Slot| {
                let write = write.take().expect("a slot is written once");
                write(slot.bytes_mut(len));
            };
            producer.try_publish(update).is_ok()
        })
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, most: u64, reader: &mut R) -> Result<(), Failure> {
        let (poller, len) = (&mut self.poller, self.len);
        self.waiting.until(|| match poller.take(most) {
            Ok(mut slots) => {
                let mut taken = false;
                for slot in &mut slots {
                    reader.read(slot.bytes(len));
                    taken = true;
                }
                taken
            }
            Err(_) => false,
        })
    }
}
