//! libssmp's buffer: a single cache line for each pair, handed to and fro.
//!
//! The sender fills the line once the receiver has emptied it. Source: T. David, R. Guerraoui, V. Trigonakis, Everything You
//! Always Wanted to Know About Synchronization but Were Afraid to Ask, SOSP 2013.

use std::sync::Arc;

use corecast::base::sync::Ordering;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::lines::{self, CARGO};
use super::queue::Waiting;
use super::shared_memory::{LINE_BYTES, SharedMemory};
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct OneLine;

struct Out {
    memory: SharedMemory,
    receivers: usize,
    message: Vec<u8>,
    waiting: Waiting,
}

struct In {
    memory: SharedMemory,
    line: usize,
    message: Vec<u8>,
    waiting: Waiting,
}

impl Carrier for OneLine {
    fn name(&self) -> &'static str {
        "one-line"
    }

    fn about(&self) -> &'static str {
        "libssmp's buffer of one cache line for each receiver; polls for 50 us, then yields"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes()
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let (memory, seeds) = SharedMemory::create(wire.receivers * LINE_BYTES, wire.receivers)?;
        let (message, waiting) = (vec![0; wire.bytes], Waiting::new(wire, abort));
        let out = Out { memory, receivers: wire.receivers, message, waiting };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let (memory, line) = (SharedMemory::of(&seed)?, seed.word as usize * LINE_BYTES);
        let (message, waiting) = (vec![0; wire.bytes], Waiting::new(wire, abort));
        Ok(Box::new(Receiving(In { memory, line, message, waiting })))
    }
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        write(&mut self.message);
        for part in self.message.chunks(CARGO) {
            for line in (0..self.receivers).map(|receiver| receiver * LINE_BYTES) {
                let full = self.memory.word(line + CARGO);
                // ORDERING: Acquire, pairs with the Release of the receiver, which has emptied the line [one-line-empty]
                self.waiting.until(|| full.load(Ordering::Acquire) == 0)?;
                // SAFETY: the line is empty, so the receiver does not look at it.
                unsafe { lines::fill(&self.memory, line, part) };
                // ORDERING: Release, pairs with the Acquire of the receiver [one-line-full]
                full.store(1, Ordering::Release);
            }
        }
        Ok(())
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        let full = self.memory.word(self.line + CARGO);
        for part in self.message.chunks_mut(CARGO) {
            // ORDERING: Acquire, pairs with the Release of the sender [one-line-full]
            self.waiting.until(|| full.load(Ordering::Acquire) == 1)?;
            // SAFETY: the line is full, so the sender does not write it.
            unsafe { lines::empty(&self.memory, self.line, part) };
            // ORDERING: Release, pairs with the Acquire of the sender [one-line-empty]
            full.store(0, Ordering::Release);
        }
        reader.read(&self.message);
        Ok(())
    }
}
