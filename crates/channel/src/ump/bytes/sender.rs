//! The sending end for bytes.

use std::fmt;
use std::time::Duration;

use corecast_base::wait::Waiter;

use crate::bytes::{BytesMut, Plain};
use crate::error::{SendError, SendTimeoutError, TrySendError};
use crate::peer::{Peer, nap};
use crate::ump::header::Kind;
use crate::ump::send_end::{Room, SendEnd, SendPosition, Withheld};
use crate::ump::shared::Shared;

/// A message of bytes.
pub(super) const BYTES: Kind = Kind::tagged(1);

/// The sending end. Dropping it lets the receiver drain what was sent, and then see the channel closed.
pub struct Sender {
    pub(super) end: SendEnd,
    pub(super) waiter: Waiter,
    /// The receiver's participant; `None` among the threads of one process.
    pub(super) peer: Option<Peer>,
    /// True if no other thread can reach the bytes of a message before it is published.
    pub(super) owns_loans: bool,
}

impl Sender {
    /// The longest message, in bytes.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.end.shared.max_len()
    }

    /// Sends a copy of `message` without waiting.
    ///
    /// # Errors
    /// [`TrySendError::Full`], or a [`SendError`].
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> Result<(), TrySendError<()>> {
        let loan = self.try_reserve(message.len())?;
        loan.fill(message);
        Ok(())
    }

    /// Sends a copy of `message`, waiting for room as the channel's policy says.
    ///
    /// # Errors
    /// [`SendError`] if it never can be sent.
    #[inline]
    pub fn send(&mut self, message: &[u8]) -> Result<(), SendError<()>> {
        let loan = self.reserve(message.len())?;
        loan.fill(message);
        Ok(())
    }

    /// Sends a copy of `message`, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] if no room was made in time, or the message can never be sent.
    pub fn send_timeout(&mut self, message: &[u8], timeout: Duration) -> Result<(), SendTimeoutError<()>> {
        let loan = self.reserve_timeout(message.len(), timeout)?;
        loan.fill(message);
        Ok(())
    }

    /// Room for a message of `len` bytes, to be written where the receiver will read it; does not wait.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    #[inline]
    pub fn try_reserve(&mut self, len: usize) -> Result<Loan<'_>, TrySendError<()>> {
        self.check(len)?;
        match self.end.reserve(len) {
            Some(room) => Ok(self.lend(room, len)),
            None => Err(self.full()),
        }
    }

    /// Room for a message of `len` bytes, to be written where the receiver will read it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[inline]
    pub fn reserve(&mut self, len: usize) -> Result<Loan<'_>, SendError<()>> {
        let room = self.room(len, None).map_err(in_time)?;
        Ok(self.lend(room, len))
    }

    /// As [`reserve`](Self::reserve), waiting for at most `timeout`.
    ///
    /// # Errors
    /// As [`send_timeout`](Self::send_timeout).
    pub fn reserve_timeout(&mut self, len: usize, timeout: Duration) -> Result<Loan<'_>, SendTimeoutError<()>> {
        let room = self.room(len, Some(timeout))?;
        Ok(self.lend(room, len))
    }

    /// Sends copies of all messages, waiting for room as the channel's policy says, and returns their number. Messages that
    /// find room together are published together: the receiver sees none of them before all of them are written.
    ///
    /// # Errors
    /// [`SendError`] with the number of messages that were sent before.
    pub fn send_batch<'m>(&mut self, messages: impl IntoIterator<Item = &'m [u8]>) -> Result<usize, SendError<usize>> {
        let mut batch = Batch { sender: self, withheld: None };
        let mut sent = 0;
        for message in messages {
            batch.send(message).map_err(|error| error.replace(sent))?;
            sent += 1;
        }
        Ok(sent)
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        &self.waiter
    }

    /// The error of every message of this length now, if there is one.
    #[inline]
    fn check(&self, len: usize) -> Result<(), SendError<()>> {
        if self.peer.as_ref().is_some_and(Peer::is_forked) {
            return Err(SendError::Forked(()));
        }
        if self.end.is_closed() {
            return Err(SendError::Closed(()));
        }
        let max = self.max_len();
        if len > max { Err(SendError::TooLarge { message: (), len, max }) } else { Ok(()) }
    }

    #[inline]
    fn room(&mut self, len: usize, timeout: Option<Duration>) -> Result<Room, SendTimeoutError<()>> {
        self.check(len)?;
        match self.end.reserve(len) {
            Some(room) => Ok(room),
            None => self.wait_for_room(len, timeout),
        }
    }

    #[cold]
    fn wait_for_room(&mut self, len: usize, timeout: Option<Duration>) -> Result<Room, SendTimeoutError<()>> {
        let Self { end, waiter, peer, .. } = self;
        let waited = end.wait_for_room(len, waiter, |waited| {
            if peer.as_mut().is_some_and(Peer::is_dead) {
                return Err(SendError::Died(()).into());
            }
            nap(peer.as_ref(), timeout, waited).ok_or(SendTimeoutError::Timeout(()))
        });
        match waited {
            Ok(Some(room)) => Ok(room),
            Ok(None) => Err(SendError::Closed(()).into()),
            // The receiver may have said goodbye between the look at its end and the look at its participant.
            Err(SendTimeoutError::Failed(SendError::Died(()))) if end.is_closed() => Err(SendError::Closed(()).into()),
            Err(error) => Err(error),
        }
    }

    #[cold]
    fn full(&mut self) -> TrySendError<()> {
        if !self.peer.as_mut().is_some_and(Peer::is_dead) {
            return TrySendError::Full(());
        }
        // As above.
        if self.end.is_closed() { SendError::Closed(()).into() } else { SendError::Died(()).into() }
    }

    #[inline]
    fn lend(&mut self, _room: Room, len: usize) -> Loan<'_> {
        let SendEnd { shared, position } = &mut self.end;
        Loan { shared, position, len, is_own: self.owns_loans }
    }
}

