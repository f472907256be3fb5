//! ZIMP as its authors published it, with a single sender, for which it is correct.
//!
//! A ring of entries. The sender takes a lock to advance its place, waits until the entry's bitmap is zero, writes the
//! message in place and sets a bit for every receiver. A receiver polls its bit in the bitmap of its next entry, copies the
//! message out, and clears the bit with an atomic operation on the line that all others poll as well. Source: P. Aublin,
//! S. Ben Mokhtar, G. Muller, V. Quéma, ZIMP: Efficient Inter-core Communications on Manycore Machines, 2011. With several
//! senders it tears messages.

use std::sync::Arc;

use corecast::base::sync::Ordering;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::queue::Waiting;
use super::shared_memory::{LINE_BYTES, SharedMemory};
use super::{Carrier, Ends, Inlets, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

/// Bits of a bitmap.
const MOST_RECEIVERS: usize = 64;

pub(super) struct Zimp;

/// Where things lie: the lock, the bitmaps, the entries.
#[derive(Clone, Copy)]
struct Layout {
    entries: usize,
    len: usize,
}

struct Out {
    memory: SharedMemory,
    layout: Layout,
    next_send_entry: usize,
    /// A bit for every receiver.
    all: u64,
    waiting: Waiting,
}

struct In {
    memory: SharedMemory,
    layout: Layout,
    /// Private to the receiver, hence on no shared line: the publication pads it instead.
    next_read: usize,
    bit: u64,
    copy: Vec<u8>,
    waiting: Waiting,
}

impl Layout {
    fn of(wire: &Wire) -> Self {
        Self { entries: wire.depth, len: wire.bytes }
    }

    /// The entry behind this one, found without a division.
    fn after(self, entry: usize) -> usize {
        if entry + 1 == self.entries { 0 } else { entry + 1 }
    }

    fn bitmap(self, entry: usize) -> usize {
        (1 + entry) * LINE_BYTES
    }

    fn entry(self, entry: usize) -> usize {
        self.bitmap(self.entries) + entry * self.len.next_multiple_of(64)
    }
}

impl Carrier for Zimp {
    fn name(&self) -> &'static str {
        "zimp"
    }

    fn about(&self) -> &'static str {
        "ZIMP as published, single sender: lock, bitmap line, copy out; polls for 50 us, then yields"
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST.among_processes()
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        if wire.receivers > MOST_RECEIVERS {
            return Err(Unfit(format!("its bitmap has {MOST_RECEIVERS} bits")));
        }
        let layout = Layout::of(wire);
        let (memory, seeds) = SharedMemory::create(layout.entry(layout.entries), wire.receivers)?;
        let all = u64::MAX >> (MOST_RECEIVERS - wire.receivers);
        let out = Out { memory, layout, next_send_entry: 0, all, waiting: Waiting::new(wire, abort) };
        Ok(Ends { outlet: Box::new(Sending(out)), inlets: Inlets::Anywhere(seeds) })
    }

    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let (memory, layout) = (SharedMemory::of(&seed)?, Layout::of(wire));
        let (copy, waiting) = (vec![0; wire.bytes], Waiting::new(wire, abort));
        Ok(Box::new(Receiving(In { memory, layout, next_read: 0, bit: 1 << seed.word, copy, waiting })))
    }
}

impl Out {
    /// The entry that is this message's, taken under the lock as any of several senders would.
    fn claim(&mut self) -> Result<usize, Failure> {
        let lock = self.memory.word(0);
        // ORDERING: Acquire, pairs with the Release that unlocks [zimp-lock]; Relaxed if it is taken, as nothing is read
        self.waiting.until(|| lock.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok())?;
        let entry = self.next_send_entry;
        self.next_send_entry = self.layout.after(entry);
        // ORDERING: Release, pairs with the Acquire that locks [zimp-lock]
        lock.store(0, Ordering::Release);
        Ok(entry)
    }
}

impl ByteSend for Out {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        let entry = self.claim()?;
        let bitmap = self.memory.word(self.layout.bitmap(entry));
        // ORDERING: Acquire, pairs with the Release of the receivers, which have copied the entry's last message [zimp-read]
        self.waiting.until(|| bitmap.load(Ordering::Acquire) == 0)?;
        // SAFETY: the bitmap is zero, so no receiver reads the entry, and there is no other sender.
        write(unsafe { self.memory.bytes_mut(self.layout.entry(entry), self.layout.len) });
        // ORDERING: Release, pairs with the Acquire of the receivers [zimp-written]
        bitmap.store(self.all, Ordering::Release);
        Ok(())
    }
}

impl ByteRecv for In {
    #[inline]
    fn recv<R: Reader>(&mut self, _most: u64, reader: &mut R) -> Result<(), Failure> {
        let bitmap = self.memory.word(self.layout.bitmap(self.next_read));
        // ORDERING: Acquire, pairs with the Release of the sender [zimp-written]
        self.waiting.until(|| bitmap.load(Ordering::Acquire) & self.bit != 0)?;
        // SAFETY: as long as this receiver's bit is set the sender does not write the entry.
        let message = unsafe { self.memory.bytes(self.layout.entry(self.next_read), self.layout.len) };
        self.copy.copy_from_slice(message);
        // ORDERING: Release, pairs with the Acquire of the sender [zimp-read]
        bitmap.fetch_and(!self.bit, Ordering::Release);
        self.next_read = self.layout.after(self.next_read);
        reader.read(&self.copy);
        Ok(())
    }
}
