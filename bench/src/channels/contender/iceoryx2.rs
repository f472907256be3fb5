//! The crate `iceoryx2`: publish and subscribe through shared memory, as many robots do.
//!
//! Its single-threaded ports of service `ipc` are raced, the faster ones: an end is used by one thread at a time. Three ways:
//! loans that are not initialised, written and read in place; copies in and out; and loans with the crate's default of
//! overflow, where the publisher overwrites what a slow subscriber has not taken. In the other two it waits for slow
//! subscribers, as all lossless contenders do. The number of a message travels in its user header.

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

pub(super) static ICEORYX2: Iceoryx2 = Iceoryx2(Way::Loan);
pub(super) static ICEORYX2_COPY: Iceoryx2 = Iceoryx2(Way::Copy);
pub(super) static ICEORYX2_OVERFLOW: Iceoryx2 = Iceoryx2(Way::Overflow);

/// Numbers the services of this process.
static SERVICES: AtomicU64 = AtomicU64::new(0);

type Service = ipc::Service;
type Topic = PortFactory<Service, [u8], u64>;

/// How messages go through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Loan,
    Copy,
    Overflow,
}

pub(super) struct Iceoryx2(Way);

struct Out {
    publisher: Publisher<Service, [u8], u64>,
    _service: Topic,
    _node: Node<Service>,
    len: usize,
    /// `None` if messages are written in place.
    copy: Option<Vec<u8>>,
    next: u64,
}

struct In {
    subscriber: Subscriber<Service, [u8], u64>,
    _service: Topic,
    _node: Node<Service>,
    waiting: Waiting,
    /// `None` if messages are read in place.
    copy: Option<Vec<u8>>,
    next: u64,
}

// SAFETY: the port, its service and its node share reference counts that are not atomic, with each other and with nothing
// else. They move together, and the harness orders the work of a thread before that of the next one.
unsafe impl Send for Out {}
// SAFETY: as for Out.
unsafe impl Send for In {}

impl Carrier for Iceoryx2 {
    fn name(&self) -> &'static str {
        match self.0 {
            Way::Loan => "iceoryx2",
            Way::Copy => "iceoryx2-copy",
            Way::Overflow => "iceoryx2-overflow",
        }
    }

    fn about(&self) -> &'static str {
        match self.0 {
            Way::Loan => {
                "crate iceoryx2, service ipc, uninitialised loans, without overflow; polls for 50 us, then yields"
            }
            Way::Copy => {
                "crate iceoryx2, service ipc, copied in and out, without overflow; polls for 50 us, then yields"
            }
            Way::Overflow => "crate iceoryx2, service ipc, uninitialised loans, drops what a subscriber is late for",
        }
    }

    fn traits(&self) -> Traits {
        let lossless = Traits::BROADCAST.among_processes();
        if self.0 == Way::Overflow { lossless.lossy() } else { lossless }
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        // ORDERING: Relaxed, only that the numbers differ matters
        let number = SERVICES.fetch_add(1, Ordering::Relaxed);
        let word = u64::from(process::id()) << 32 | number;
        let (node, service) = self.service(wire, word)?;
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(wire.bytes)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .map_err(|error| Unfit(format!("publisher: {error}")))?;
        let out = Out { publisher, _service: service, _node: node, len: wire.bytes, copy: self.copy_of(wire), next: 0 };
        let seeds = (0..wire.receivers).map(|_| Seed { fds: Vec::new(), word }).collect();
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let (node, service) = self.service(wire, seed.word)?;
        let subscriber = service.subscriber_builder().buffer_size(wire.depth).create();
        let subscriber = subscriber.map_err(|error| Unfit(format!("subscriber: {error}")))?;
        let waiting = Waiting::new(wire, abort);
        let copy = self.copy_of(wire);
        Ok(Box::new(Receiving(In { subscriber, _service: service, _node: node, waiting, copy, next: 0 })))
    }
}

impl Iceoryx2 {
    fn copy_of(&self, wire: &Wire) -> Option<Vec<u8>> {
        (self.0 == Way::Copy).then(|| vec![0; wire.bytes])
    }

    /// The service of this number, made or joined, and a node to reach it.
    fn service(&self, wire: &Wire, word: u64) -> Result<(Node<Service>, Topic), Unfit> {
        set_log_level(LogLevel::Fatal);
        let unfit = |what: &str, error: &dyn std::fmt::Display| Unfit(format!("{what}: {error}"));
        let node = NodeBuilder::new().create::<Service>().map_err(|error| unfit("node", &error))?;
        let name = format!("corecast-bench/{word}");
        let name = name.as_str().try_into().map_err(|error| unfit("name", &format!("{error:?}")))?;
        let service = node
            .service_builder(&name)
            .publish_subscribe::<[u8]>()
            .user_header::<u64>()
            .enable_safe_overflow(self.0 == Way::Overflow)
            .subscriber_max_buffer_size(wire.depth)
            .max_subscribers(wire.receivers)
            .max_publishers(1)
            .max_nodes(wire.receivers + 1)
            .open_or_create()
            .map_err(|error| unfit("service", &error))?;
        Ok((node, service))
    }
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        if let Some(copy) = &mut self.copy {
            write(copy);
            let mut loan = self.publisher.loan_slice_uninit(self.len).map_err(Failure::refused)?;
            *loan.user_header_mut() = self.next;
            self.next += 1;
            return loan.write_from_slice(copy).send().map(drop).map_err(Failure::refused);
        }
        let mut loan = self.publisher.loan_slice_uninit(self.len).map_err(Failure::refused)?;
        *loan.user_header_mut() = self.next;
        self.next += 1;
        let start = loan.payload_mut().as_mut_ptr().cast::<u8>();
        // SAFETY: the loan's own bytes, in memory of the kernel's, which was zero before any message was there.
        write(unsafe { std::slice::from_raw_parts_mut(start, self.len) });
        // SAFETY: every byte was written just now.
        let sample = unsafe { loan.assume_init() };
        sample.send().map(drop).map_err(Failure::refused)
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, most: u64, reader: &mut R) -> Result<(), Failure> {
        let Self { subscriber, waiting, copy, next, .. } = self;
        let sample = waiting.some(|| subscriber.receive().transpose())?.map_err(Failure::refused)?;
        // A message behind a gap is never beyond the block, which ends when its last message has been taken in.
        let missed = *sample.user_header() - *next;
        if missed > 0 {
            reader.miss(missed.min(most - 1));
        }
        *next = *sample.user_header() + 1;
        match copy {
            Some(copy) => {
                copy.copy_from_slice(sample.payload());
                reader.read(copy);
            }
            None => reader.read(sample.payload()),
        }
        Ok(())
    }
}
