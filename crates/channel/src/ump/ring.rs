//! What the two ends of a ring share, and the two halves of the protocol.
//!
//! ```text
//! send: k slots for the message; pad = slots up to the end of the ring if k do not fit there, else 0
//!       room for pad + k + 1 by the acknowledged count, read again (Acquire [ack]) only when the known one is used up
//!       write the bytes; after messages of several slots: clear the header behind, as old bytes there could look like one
//!       header (Release [slot-full]); with padding, the message's first and the padding's last; ring the receiver's bell
//! recv: header (Acquire [slot-full]); skip padding; read the bytes; only then count the slots as free
//!       acknowledge (Release [ack]) every 1/8 of the ring, when idle, when leaving; ring the sender's bell
//! ```
//! A message and its padding take less than half of the ring, and less than 1/8 of it is ever read and not acknowledged,
//! so a sender that waits for room gets it however slowly the receiver goes on. Tried and dropped: a bit by which a sender
//! short of room asks for an acknowledgement at once. It makes the ends of a full ring move in lockstep, one slot at a
//! time: a stream through 64 slots took 14.5 ns a message with it and 9.5 without.

use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{Arc, AtomicU32, AtomicU64, Ordering};
use corecast_base::wait::{Waiter, WakeWord};

use super::header::{Header, Kind, MAX_LEN};
use crate::slots::{HEADER_BYTES, SlotRing, slots_for};

const SENDER_GONE: u32 = 1;
const RECEIVER_GONE: u32 = 2;

/// Memory that both ends reach.
#[derive(Debug)]
pub(super) struct Shared {
    slots: SlotRing,
    /// Slots the receiver has freed so far. Written by the receiver, read by the sender when it runs out of room.
    ack: CacheLine<AtomicU64>,
    /// Which ends are gone. Each end sets its bit once.
    gone: CacheLine<AtomicU32>,
    /// Rung by the sender after a message.
    pub(super) data_bell: WakeWord,
    /// Rung by the receiver after an acknowledgement.
    pub(super) room_bell: WakeWord,
}

impl Shared {
    pub(super) fn new(slots: usize, data_bell: WakeWord, room_bell: WakeWord) -> Arc<Self> {
        Arc::new(Self {
            slots: SlotRing::new(slots),
            ack: CacheLine::new(AtomicU64::new(0)),
            gone: CacheLine::new(AtomicU32::new(0)),
            data_bell,
            room_bell,
        })
    }

    /// The longest message the ring takes: a quarter of its slots.
    pub(super) fn max_len(&self) -> usize {
        (self.slots.slots() / 4 * corecast_base::LINE_BYTES - HEADER_BYTES).min(MAX_LEN)
    }

    /// Says that an end is gone; true if the other one was already.
    fn leave(&self, end: u32) -> bool {
        // ORDERING: AcqRel, pairs with itself at the other end and with the Acquire in is_gone: whoever sees this end
        // gone sees all it did [gone]
        self.gone.fetch_or(end, Ordering::AcqRel) != 0
    }

    #[inline(always)]
    fn is_gone(&self, end: u32) -> bool {
        // ORDERING: Acquire, pairs with the AcqRel in leave [gone]
        self.gone.load(Ordering::Acquire) & end != 0
    }
}

/// Leave to publish one message of the length that was asked for. Where the message goes follows from its length, so that
/// all of it but the slot's number is known when the program is compiled.
#[derive(Debug)]
pub(super) struct Room(());

/// The sender's half. On lines of its own, as both ends may lie side by side in one stack frame or vector: with their
/// counters on one line a stream was measured three times slower.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct SendEnd {
    pub(super) shared: Arc<Shared>,
    /// Slots used so far.
    head: u64,
    /// Slots that may be used by the acknowledgements seen so far: the freed ones and one lap.
    room_end: u64,
    /// True once a message took several slots: then bytes may lie where a header is looked for.
    covers_headers: bool,
}

