//! A received message.

use std::cell::RefCell;
use std::fmt;

use corecast_base::sync::AtomicU64;

use super::slots::ByteSlots;
use crate::bytes::{Bytes, Plain};
use crate::mcast::recv_end::RecvEnd;

/// The number of copies for which a receiver keeps memory.
const KEPT_BUFFERS: usize = 4;

/// A received message. Dropping it releases its slot. Forgetting one is safe: its slot is kept until the receiver is
/// dropped.
pub struct Msg<'a> {
    /// The end that received it, and releases it.
    pub(super) end: &'a RecvEnd<ByteSlots>,
    /// The receiver's memory for copies, where the copy goes back to.
    pub(super) buffers: &'a RefCell<Vec<Box<[AtomicU64]>>>,
    pub(super) len: usize,
    pub(super) body: Body<'a>,
}

/// The place of its bytes.
pub(super) enum Body<'a> {
    /// In the place where the sender wrote them, for this ticket.
    Pinned(u64, &'a [AtomicU64]),
    /// In memory of the receiver.
    Copied(Box<[AtomicU64]>),
}

impl Msg<'_> {
    /// The bytes of the message, in place.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> Bytes<'_> {
        let is_trusted = self.end.ring.slots.is_trusted;
        match &self.body {
            Body::Pinned(_, words) if !is_trusted => Bytes::shared(words, self.len),
            Body::Pinned(_, words) => {
                // SAFETY: senders write here only after this reader's cursor has passed the ticket, which is when the message
                // is dropped; `is_trusted` says that no other thread writes.
                unsafe { Bytes::stable(words, self.len) }
            }
            Body::Copied(words) => {
                // SAFETY: the copy is the message's own.
                unsafe { Bytes::stable(words, self.len) }
            }
        }
    }

    /// Its length in bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a message of no bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.bytes().to_vec()
    }

    /// The message as a value; `None` if it has another length.
    #[inline]
    #[must_use]
    pub fn read<T: Plain>(&self) -> Option<T> {
        self.bytes().read()
    }
}

impl Drop for Msg<'_> {
    #[inline]
    fn drop(&mut self) {
        match &mut self.body {
            Body::Pinned(ticket, _) => self.end.release(*ticket),
            Body::Copied(copy) => {
                let mut kept = self.buffers.borrow_mut();
                if kept.len() < KEPT_BUFFERS {
                    kept.push(std::mem::take(copy));
                }
            }
        }
    }
}

impl fmt::Debug for Msg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Msg({})", self.len)
    }
}
