//! The sender's half of the protocol; see [`shared`](super::shared).

use std::time::Duration;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Waiter;

use super::Credit;
use super::header::{Header, Kind};
use super::recv_end::RecvEnd;
use super::shared::{RECEIVER_GONE, SENDER_GONE, Shared};
use crate::bytes::BytesMut;
use crate::slots::slots_for;

/// The permission to publish one message of the requested length. The place of the message follows from its length, so that
/// all of it but the slot's number is known when the program is compiled.
#[derive(Debug)]
pub(super) struct Room(());

/// The position of a sender in its ring.
#[derive(Debug)]
pub(super) struct SendPosition {
    /// Slots used so far.
    pub(super) head: u64,
    /// The end of the slots that may be used by the acknowledgements seen so far: the freed ones and one lap.
    pub(super) room_end: u64,
    /// True once a message took several slots: then bytes may lie where a header is looked for.
    pub(super) covers_headers: bool,
}

/// The header of the first message of a batch, which is published when all others are written.
pub(super) type Withheld = Option<(u64, Header)>;

/// The sender's half. On lines of its own, as both ends may lie side by side in one stack frame or vector: with their
/// counters on one line a stream was measured three times slower.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct SendEnd {
    pub(super) shared: Shared,
    pub(super) position: SendPosition,
}

impl SendEnd {
    /// The sender that goes on behind the first `head` slots, all of them freed. A ring has one at a time.
    pub(super) fn new(shared: Shared, head: u64) -> Self {
        Self { position: SendPosition { head, room_end: head, covers_headers: false }, shared }
    }

    /// Room for a message of `len` bytes, no more than [`Shared::max_len`]; `None` if there is none now.
    #[inline(always)]
    pub(super) fn reserve(&mut self, len: usize) -> Option<Room> {
        self.position.reserve(&self.shared, len)
    }

    /// Waits for room for a message of `len` bytes; `None` if the receiver is gone.
    #[cold]
    pub(super) fn wait_for_room<E>(
        &mut self,
        len: usize,
        waiter: &mut Waiter,
        check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Option<Room>, E> {
        let Self { shared, position } = self;
        let room = || match shared.is_gone(RECEIVER_GONE) {
            true => Some(None),
            false => position.reserve(shared, len).map(Some),
        };
        waiter.until(&shared.room_wake, room, check)
    }

    /// Publishes a message of `len` bytes from `from` in the room granted for it.
    ///
    /// # Safety
    /// - `from` is readable for `len` bytes.
    /// - The room was granted by this end for `len` and nothing was published since.
    #[inline(always)]
    pub(super) unsafe fn publish(&mut self, _room: Room, from: *const u8, len: usize, kind: Kind) {
        let Self { shared, position } = self;
        // SAFETY: readable by the caller; it fits before the end, else padding would have moved it; the receiver has freed
        // these slots (reserve acquired its acknowledgement) and looks only at the header of slot `head`.
        unsafe { shared.slots.write(position.start(shared, len), from, len) };
        position.publish(shared, len, kind);
    }

    /// As [`publish`](Self::publish) where another process may write: copies word by word.
    #[inline]
    pub(super) fn publish_words(&mut self, _room: Room, from: &[u8], kind: Kind) {
        let Self { shared, position } = self;
        BytesMut::shared(position.payload(shared, from.len()), from.len()).copy_from(from);
        position.publish(shared, from.len(), kind);
    }

    /// True once the receiver is gone.
    #[inline(always)]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_gone(RECEIVER_GONE)
    }

    /// Says goodbye; gives the receiver's half to clean up if the receiver is gone.
    pub(super) fn leave(&self) -> Option<RecvEnd> {
        let last = self.shared.leave(SENDER_GONE);
        self.shared.data_wake.notify();
        // ORDERING: Relaxed, the receiver has left through `gone`, which orders what it acknowledged at last
        last.then(|| RecvEnd::new(self.shared.clone(), self.shared.control.ack.load(Ordering::Relaxed)))
    }
}

impl SendPosition {
    /// Room for a message of `len` bytes, by the acknowledgements seen so far or else by another look.
    #[inline(always)]
    pub(super) fn reserve(&mut self, shared: &Shared, len: usize) -> Option<Room> {
        let used = self.start(shared, len) + slots_for(len) as u64 + 1;
        if used > self.room_end {
            self.room_end = self.look_for_room(shared);
            if used > self.room_end {
                return None;
            }
        }
        Some(Room(()))
    }