impl SendEnd {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let room_end = shared.slots.slots() as u64;
        Self { shared, head: 0, room_end, covers_headers: false }
    }

    /// Room for a message of `len` bytes, no more than [`Shared::max_len`]; `None` if there is none now.
    #[inline(always)]
    pub(super) fn reserve(&mut self, len: usize) -> Option<Room> {
        reserve(&self.shared, self.head, &mut self.room_end, len)
    }

    /// Waits for room for a message of `len` bytes; `None` if the receiver is gone.
    #[cold]
    pub(super) fn wait_for_room<E>(
        &mut self,
        len: usize,
        waiter: &mut Waiter,
        check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Option<Room>, E> {
        let Self { shared, head, room_end, .. } = self;
        let room = || match shared.is_gone(RECEIVER_GONE) {
            true => Some(None),
            false => reserve(shared, *head, room_end, len).map(Some),
        };
        waiter.until(&shared.room_bell, room, check)
    }

    /// Publishes a message of `len` bytes from `from` in the room granted for it.
    ///
    /// # Safety
    /// - `from` is readable for `len` bytes.
    /// - The room was granted by this end for `len` and nothing was published since.
    #[inline(always)]
    pub(super) unsafe fn publish(&mut self, _room: Room, from: *const u8, len: usize, kind: Kind) {
        let ring = &self.shared.slots;
        let need = slots_for(len) as u64;
        let padding = padding(&self.shared, self.head, need);
        let start = self.head + padding;
        let next = start + need;
        // SAFETY: readable by the caller; it fits before the end, else pad would have moved it; the receiver has freed
        // these slots (reserve acquired its acknowledgement) and looks only at the header of slot `head`.
        unsafe { ring.write(start, from, len) };
        self.covers_headers |= need > 1;
        if self.covers_headers {
            // ORDERING: Relaxed, made visible by the header below, before which no receiver looks there
            ring.header(next).store(Header::nothing_at(next).word(), Ordering::Relaxed);
        }
        let header = Header::new(start, len, kind);
        if padding > 0 {
            // ORDERING: Relaxed, made visible by the padding's header, which is the one the receiver polls
            ring.header(start).store(header.word(), Ordering::Relaxed);
            let pad = Header::new(self.head, padding as usize, Kind::PAD);
            // ORDERING: Release, pairs with the Acquire in RecvEnd::peek [slot-full]
            ring.header(self.head).store(pad.word(), Ordering::Release);
        } else {
            // ORDERING: Release, pairs with the Acquire in RecvEnd::peek [slot-full]
            ring.header(start).store(header.word(), Ordering::Release);
        }
        self.head = next;
        self.shared.data_bell.notify();
    }

    /// True once the receiver is gone.
    #[inline(always)]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_gone(RECEIVER_GONE)
    }

    /// Says goodbye; gives the receiver's half to clean up if the receiver is gone.
    pub(super) fn leave(&self) -> Option<RecvEnd> {
        let last = self.shared.leave(SENDER_GONE);
        self.shared.data_bell.notify();
        last.then(|| RecvEnd::new(Arc::clone(&self.shared)))
    }
}

/// The receiver's half, on lines of its own as the sender's.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct RecvEnd {
    pub(super) shared: Arc<Shared>,
    /// Slots consumed so far.
    next: u64,
    /// Slots acknowledged so far.
    acked: u64,
}

