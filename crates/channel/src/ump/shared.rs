//! The memory that the two ends of a ring share, and the protocol whose halves are [`SendEnd`](super::send_end::SendEnd)
//! and [`RecvEnd`](super::recv_end::RecvEnd).
//!
//! ```text
//! send: k slots for the message; pad = slots up to the end of the ring if k do not fit there, else 0
//!       room for pad + k + 1 by the acknowledged count, read again (Acquire [ack]) only when the known one is used up
//!       write the bytes; after messages of several slots: clear the header behind, as old bytes there could look like one
//!       header (Release [slot-full]); with padding, the message's first and the padding's last; wake the receiver
//! recv: header (Acquire [slot-full]); skip padding; read the bytes; only then count the slots as free
//!       acknowledge (Release [ack]) every 1/8 of the ring, when idle, when leaving; wake the sender
//!       or, with SlotClear: clear the header (Release [clear]), which the sender looks at (Acquire [clear])
//! ```
//! A message and its padding take less than half of the ring, and less than 1/8 of it is ever read and not acknowledged, so
//! a sender that waits for room gets it however slowly the receiver goes on. Tried and dropped: a bit by which a sender
//! that is short of room asks for an acknowledgement at once. It makes the ends of a full ring move in lockstep, one slot
//! at a time: a stream through 64 slots took 14.5 ns a message with it and 9.5 without.
use corecast_base::sync::{AtomicU32, AtomicU64, Ordering};
use corecast_base::wait::WakeWord;
use corecast_base::{CacheLine, LINE_BYTES, Place, Shareable};

use super::Credit;
use super::header::MAX_LEN;
use crate::slots::{HEADER_BYTES, INLINE_BYTES, SlotRing};

pub(super) const SENDER_GONE: u32 = 1;
pub(super) const RECEIVER_GONE: u32 = 2;

/// The words beside the slots, a line each.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Control {
    /// Slots the receiver has freed so far. Written by the receiver, read by the sender when it runs out of room.
    pub(super) ack: CacheLine<AtomicU64>,
    /// The ends that are gone. Each end sets its bit once.
    pub(super) gone: CacheLine<AtomicU32>,
    /// In channels of regions, the participant that sends: 0 for none yet. Changed by the opener of the end, read by the
    /// receiver. In [`Rings`](super::any::Rings) on the heap, 1 once the end was made.
    pub(super) sender: CacheLine<AtomicU64>,
    /// The same for the one that receives, read by the sender.
    pub(super) receiver: CacheLine<AtomicU64>,
}

// SAFETY: lines of one atomic integer each, laid out as C does, of which zeroes and any other bytes are values.
unsafe impl Shareable for Control {}

/// The longest message that a ring of `slots` lines, a power of two, takes in one piece: a quarter of them.
#[must_use]
pub const fn longest_message(slots: usize) -> usize {
    let len = slots / 4 * LINE_BYTES - HEADER_BYTES;
    if len < MAX_LEN { len } else { MAX_LEN }
}

/// A handle on the memory that both ends reach; a clone is the same memory.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) slots: SlotRing,
    pub(super) control: Place<Control>,
    pub(super) credit: Credit,
    /// The sender wakes the receiver here after a message.
    pub(super) data_wake: WakeWord,
    /// The receiver wakes the sender here after an acknowledgement.
    pub(super) room_wake: WakeWord,
}

impl Shared {
    /// A ring among threads.
    pub(super) fn new(slots: usize, credit: Credit, data_wake: WakeWord, room_wake: WakeWord) -> Self {
        let (slots, control) = (SlotRing::new(slots), Place::new(Control::default()));
        Self { slots, control, credit, data_wake, room_wake }
    }

    /// The longest message that the ring takes: a quarter of its slots, or one slot if the receiver clears them.
    pub(super) fn max_len(&self) -> usize {
        match self.credit {
            Credit::AckLine => longest_message(self.slots.slots()),
            Credit::SlotClear => INLINE_BYTES,
        }
    }

    /// Marks an end as gone; true if the other one was gone already.
    pub(super) fn leave(&self, end: u32) -> bool {
        // ORDERING: AcqRel, pairs with itself at the other end and with the Acquire in is_gone: a thread that sees this end
        // gone sees all it did [gone]
        self.control.gone.fetch_or(end, Ordering::AcqRel) != 0
    }

    #[inline(always)]
    pub(super) fn is_gone(&self, end: u32) -> bool {
        // ORDERING: Acquire, pairs with the AcqRel in leave [gone]
        self.control.gone.load(Ordering::Acquire) & end != 0
    }
}
