//! vLLM's broadcast among processes: a ring of chunks, each with a byte that says it is written and one for each reader.
//!
//! The sender writes a chunk once all bytes of its readers are set, clears them, and sets its own; a reader reads in place
//! and sets its byte. The flags of all chunks lie side by side, as published (vllm-project/vllm, `shm_broadcast.py`).

use std::sync::Arc;

use corecast::base::sync::Ordering;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::queue::Waiting;
use super::shared_memory::SharedMemory;
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

pub(super) struct ByteFlags;

/// Where things lie: the flags of all chunks, then the chunks.
#[derive(Clone, Copy)]
struct Layout {
    chunks: usize,
    readers: usize,
    len: usize,
}

struct Out {
    memory: SharedMemory,
    layout: Layout,
    chunk: usize,
    waiting: Waiting,
}

struct In {
    memory: SharedMemory,
    layout: Layout,
    reader: usize,
    chunk: usize,
    waiting: Waiting,
}

impl Layout {
    fn of(wire: &Wire) -> Self {
        Self { chunks: wire.depth, readers: wire.receivers, len: wire.bytes }
    }

    /// The chunk behind this one, found without a division.
    fn after(self, chunk: usize) -> usize {
        if chunk + 1 == self.chunks { 0 } else { chunk + 1 }
    }

    fn written(self, chunk: usize) -> usize {
        chunk * (1 + self.readers)
    }

    fn read_by(self, chunk: usize, reader: usize) -> usize {
        self.written(chunk) + 1 + reader
    }

    fn chunk(self, chunk: usize) -> usize {
        self.written(self.chunks).next_multiple_of(64) + chunk * self.len.next_multiple_of(64)
    }
}

impl Carrier for ByteFlags {
    fn name(&self) -> &'static str {
        "byte-flags"
    }

    fn about(&self) -> &'static str {
        "vLLM's broadcast ring: a byte of every reader for each chunk, in place; polls for 50 us, then yields"
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST.among_processes()
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        let layout = Layout::of(wire);
        let (memory, seeds) = SharedMemory::create(layout.chunk(layout.chunks), wire.receivers)?;
        let out = Out { memory, layout, chunk: 0, waiting: Waiting::new(wire, abort) };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let (memory, layout, reader) = (SharedMemory::of(&seed)?, Layout::of(wire), seed.word as usize);
        Ok(Box::new(Receiving(In { memory, layout, reader, chunk: 0, waiting: Waiting::new(wire, abort) })))
    }
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        let (memory, layout, chunk) = (&self.memory, self.layout, self.chunk);
        let written = memory.flag(layout.written(chunk));
        let read_by = |reader| memory.flag(layout.read_by(chunk, reader));
        // ORDERING: Relaxed, only this end writes it
        if written.load(Ordering::Relaxed) {
            // ORDERING: Acquire, pairs with the Release of each reader, which is done with the chunk [flags-read]
            self.waiting.until(|| (0..layout.readers).all(|reader| read_by(reader).load(Ordering::Acquire)))?;
            // ORDERING: Relaxed, the Release of the readers' flags below publishes it
            written.store(false, Ordering::Relaxed);
        }
        // SAFETY: every reader is done with the chunk, and does not look at it again before it is marked as written.
        write(unsafe { memory.bytes_mut(layout.chunk(chunk), layout.len) });
        for reader in 0..layout.readers {
            // ORDERING: Release, pairs with the Acquire of the reader, which must not take the old mark for the new
            // [flags-cleared]
            read_by(reader).store(false, Ordering::Release);
        }
        // ORDERING: Release, pairs with the Acquire of the readers [flags-written]
        written.store(true, Ordering::Release);
        self.chunk = layout.after(chunk);
        Ok(())
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        let (memory, layout, chunk) = (&self.memory, self.layout, self.chunk);
        let read = memory.flag(layout.read_by(chunk, self.reader));
        let written = memory.flag(layout.written(chunk));
        // ORDERING: Acquire, pairs with the Release of the sender that cleared it [flags-cleared]
        // ORDERING: Acquire, pairs with the Release of the sender [flags-written]
        self.waiting.until(|| !read.load(Ordering::Acquire) && written.load(Ordering::Acquire))?;
        // SAFETY: the sender writes the chunk again only after this reader has set its flag below.
        reader.read(unsafe { memory.bytes(layout.chunk(chunk), layout.len) });
        // ORDERING: Release, pairs with the Acquire of the sender [flags-read]
        read.store(true, Ordering::Release);
        self.chunk = layout.after(chunk);
        Ok(())
    }
}