    /// The end of the slots that may be used, plus one, by the receiver's present acknowledgement.
    #[inline(always)]
    fn look_for_room(&self, shared: &Shared) -> u64 {
        let slots = shared.slots.slots() as u64;
        match shared.credit {
            Credit::AckLine => {
                // ORDERING: Acquire, pairs with the Release in RecvPosition::acknowledge: the freed slots' readers are
                // done [ack]
                let acked = shared.control.ack.load(Ordering::Acquire);
                // An acknowledgement that no receiver writes is ignored: another process may have written it.
                let is_news = self.head.checked_sub(acked).is_some_and(|unread| unread <= slots);
                if is_news { acked + slots } else { self.room_end }
            }
            Credit::SlotClear => {
                // ORDERING: Acquire, pairs with the Release in RecvPosition::advance: the slot's reader is done [clear]
                let header = Header::from_word(shared.slots.header(self.head).load(Ordering::Acquire));
                if header.is_cleared() { self.head + 2 } else { self.head }
            }
        }
    }

    /// The slot in which a message of `len` bytes begins. If it does not fit before the end of the ring, that is the first
    /// one; one slot fits everywhere.
    #[inline(always)]
    fn start(&self, shared: &Shared, len: usize) -> u64 {
        let need = slots_for(len) as u64;
        if need == 1 {
            return self.head;
        }
        let slots = shared.slots.slots() as u64;
        let left = slots - (self.head & (slots - 1));
        if left < need { self.head + left } else { self.head }
    }

    /// The words for a message of `len` bytes for which there is room.
    #[inline]
    pub(super) fn payload<'a>(&mut self, shared: &'a Shared, len: usize) -> &'a [AtomicU64] {
        // Also if it is never published: its bytes stay.
        self.covers_headers |= slots_for(len) > 1;
        shared.slots.payload(self.start(shared, len), len)
    }

    /// Publishes the message of `len` bytes that was written where it begins.
    #[inline(always)]
    pub(super) fn publish(&mut self, shared: &Shared, len: usize, kind: Kind) {
        let (first, header) = self.put(shared, len, kind);
        // ORDERING: Release, pairs with the Acquire in RecvPosition::peek [slot-full]
        shared.slots.header(first).store(header.word(), Ordering::Release);
        shared.data_wake.notify();
    }

    /// As [`publish`](Self::publish) for a message of a batch: the first one stays withheld until
    /// [`publish_batch`](Self::publish_batch), and so do all behind it.
    #[inline]
    pub(super) fn put_in_batch(&mut self, shared: &Shared, len: usize, kind: Kind, withheld: &mut Withheld) {
        let (first, header) = self.put(shared, len, kind);
        if withheld.is_some() {
            // ORDERING: Relaxed, made visible by the first header of the batch, before which no receiver looks here
            shared.slots.header(first).store(header.word(), Ordering::Relaxed);
        } else {
            *withheld = Some((first, header));
        }
    }

    /// Publishes the messages of a batch.
    #[inline]
    pub(super) fn publish_batch(shared: &Shared, withheld: &mut Withheld) {
        if let Some((first, header)) = withheld.take() {
            // ORDERING: Release, pairs with the Acquire in RecvPosition::peek [slot-full]
            shared.slots.header(first).store(header.word(), Ordering::Release);
            shared.data_wake.notify();
        }
    }

    /// Writes all headers of the message but the one that the receiver polls, which is returned with its slot.
    #[inline(always)]
    fn put(&mut self, shared: &Shared, len: usize, kind: Kind) -> (u64, Header) {
        let ring = &shared.slots;
        let (head, start) = (self.head, self.start(shared, len));
        let need = slots_for(len) as u64;
        self.head = start + need;
        self.covers_headers |= need > 1;
        if self.covers_headers {
            // ORDERING: Relaxed, made visible by the header stored last, before which no receiver looks there
            ring.header(self.head).store(Header::nothing_at(self.head).word(), Ordering::Relaxed);
        }
        let header = Header::new(start, len, kind);
        if start == head {
            return (head, header);
        }
        // ORDERING: Relaxed, made visible by the padding's header, which is the one the receiver polls
        ring.header(start).store(header.word(), Ordering::Relaxed);
        (head, Header::new(head, (start - head) as usize, Kind::PAD))
    }
}
