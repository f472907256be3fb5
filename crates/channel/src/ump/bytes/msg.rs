//! A received message of bytes, which keeps its slots until it is dropped.

use std::fmt;
use std::ops::Deref;

use super::sender::BYTES;
use crate::bytes::Bytes;
use crate::error::RecvError;
use crate::slots::slots_for;
use crate::ump::Credit;
use crate::ump::header::{Header, Kind};
use crate::ump::recv_end::RecvPosition;
use crate::ump::shared::{SENDER_GONE, Shared};

/// A message in the place where the sender wrote it. Dropping it frees its slots; if it is forgotten, the next receive
/// frees them.
pub struct Msg<'a> {
    bytes: Bytes<'a>,
    shared: &'a Shared,
    position: &'a mut RecvPosition,
}

impl<'a> Msg<'a> {
    /// The next message, whose header was looked at just now.
    #[inline(always)]
    pub(super) fn new(shared: &'a Shared, position: &'a mut RecvPosition, header: Header, is_stable: bool) -> Self {
        let bytes = position.view(shared, header, is_stable);
        position.lent = slots_for(header.len()) as u64;
        Self { bytes, shared, position }
    }
}

impl<'a> Deref for Msg<'a> {
    type Target = Bytes<'a>;

    #[inline]
    fn deref(&self) -> &Bytes<'a> {
        &self.bytes
    }
}

impl Drop for Msg<'_> {
    #[inline]
    fn drop(&mut self) {
        self.position.give_back(self.shared);
    }
}

impl fmt::Debug for Msg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Msg({})", self.bytes.len())
    }
}

impl RecvPosition {
    /// The header of the next message, checked, if it is there; moves on over padding. Another process may have written
    /// anything: the returned header describes a message inside the ring, and is not read again.
    #[inline(always)]
    pub(super) fn peek_bytes(&mut self, shared: &Shared) -> Result<Option<Header>, RecvError> {
        let Some(header) = self.peek_any(shared) else { return Ok(None) };
        let slots = shared.slots.slots();
        if header.kind() == BYTES {
            return check(shared, self.next, header).map(Some);
        }
        let left = slots - (self.next as usize & (slots - 1));
        let is_padding = header.kind() == Kind::PAD && header.len() == left && left < slots / 4;
        if !is_padding || shared.credit == Credit::SlotClear {
            return Err(RecvError::Corrupt("a header of no known kind"));
        }
        let start = self.next + left as u64;
        let header = self.peek_behind_padding(shared, start);
        if !header.is_at(start) || header.kind() != BYTES {
            return Err(RecvError::Corrupt("padding without a message behind it"));
        }
        check(shared, start, header)?;
        self.next = start;
        Ok(Some(header))
    }

    /// The next message of a sender that is gone. All that it sent has arrived by now.
    #[cold]
    pub(super) fn peek_last(&mut self, shared: &Shared) -> Result<Header, RecvError> {
        let has_left = shared.is_gone(SENDER_GONE);
        let gone = if has_left { RecvError::Closed } else { RecvError::Died };
        self.peek_bytes(shared)?.ok_or(gone)
    }

    /// The bytes of the next message.
    #[inline(always)]
    pub(super) fn view<'a>(&self, shared: &'a Shared, header: Header, is_stable: bool) -> Bytes<'a> {
        let len = header.len();
        let words = shared.slots.payload(self.next, len);
        if is_stable {
            // SAFETY: the message was published, so its sender writes there again only when its slots are freed, which
            // happens after the view's end; no other thread reaches the ring, by protocol or by promise.
            unsafe { Bytes::stable(words, len) }
        } else {
            Bytes::shared(words, len)
        }
    }

    /// Frees the slots of the message that is lent out, if there is one.
    #[inline(always)]
    pub(super) fn give_back(&mut self, shared: &Shared) {
        let slots = std::mem::take(&mut self.lent);
        if slots > 0 {
            self.free(shared, slots);
        }
    }
}

/// Checks that a sender may send the message in slot `at`.
#[inline(always)]
fn check(shared: &Shared, at: u64, header: Header) -> Result<Header, RecvError> {
    let slots = shared.slots.slots();
    let fits = slots_for(header.len()) <= slots - (at as usize & (slots - 1));
    let is_legal = header.len() <= shared.max_len();
    if fits && is_legal { Ok(header) } else { Err(RecvError::Corrupt("a message longer than the ring takes")) }
}