impl RecvEnd {
    /// The half that goes on where the last one stopped. There is one at a time.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        // ORDERING: Relaxed, a former half has left through `gone`, which orders it
        let next = shared.ack.load(Ordering::Relaxed);
        Self { shared, next, acked: next }
    }

    /// The header of the next message, if it is there.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<Header> {
        peek(&self.shared, &mut self.next)
    }

    /// Waits for the next message; `None` if the sender is gone and everything it sent has been consumed.
    #[inline(always)]
    pub(super) fn wait_for_message<E>(
        &mut self,
        waiter: &mut Waiter,
        check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Option<Header>, E> {
        if let Some(header) = self.peek() {
            return Ok(Some(header));
        }
        self.idle();
        let Self { shared, next, .. } = self;
        let news = || match peek(shared, next) {
            Some(header) => Some(Some(header)),
            // The sender may have sent between the look at the slot and the look at its end.
            None => shared.is_gone(SENDER_GONE).then(|| peek(shared, next)),
        };
        waiter.until(&shared.data_bell, news, check)
    }

    /// Copies out the message of `len` bytes that `header` describes and frees its slots. The length is given once more, as
    /// callers know it when they are compiled: a copy of constant length is a few moves and not a call.
    ///
    /// # Safety
    /// - `header` was returned by the last `peek` of this end and not consumed since; its length is `len`.
    /// - `into` is writable for `len` bytes.
    #[inline(always)]
    pub(super) unsafe fn consume(&mut self, header: Header, into: *mut u8, len: usize) {
        debug_assert!(header.is_at(self.next) && header.len() == len);
        // SAFETY: peek acquired the publication; the sender writes there again only after the acknowledgement below.
        unsafe { self.shared.slots.read(self.next, into, len) };
        self.next += slots_for(len) as u64;
        if self.next - self.acked >= self.shared.slots.slots() as u64 / 8 {
            self.acknowledge();
        }
    }

    /// Acknowledges what has been consumed, if anything is left to; called when nothing is there to receive.
    #[inline(always)]
    pub(super) fn idle(&mut self) {
        if self.next != self.acked {
            self.acknowledge();
        }
    }

    #[inline(always)]
    fn acknowledge(&mut self) {
        // ORDERING: Release, pairs with the Acquire in SendEnd::reserve: the payload was read before the sender may
        // write there again [ack]
        self.shared.ack.store(self.next, Ordering::Release);
        self.acked = self.next;
        self.shared.room_bell.notify();
    }

    /// True once the sender is gone. What it sent before may still be there.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_gone(SENDER_GONE)
    }

    /// Says goodbye; true if the sender is gone, so that nothing can arrive any more.
    pub(super) fn leave(&mut self) -> bool {
        self.idle();
        let last = self.shared.leave(RECEIVER_GONE);
        self.shared.room_bell.notify();
        last
    }
}

/// Room for a message of `len` bytes behind slot `head`, by the acknowledgements seen so far or else by a new look.
#[inline(always)]
fn reserve(shared: &Shared, head: u64, room_end: &mut u64, len: usize) -> Option<Room> {
    let need = slots_for(len) as u64;
    let used = head + padding(shared, head, need) + need + 1;
    if used > *room_end {
        // ORDERING: Acquire, pairs with the Release in RecvEnd::acknowledge: the freed slots' readers are done [ack]
        *room_end = shared.ack.load(Ordering::Acquire) + shared.slots.slots() as u64;
        if used > *room_end {
            return None;
        }
    }
    Some(Room(()))
}

/// Slots from `head` to the end of the ring, if fewer than `need` are left there. One slot fits everywhere.
#[inline(always)]
fn padding(shared: &Shared, head: u64, need: u64) -> u64 {
    if need == 1 {
        return 0;
    }
    let slots = shared.slots.slots() as u64;
    let left = slots - (head & (slots - 1));
    if left < need { left } else { 0 }
}

/// The header of the message in slot `next`, if it is there; moves `next` over padding.
#[inline(always)]
fn peek(shared: &Shared, next: &mut u64) -> Option<Header> {
    // ORDERING: Acquire, pairs with the Releases in SendEnd::publish [slot-full]
    let header = Header::from_word(shared.slots.header(*next).load(Ordering::Acquire));
    if !header.is_at(*next) {
        return None;
    }
    if header.kind() != Kind::PAD {
        return Some(header);
    }
    *next += header.len() as u64;
    // ORDERING: Relaxed, the padding's header was stored after this one and has been acquired
    Some(Header::from_word(shared.slots.header(*next).load(Ordering::Relaxed)))
}
