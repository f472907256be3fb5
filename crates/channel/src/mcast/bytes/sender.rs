//! The sending end for bytes.

use std::fmt;
use std::time::Duration;

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::Waiter;

use super::exchange;
use super::receiver::Receiver;
use super::slots::{ByteSlots, Head};
use crate::bytes::BytesMut;
use crate::error::{SendError, SendTimeoutError, TrySendError};
use crate::mcast::add_end_error::{AddEndError, TooManyEnds};
use crate::mcast::end_waiter::{EndWaiter, TimedOut};
use crate::mcast::ring::Ring;
use crate::mcast::room::NoTurn;
use crate::mcast::send_end::{SendEnd, fence_before_overwrite};
use crate::policy::Policy;

const WORD_BYTES: usize = size_of::<u64>();

/// A sending end. Dropping the last one lets the receivers drain what was sent, and then see the channel closed.
pub struct Sender {
    pub(super) end: SendEnd<ByteSlots>,
    waiter: EndWaiter,
    /// The memory for short messages that are not sent at once.
    draft: Box<[AtomicU64]>,
    /// The block that it owns, by its own record.
    block: usize,
}

/// The place of a message that is about to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Staged {
    /// In the next slot, which belongs to this sender already.
    Slot,
    /// In the draft.
    Draft,
    /// In the block that the sender owns.
    Block,
}

impl Sender {
    /// A sender; `None` if the channel has all its senders.
    pub(super) fn open(ring: &Arc<Ring<ByteSlots>>) -> Option<Self> {
        let end = SendEnd::open(ring)?;
        exchange::settle(ring, end.line);
        exchange::begin(&ring.senders[end.line], ring.tail());
        let draft = (0..ring.slots.sizes().inline / WORD_BYTES).map(|_| AtomicU64::new(0)).collect();
        let block = exchange::owned(ring, end.line);
        Some(Self { waiter: EndWaiter::of(ring), draft, block, end })
    }

    /// One more sender of the channel.
    ///
    /// # Errors
    /// [`AddEndError`].
    pub(super) fn add(ring: &Arc<Ring<ByteSlots>>) -> Result<Self, AddEndError> {
        if ring.owners.is_forked() {
            return Err(AddEndError::Forked);
        }
        Self::open(ring).ok_or(TooManyEnds { ends: "senders", max: ring.config.senders }.into())
    }

    /// Sends a copy without waiting.
    ///
    /// # Errors
    /// [`TrySendError::Full`] if a reliable reader has not released the oldest message, or other senders won every turn
    /// that this one tried for; or [`SendError`].
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> Result<(), TrySendError<()>> {
        self.check(message.len())?;
        let posted = if message.len() <= self.inline() {
            self.post_short(message)
        } else {
            // Checked before the message is copied.
            self.end.check_room().and_then(|()| {
                self.stage(message);
                self.post_block(message.len())
            })
        };
        posted.map_err(|no_turn| self.refused(no_turn))
    }

    /// Sends a copy, waiting for room as the channel's policy says.
    ///
    /// # Errors
    /// [`SendError`].
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError<()>> {
        self.send_within(message, None).map_err(|error| match error {
            SendTimeoutError::Failed(error) => error,
            SendTimeoutError::Timeout(()) => unreachable!("a wait without a limit does not time out"),
        })
    }

    /// Sends a copy, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError::Timeout`], or [`SendError`].
    pub fn send_timeout(&mut self, message: &[u8], timeout: Duration) -> Result<(), SendTimeoutError<()>> {
        self.send_within(message, Some(timeout))
    }

    #[inline]
    fn send_within(&mut self, message: &[u8], timeout: Option<Duration>) -> Result<(), SendTimeoutError<()>> {
        self.check(message.len())?;
        if message.len() > self.inline() {
            self.stage(message);
            return self.post(Staged::Block, message.len(), timeout);
        }
        match self.post_short(message) {
            Ok(()) => Ok(()),
            Err(_) => self.wait_until(timeout, |sender| sender.post_short(message)),
        }
    }

