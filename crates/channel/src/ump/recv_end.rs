//! The receiver's half of the protocol; see [`shared`](super::shared).

use std::time::Duration;

use corecast_base::sync::Ordering;
use corecast_base::wait::Waiter;

use super::Credit;
use super::header::{Header, Kind};
use super::shared::{RECEIVER_GONE, SENDER_GONE, Shared};
use crate::bytes::Bytes;
use crate::slots::slots_for;

/// The position of a receiver in its ring.
#[derive(Debug)]
pub(super) struct RecvPosition {
    /// Slots consumed so far.
    pub(super) next: u64,
    /// Slots acknowledged so far.
    acked: u64,
    /// Slots of the message that is lent out, to be consumed when it is given back.
    pub(super) lent: u64,
}

/// The receiver's half, on lines of its own as the sender's.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct RecvEnd {
    pub(super) shared: Shared,
    pub(super) position: RecvPosition,
}

impl RecvEnd {
    /// The receiver that goes on behind the first `next` slots. A ring has one at a time.
    pub(super) fn new(shared: Shared, next: u64) -> Self {
        Self { shared, position: RecvPosition { next, acked: next, lent: 0 } }
    }

    /// The header of the next message, if it is there.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<Header> {
        self.position.peek(&self.shared)
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
        let Self { shared, position } = self;
        let news = || match position.peek(shared) {
            Some(header) => Some(Some(header)),
            // The sender may have sent between the look at the slot and the look at its end.
            None => shared.is_gone(SENDER_GONE).then(|| position.peek(shared)),
        };
        waiter.until(&shared.data_wake, news, check)
    }

    /// Copies out the message of `len` bytes that `header` describes and frees its slots. The length is given once more, as
    /// callers know it when they are compiled: a copy of constant length is a few moves and not a call.
    ///
    /// # Safety
    /// - `header` was returned by the last `peek` of this end and not consumed since; its length is `len`.
    /// - `into` is writable for `len` bytes.
    #[inline(always)]
    pub(super) unsafe fn consume(&mut self, header: Header, into: *mut u8, len: usize) {
        let Self { shared, position } = self;
        debug_assert!(header.is_at(position.next) && (header.len() == len || header.stamped_len() == len));
        // SAFETY: peek acquired the publication; the sender writes there again only after the slots are freed below.
        unsafe { shared.slots.read(position.next, into, len) };
        position.free(shared, slots_for(len) as u64);
    }

    /// As [`consume`](Self::consume) where another process may write: copies word by word, to all of `into`. False, and
    /// nothing is done, if the ring ends before such a message does.
    #[inline]
    pub(super) fn consume_words(&mut self, into: &mut [u8]) -> bool {
        let Self { shared, position } = self;
        let (len, slots) = (into.len(), shared.slots.slots());
        let fits = slots_for(len) <= slots - (position.next as usize & (slots - 1));
        if fits {
            Bytes::shared(shared.slots.payload(position.next, len), len).read_at(0, into);
            position.free(shared, slots_for(len) as u64);
        }
        fits
    }

    /// Acknowledges the consumed slots, if some are not acknowledged yet. Called when there is nothing to receive.
    #[inline(always)]
    pub(super) fn idle(&mut self) {
        self.position.idle(&self.shared);
    }

    /// True once the sender is gone. Messages that it sent before may still be there.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_gone(SENDER_GONE)
    }

    /// Says goodbye; true if the sender is gone, so that nothing can arrive any more.
    pub(super) fn leave(&mut self) -> bool {
        self.idle();
        let last = self.shared.leave(RECEIVER_GONE);
        self.shared.room_wake.notify();
        last
    }
}

impl RecvPosition {
    /// The header of the message in the next slot, if it is there; moves on over padding.
    #[inline(always)]
    fn peek(&mut self, shared: &Shared) -> Option<Header> {
        let header = self.peek_any(shared)?;
        if header.kind() != Kind::PAD {
            return Some(header);
        }
        self.next += header.len() as u64;
        Some(self.peek_behind_padding(shared, self.next))
    }

    /// The header in the next slot, of padding or of a message, if it is there.
    #[inline(always)]
    pub(super) fn peek_any(&self, shared: &Shared) -> Option<Header> {
        // ORDERING: Acquire, pairs with the Releases in SendPosition::publish and publish_batch [slot-full]
        let header = Header::from_word(shared.slots.header(self.next).load(Ordering::Acquire));
        header.is_at(self.next).then_some(header)
    }

    /// The header in slot `start`, behind padding that was seen.
    #[inline(always)]
    pub(super) fn peek_behind_padding(&self, shared: &Shared, start: u64) -> Header {
        // ORDERING: Relaxed, the padding's header was stored after this one and has been acquired
        Header::from_word(shared.slots.header(start).load(Ordering::Relaxed))
    }

    /// Consumes the next `slots` slots, which are one message, and tells the sender if that is due.
    #[inline(always)]
    pub(super) fn free(&mut self, shared: &Shared, slots: u64) {
        self.advance(shared, slots);
        if self.next - self.acked >= shared.slots.slots() as u64 / 8 {
            self.acknowledge(shared);
        }
    }

    /// Consumes the next `slots` slots, which are one message.
    #[inline(always)]
    pub(super) fn advance(&mut self, shared: &Shared, slots: u64) {
        if shared.credit == Credit::SlotClear {
            let cleared = Header::cleared(self.next);
            // ORDERING: Release, pairs with the Acquire in SendPosition::look_for_room: the payload was read before the
            // sender may write there again [clear]
            shared.slots.header(self.next).store(cleared.word(), Ordering::Release);
        }
        self.next += slots;
    }

    /// Acknowledges the consumed slots, if some are not acknowledged yet.
    #[inline(always)]
    pub(super) fn idle(&mut self, shared: &Shared) {
        if self.next != self.acked {
            self.acknowledge(shared);
        }
    }

    #[inline(always)]
    fn acknowledge(&mut self, shared: &Shared) {
        // ORDERING: Release, pairs with the Acquire in SendPosition::look_for_room: the payload was read before the sender
        // may write there again [ack]
        shared.control.ack.store(self.next, Ordering::Release);
        self.acked = self.next;
        shared.room_wake.notify();
    }
}
