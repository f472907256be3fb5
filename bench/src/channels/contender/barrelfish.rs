//! Barrelfish's message passing as of 2011: a ring of cache lines for each pair, a sequence number in each line, and
//! acknowledgements.
//!
//! A message is cut into lines of 56 bytes. The receiver polls the sequence number of its next line, copies the line out,
//! and acknowledges a quarter of the ring at a time, on a line of its own (the original sends the acknowledgement along
//! with the reverse traffic, of which there is none here). Source: A. Baumann et al., The Multikernel, SOSP 2009.

use std::sync::Arc;

use corecast::base::sync::Ordering;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::lines::{self, CARGO, LINE};
use super::queue::Waiting;
use super::shared_memory::{LINE_BYTES, SharedMemory};
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct Barrelfish;

/// One pair's ring: the acknowledgement, then the lines.
#[derive(Clone, Copy)]
struct Ring {
    offset: usize,
    lines: u64,
}

struct Out {
    memory: SharedMemory,
    rings: Vec<Ring>,
    /// The last acknowledgement seen of each receiver.
    acked: Vec<u64>,
    /// Lines sent to each receiver so far.
    sent: u64,
    message: Vec<u8>,
    waiting: Waiting,
}

struct In {
    memory: SharedMemory,
    ring: Ring,
    received: u64,
    message: Vec<u8>,
    waiting: Waiting,
}

impl Ring {
    fn of(wire: &Wire, receiver: usize) -> Self {
        let lines = (wire.depth * lines::per_message(wire)).next_power_of_two();
        Self { offset: receiver * (LINE_BYTES + lines * LINE), lines: lines as u64 }
    }

    #[inline(always)]
    fn line(self, number: u64) -> usize {
        self.offset + LINE_BYTES + (number & (self.lines - 1)) as usize * LINE
    }
}

impl Carrier for Barrelfish {
    fn name(&self) -> &'static str {
        "barrelfish-mp"
    }

    fn about(&self) -> &'static str {
        "Barrelfish's message passing of 2011: a ring of 64-byte lines for each receiver; polls for 50 us, then yields"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes()
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let (memory, seeds) = SharedMemory::create(Ring::of(wire, wire.receivers).offset, wire.receivers)?;
        let rings = (0..wire.receivers).map(|receiver| Ring::of(wire, receiver)).collect();
        let (acked, message) = (vec![0; wire.receivers], vec![0; wire.bytes]);
        let out = Out { memory, rings, acked, sent: 0, message, waiting: Waiting::new(wire, abort) };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let (memory, ring) = (SharedMemory::of(&seed)?, Ring::of(wire, seed.word as usize));
        let (message, waiting) = (vec![0; wire.bytes], Waiting::new(wire, abort));
        Ok(Box::new(Receiving(In { memory, ring, received: 0, message, waiting })))
    }
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        write(&mut self.message);
        for (ring, acked) in self.rings.iter().zip(&mut self.acked) {
            for (number, part) in (self.sent..).zip(self.message.chunks(CARGO)) {
                if number - *acked >= ring.lines {
                    let ack = self.memory.word(ring.offset);
                    self.waiting.until(|| {
                        // ORDERING: Acquire, pairs with the Release of the receiver, which has read the lines [mp-ack]
                        *acked = ack.load(Ordering::Acquire);
                        number - *acked < ring.lines
                    })?;
                }
                // SAFETY: the receiver has acknowledged the line, and looks at it again only by its new number.
                unsafe { lines::fill(&self.memory, ring.line(number), part) };
                // ORDERING: Release, pairs with the Acquire of the receiver [mp-line]
                self.memory.word(ring.line(number) + CARGO).store(number + 1, Ordering::Release);
            }
        }
        self.sent += self.message.chunks(CARGO).len() as u64;
        Ok(())
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        for part in self.message.chunks_mut(CARGO) {
            let line = self.ring.line(self.received);
            let number = self.memory.word(line + CARGO);
            // ORDERING: Acquire, pairs with the Release of the sender [mp-line]
            self.waiting.until(|| number.load(Ordering::Acquire) == self.received + 1)?;
            // SAFETY: the sender writes the line again only after it was acknowledged.
            unsafe { lines::empty(&self.memory, line, part) };
            self.received += 1;
            if self.received & (self.ring.lines / 4 - 1) == 0 {
                // ORDERING: Release, pairs with the Acquire of the sender [mp-ack]
                self.memory.word(self.ring.offset).store(self.received, Ordering::Release);
            }
        }
        reader.read(&self.message);
        Ok(())
    }
}
