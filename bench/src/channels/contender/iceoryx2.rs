//! The crate `iceoryx2`: publish and subscribe through shared memory, as many robots do: messages are loaned, written in place,
//! and read in place.
//!
//! Its thread-safe ports are raced, because the harness's ends move between threads; they take a lock that its other
//! ports do without. The publisher waits for slow subscribers instead of overwriting, as all lossless contenders do.

use std::process;
use std::sync::Arc;

use corecast::base::sync::{AtomicU64, Ordering};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::queue::Waiting;
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) static ICEORYX2: Iceoryx2 = Iceoryx2;

/// Numbers the services of this process.
static SERVICES: AtomicU64 = AtomicU64::new(0);

type Service = ipc_threadsafe::Service;
type Topic = PortFactory<Service, [u8], ()>;

pub(super) struct Iceoryx2;

struct Out {
    publisher: Publisher<Service, [u8], ()>,
    _service: Topic,
    _node: Node<Service>,
    len: usize,
}

struct In {
    subscriber: Subscriber<Service, [u8], ()>,
    _service: Topic,
    _node: Node<Service>,
    waiting: Waiting,
}

impl Carrier for Iceoryx2 {
    fn name(&self) -> &'static str {
        "iceoryx2"
    }

    fn about(&self) -> &'static str {
        "crate iceoryx2, loans through thread-safe ports, without overflow; polls for 50 us, then yields"
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST.among_processes()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        // ORDERING: Relaxed, only that the numbers differ matters
        let number = SERVICES.fetch_add(1, Ordering::Relaxed);
        let word = u64::from(process::id()) << 32 | number;
        let (node, service) = service(wire, word)?;
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(wire.bytes)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(|error| Unfit(format!("publisher: {error}")))?;
        let outlet = Box::new(Sending(Out { publisher, _service: service, _node: node, len: wire.bytes }));
        let seeds = (0..wire.receivers).map(|_| Seed { fds: Vec::new(), word }).collect();
        Ok(Ends { outlet, inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let (node, service) = service(wire, seed.word)?;
        let subscriber = service.subscriber_builder().buffer_size(wire.depth).create();
        let subscriber = subscriber.map_err(|error| Unfit(format!("subscriber: {error}")))?;
        let waiting = Waiting::new(wire, abort);
        Ok(Box::new(Receiving(In { subscriber, _service: service, _node: node, waiting })))
    }
}

/// The service of this number, made or joined, and a node to reach it.
fn service(wire: &Wire, word: u64) -> Result<(Node<Service>, Topic), Unfit> {
    set_log_level(LogLevel::Fatal);
    let unfit = |what: &str, error: &dyn std::fmt::Display| Unfit(format!("{what}: {error}"));
    let node = NodeBuilder::new().create::<Service>().map_err(|error| unfit("node", &error))?;
    let name = format!("corecast-bench/{word}");
    let name = name.as_str().try_into().map_err(|error| unfit("name", &format!("{error:?}")))?;
    let service = node
        .service_builder(&name)
        .publish_subscribe::<[u8]>()
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(wire.depth)
        .max_subscribers(wire.receivers)
        .max_publishers(1)
        .max_nodes(wire.receivers + 1)
        .open_or_create()
        .map_err(|error| unfit("service", &error))?;
    Ok((node, service))
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        let mut sample = self.publisher.loan_slice(self.len).map_err(Failure::refused)?;
        write(sample.payload_mut());
        sample.send().map(drop).map_err(Failure::refused)
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        let Self { subscriber, waiting, .. } = self;
        let sample = waiting.some(|| subscriber.receive().transpose())?.map_err(Failure::refused)?;
        reader.read(sample.payload());
        Ok(())
    }
}
