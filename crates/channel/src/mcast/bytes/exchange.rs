//! The exchange of a filled block against the one that a slot owns.
//!
//! Every slot and every sender own one block at any time. So there is no free list, no reference count and no way back: a
//! sender publishes its block by giving it to the slot, and writes its next message into the block that the slot had, which
//! no reader holds any more.
//!
//! ```text
//! inflight = t; take the turn of t; incoming = (old = slot's block, t); slot's block = own; publish; own = old;
//! inflight = none
//! ```
//! If the sender dies on the way, the participant that reaps can tell the owner of each block: if `incoming` is of the
//! ticket in flight and the slot's block is not `old` any more, the exchange has happened, and the sender owns `old`. That
//! must be settled before the slot is given to others.

use corecast_base::sync::{AtomicU64, Ordering, keep_order};

use super::slots::{ByteSlots, Head};
use crate::mcast::line::SenderLine;
use crate::mcast::ring::{Ring, Slots};

const TICKET_BITS: u32 = 40;
/// Set while an exchange is in flight.
const IN_FLIGHT: u64 = 1;
const TICKET_MASK: u64 = (1 << TICKET_BITS) - 1;

/// Marks that the sender tries to get a ticket with its block.
#[inline]
pub(super) fn intend(line: &SenderLine, ticket: u64) {
    // ORDERING: Relaxed, read by others only when this sender is dead
    line.inflight.store((ticket & TICKET_MASK) << 1 | IN_FLIGHT, Ordering::Relaxed);
    keep_order();
}

/// Gives the block to the slot of the sender's ticket, with a message of `len` bytes, and returns the block that the slot
/// had.
pub(super) fn give(ring: &Ring<ByteSlots>, line: &SenderLine, ticket: u64, block: usize, len: usize) -> usize {
    let index = ring.laps.index(ticket);
    let old = ring.slots.head(index).block;
    keep_order();
    // ORDERING: Relaxed, read by others only when this sender is dead
    line.incoming.store((old as u64) << TICKET_BITS | (ticket & TICKET_MASK), Ordering::Relaxed);
    keep_order();
    ring.slots.set_head(index, Head { len, block, is_in_block: true });
    keep_order();
    old
}

/// Takes the block that the slot had, after the publication.
pub(super) fn keep(ring: &Ring<ByteSlots>, sender: usize, old: usize) {
    keep_order();
    own(ring, sender, old);
    forget(&ring.senders[sender]);
}

/// The block that a sender owns. Nonsense from a stranger is replaced by the sender's first block.
pub(super) fn owned(ring: &Ring<ByteSlots>, sender: usize) -> usize {
    let sizes = ring.slots.sizes();
    let first = sizes.first_block(sender);
    // ORDERING: Relaxed, ordered by the taking of the line
    let block = ring.senders[sender].block.load(Ordering::Relaxed) as usize ^ first;
    if block < sizes.blocks { block } else { first }
}

fn own(ring: &Ring<ByteSlots>, sender: usize, block: usize) {
    let difference = (block ^ ring.slots.sizes().first_block(sender)) as u64;
    // ORDERING: Relaxed, released by the giving back of the line, or by the death of its holder
    ring.senders[sender].block.store(difference, Ordering::Relaxed);
    keep_order();
}

/// Marks that nothing is in flight.
pub(super) fn forget(line: &SenderLine) {
    // ORDERING: Relaxed, read by others only when this sender is dead
    line.inflight.store(0, Ordering::Relaxed);
    keep_order();
}

/// Finds the owners of the blocks that a dead sender was about to exchange. Can be repeated.
pub(super) fn settle(ring: &Ring<ByteSlots>, sender: usize) {
    let line = &ring.senders[sender];
    // ORDERING: Relaxed, the evidence of the sender's death came after all it did
    let inflight = line.inflight.load(Ordering::Relaxed);
    // ORDERING: Relaxed, the evidence came after this as well
    let incoming = line.incoming.load(Ordering::Relaxed);
    if inflight & IN_FLIGHT == 0 {
        return;
    }
    let (ticket, old) = (inflight >> 1, (incoming >> TICKET_BITS) as usize);
    let is_of_this_ticket = incoming & TICKET_MASK == ticket;
    let has_exchanged = ring.slots.head(ring.laps.index(ticket)).block != old;
    if is_of_this_ticket && has_exchanged && old < ring.slots.sizes().blocks {
        own(ring, sender, old);
    }
    forget(line);
}

/// Makes sure that the words of a former holder of the line are not taken for those of the next one.
pub(super) fn begin(line: &SenderLine, tail: u64) {
    // ORDERING: Relaxed, read by others only when this sender is dead
    line.incoming.store(tail.wrapping_sub(1) & TICKET_MASK, Ordering::Relaxed);
    keep_order();
}

impl Slots for ByteSlots {
    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        Self::word(self, index)
    }

    #[inline(always)]
    fn prepare(&self, index: usize) {
        Self::prepare(self, index);
    }

    fn settle(ring: &Ring<Self>, sender: usize) {
        settle(ring, sender);
    }
}