    /// Room for a message of `len` bytes, to be written in place. It takes no ticket, so that others go on sending while it
    /// is filled; dropping it has no effect.
    ///
    /// # Errors
    /// [`SendError`].
    #[inline(always)]
    pub fn reserve(&mut self, len: usize) -> Result<Loan<'_>, SendError<()>> {
        self.check(len)?;
        let place = if len > self.inline() {
            Staged::Block
        } else if self.end.owns_next_slot() {
            Staged::Slot
        } else {
            Staged::Draft
        };
        Ok(Loan { sender: self, place, len })
    }

    /// Another sender of the same channel.
    ///
    /// # Errors
    /// [`AddEndError`].
    pub fn clone_sender(&self) -> Result<Self, AddEndError> {
        Self::add(&self.end.ring)
    }

    /// A reader of all messages that are sent from now on.
    ///
    /// # Errors
    /// [`AddEndError`].
    ///
    /// # Panics
    /// If the channel never overwrites and the policy is not [`Policy::Reliable`].
    #[track_caller]
    pub fn subscribe(&self, policy: Policy) -> Result<Receiver, AddEndError> {
        Receiver::add(&self.end.ring, policy)
    }

    /// The longest message, in bytes.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.end.ring.slots.sizes().max_len
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        self.waiter.waiter()
    }

    #[inline(always)]
    fn inline(&self) -> usize {
        self.end.ring.slots.sizes().inline
    }

    #[inline(always)]
    fn check(&self, len: usize) -> Result<(), SendError<()>> {
        if self.end.ring.owners.is_forked() {
            return Err(SendError::Forked(()));
        }
        let max = self.max_len();
        if len > max { Err(SendError::TooLarge { message: (), len, max }) } else { Ok(()) }
    }

    /// The error of a message that was not sent. Checks, seldom, whether the end that keeps the ring full is dead.
    #[cold]
    fn refused(&mut self, no_turn: NoTurn) -> TrySendError<()> {
        match no_turn {
            NoTurn::NoRoom(_) => {
                self.waiter.reap_if_due(&self.end.ring);
                TrySendError::Full(())
            }
            NoTurn::Corrupt(corrupt) => corrupt.unsent(()).into(),
        }
    }

    /// Puts a long message into the block.
    fn stage(&mut self, message: &[u8]) {
        self.staged_elsewhere(Staged::Block, message.len()).copy_from(message);
    }

    /// The memory in which a message of `len` bytes is put together.
    #[inline(always)]
    fn staged(&mut self, place: Staged, len: usize) -> BytesMut<'_> {
        if place != Staged::Slot {
            return self.staged_elsewhere(place, len);
        }
        let ring = &self.end.ring;
        let words = ring.slots.inline(ring.laps.index(self.end.next_ticket()));
        if !ring.slots.is_trusted {
            return BytesMut::shared(words, len);
        }
        // SAFETY: readers of a gated ring are done with the slot, as there was room for its ticket, and come back to it when
        // it is published, which needs the sender that is borrowed here.
        unsafe { BytesMut::own(words, len) }
    }

    fn staged_elsewhere(&mut self, place: Staged, len: usize) -> BytesMut<'_> {
        if place == Staged::Draft {
            // SAFETY: the draft is this sender's own and borrowed with it.
            return unsafe { BytesMut::own(&self.draft, len) };
        }
        let ring = &self.end.ring;
        let words = ring.slots.block(self.block).expect("checked when the sender got it");
        if ring.overwrites() {
            fence_before_overwrite();
        } else if ring.slots.is_trusted {
            // SAFETY: readers of a gated ring reach a block through the slot that owns it, and this one is owned by this
            // sender: the ticket it was taken for found the readers of the slot's former message done with it.
            return unsafe { BytesMut::own(words, len) };
        }
        BytesMut::shared(words, len)
    }

    /// Sends the staged message, waiting for room if there is none.
    #[inline(always)]
    fn post(&mut self, place: Staged, len: usize, timeout: Option<Duration>) -> Result<(), SendTimeoutError<()>> {
        match self.try_post(place, len) {
            Ok(()) => Ok(()),
            Err(_) => self.wait_until(timeout, |sender| sender.try_post(place, len)),
        }
    }

    /// Sends the staged message, if there is room now.
    #[inline(always)]
    fn try_post(&mut self, place: Staged, len: usize) -> Result<(), NoTurn> {
        match place {
            Staged::Slot => {
                self.end.check_readers()?;
                self.finish_short(self.end.next_ticket(), len);
                Ok(())
            }
            Staged::Draft => self.post_draft(len),
            Staged::Block => self.post_block(len),
        }
    }

    #[inline(always)]
    fn post_short(&mut self, message: &[u8]) -> Result<(), NoTurn> {
        let ticket = self.end.try_turn(|_, _| {})?;
        let slots = &self.end.ring.slots;
        BytesMut::shared(slots.inline(self.end.ring.laps.index(ticket)), message.len()).copy_from(message);
        self.finish_short(ticket, message.len());
        Ok(())
    }

    fn post_draft(&mut self, len: usize) -> Result<(), NoTurn> {
        let ticket = self.end.try_turn(|_, _| {})?;
        let slot = self.end.ring.slots.inline(self.end.ring.laps.index(ticket));
        for (from, to) in self.draft.iter().zip(slot).take(len.div_ceil(WORD_BYTES)) {
            // ORDERING: Relaxed, this sender's own, and released by the publication
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.finish_short(ticket, len);
        Ok(())
    }

    /// Publishes the message in the slot of a ticket.
    #[inline(always)]
    fn finish_short(&mut self, ticket: u64, len: usize) {
        let slots = &self.end.ring.slots;
        let index = self.end.ring.laps.index(ticket);
        if slots.sizes().blocks > 0 {
            // The slot keeps its block.
            slots.set_head(index, Head { len, block: slots.head(index).block, is_in_block: false });
            return self.end.publish(ticket);
        }
        // Without blocks, the line that readers poll need not be fetched to be read first.
        let word = slots.fill_blockless(index, len);
        SendEnd::publish_in(&self.end.ring, word, ticket);
        self.end.go_on(ticket);
    }

    fn post_block(&mut self, len: usize) -> Result<(), NoTurn> {
        let line = self.end.line;
        let ticket = self.end.try_turn(|ring, ticket| exchange::intend(&ring.senders[line], ticket))?;
        let ring = &self.end.ring;
        let old = exchange::give(ring, &ring.senders[line], ticket, self.block, len);
        self.end.publish(ticket);
        let ring = &self.end.ring;
        // A stranger may have written the number, so it is bounded before it is used.
        self.block = if old < ring.slots.sizes().blocks { old } else { self.block };
        exchange::keep(ring, line, self.block);
        Ok(())
    }

    #[cold]
    fn wait_until(
        &mut self,
        timeout: Option<Duration>,
        mut attempt: impl FnMut(&mut Self) -> Result<(), NoTurn>,
    ) -> Result<(), SendTimeoutError<()>> {
        let ring = Arc::clone(&self.end.ring);
        let mut waiter = self.waiter.clone();
        let posted = waiter.until(&ring, &ring.room_wake, timeout, || NoTurn::ends_wait(attempt(self)));
        self.waiter = waiter;
        match posted {
            Ok(Ok(())) => Ok(()),
            Ok(Err(corrupt)) => Err(corrupt.unsent(()).into()),
            Err(TimedOut) => Err(SendTimeoutError::Timeout(())),
        }
    }
}