/// No time limit was given, so none has passed.
fn in_time(error: SendTimeoutError<()>) -> SendError<()> {
    match error {
        SendTimeoutError::Failed(error) => error,
        SendTimeoutError::Timeout(()) => unreachable!("a wait without a time limit ends for another reason"),
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // In a forked child the end belongs to the parent, and the memory is missing.
        if !self.peer.as_ref().is_some_and(Peer::is_forked) {
            let _ = self.end.leave();
        }
    }
}

/// Room for one message where the receiver will read it. Dropping it, the sender sends nothing.
#[must_use = "a loan that is dropped sends nothing"]
pub struct Loan<'a> {
    shared: &'a Shared,
    position: &'a mut SendPosition,
    len: usize,
    is_own: bool,
}

impl Loan<'_> {
    /// The message's length in bytes.
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

    /// The room itself. At first it holds the bytes of earlier messages.
    #[inline]
    pub fn bytes(&mut self) -> BytesMut<'_> {
        let words = self.position.payload(self.shared, self.len);
        if self.is_own {
            // SAFETY: room for this message was granted, so the receiver has read what was there and does not look there
            // until it is published, which needs the loan; no other thread reaches the ring, by protocol or by promise.
            unsafe { BytesMut::own(words, self.len) }
        } else {
            BytesMut::shared(words, self.len)
        }
    }

    /// Writes a value, which is as long as the message.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    #[inline]
    pub fn write<T: Plain>(&mut self, value: &T) {
        self.bytes().write(value);
    }

    /// Sends the message as it is.
    #[inline]
    pub fn commit(self) {
        self.position.publish(self.shared, self.len, BYTES);
    }

    #[inline]
    fn fill(mut self, message: &[u8]) {
        self.bytes().copy_from(message);
        self.commit();
    }
}

/// Messages that are published together, at the latest when it is dropped.
struct Batch<'a> {
    sender: &'a mut Sender,
    withheld: Withheld,
}

impl Batch<'_> {
    #[inline]
    fn send(&mut self, message: &[u8]) -> Result<(), SendError<()>> {
        let len = message.len();
        self.sender.check(len)?;
        let (slots, head) = (self.sender.end.shared.slots.slots() as u64, self.sender.end.position.head);
        if self.withheld.is_some_and(|(first, _)| head - first >= slots) {
            // The slot of the first message looks free.
            self.publish();
        }
        if self.sender.end.reserve(len).is_none() {
            self.publish();
            let _room = self.sender.wait_for_room(len, None).map_err(in_time)?;
        }
        let SendEnd { shared, position } = &mut self.sender.end;
        BytesMut::shared(position.payload(shared, len), len).copy_from(message);
        position.put_in_batch(shared, len, BYTES, &mut self.withheld);
        Ok(())
    }

    fn publish(&mut self) {
        SendPosition::publish_batch(&self.sender.end.shared, &mut self.withheld);
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.publish();
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ump::bytes::Sender({} slots)", self.end.shared.slots.slots())
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan({})", self.len)
    }
}