/// Room for one message. Write to it through [`bytes`](Self::bytes) and [`commit`](Self::commit) it; dropping it sends
/// nothing.
pub struct Loan<'a> {
    sender: &'a mut Sender,
    place: Staged,
    len: usize,
}

impl Loan<'_> {
    /// The bytes to write. At first they hold the bytes of earlier messages.
    #[inline(always)]
    pub fn bytes(&mut self) -> BytesMut<'_> {
        self.sender.staged(self.place, self.len)
    }

    /// Sends it without waiting.
    ///
    /// # Errors
    /// [`TrySendError::Full`] with the loan, if a reliable reader has not released the oldest message, or other senders
    /// won every turn that this one tried for; or [`SendError`].
    #[inline]
    pub fn try_commit(self) -> Result<(), TrySendError<Self>> {
        match self.sender.try_post(self.place, self.len) {
            Ok(()) => Ok(()),
            Err(NoTurn::NoRoom(_)) => Err(TrySendError::Full(self)),
            Err(NoTurn::Corrupt(corrupt)) => Err(corrupt.unsent(self).into()),
        }
    }

    /// Sends it, waiting for room as the channel's policy says.
    ///
    /// # Errors
    /// [`SendError`].
    #[inline(always)]
    pub fn commit(self) -> Result<(), SendError<()>> {
        match self.sender.post(self.place, self.len, None) {
            Ok(()) => Ok(()),
            Err(SendTimeoutError::Failed(error)) => Err(error),
            Err(SendTimeoutError::Timeout(())) => unreachable!("a wait without a limit does not time out"),
        }
    }

    /// Sends it, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError::Timeout`], or [`SendError`].
    pub fn commit_timeout(self, timeout: Duration) -> Result<(), SendTimeoutError<()>> {
        self.sender.post(self.place, self.len, Some(timeout))
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan({:?}, {})", self.place, self.len)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mcast::bytes::Sender({} slots)", self.end.ring.config.slots)
    }
}
