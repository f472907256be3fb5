//! The sending end.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use corecast_base::sync::Arc;
use corecast_base::wait::Waiter;

use super::cells::{RECEIVER_GONE, SENDER_GONE, Shared};
use super::send_position::SendPosition;
use crate::error::{SendError, SendTimeoutError, TrySendError};
use crate::peer::{Peer, nap};

/// The sending end. Dropping it lets the receiver drain what was sent, and then see the channel closed.
pub struct Sender {
    pub(super) shared: Arc<Shared>,
    pub(super) position: SendPosition,
    pub(super) waiter: Waiter,
    /// The receiver's participant; `None` among the threads of one process.
    pub(super) peer: Option<Peer>,
}

impl Sender {
    /// Sends without waiting.
    ///
    /// # Errors
    /// [`TrySendError::Full`], or a [`SendError`], with the word.
    #[inline]
    pub fn try_send(&mut self, word: NonZeroU64) -> Result<(), TrySendError<NonZeroU64>> {
        self.check(word)?;
        if !self.position.has_room(&self.shared) {
            return Err(self.full(word));
        }
        self.position.put(&self.shared, word);
        Ok(())
    }

    /// Sends, waiting for room as the channel's policy says.
    ///
    /// # Errors
    /// [`SendError`] with the word, if it never can be sent.
    #[inline]
    pub fn send(&mut self, word: NonZeroU64) -> Result<(), SendError<NonZeroU64>> {
        self.send_within(word, None).map_err(|error| match error {
            SendTimeoutError::Failed(error) => error,
            SendTimeoutError::Timeout(_) => unreachable!("a wait without a time limit ends for another reason"),
        })
    }

    /// Sends, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the word, if no room was made in time, or it never can be sent.
    pub fn send_timeout(&mut self, word: NonZeroU64, timeout: Duration) -> Result<(), SendTimeoutError<NonZeroU64>> {
        self.send_within(word, Some(timeout))
    }

    /// Lets the receiver take all words that were sent, even if it takes whole lines otherwise.
    ///
    /// # Errors
    /// [`SendError::Forked`] in a forked child.
    pub fn flush(&mut self) -> Result<(), SendError<()>> {
        if self.peer.as_ref().is_some_and(Peer::is_forked) {
            return Err(SendError::Forked(()));
        }
        self.position.flush(&self.shared);
        Ok(())
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        &self.waiter
    }

    #[inline]
    fn check(&self, word: NonZeroU64) -> Result<(), SendError<NonZeroU64>> {
        if self.peer.as_ref().is_some_and(Peer::is_forked) {
            return Err(SendError::Forked(word));
        }
        if self.shared.is_gone(RECEIVER_GONE) { Err(SendError::Closed(word)) } else { Ok(()) }
    }

    #[inline]
    fn send_within(&mut self, word: NonZeroU64, timeout: Option<Duration>) -> Result<(), SendTimeoutError<NonZeroU64>> {
        self.check(word)?;
        if !self.position.has_room(&self.shared) {
            self.wait_for_room(word, timeout)?;
        }
        self.position.put(&self.shared, word);
        Ok(())
    }

    #[cold]
    fn wait_for_room(
        &mut self,
        word: NonZeroU64,
        timeout: Option<Duration>,
    ) -> Result<(), SendTimeoutError<NonZeroU64>> {
        let Self { shared, position, waiter, peer } = self;
        let room = || match shared.is_gone(RECEIVER_GONE) {
            true => Some(Err(SendError::Closed(word))),
            false => position.has_room(shared).then_some(Ok(())),
        };
        let waited = waiter.until(&shared.room_wake, room, |waited| {
            if peer.as_mut().is_some_and(Peer::is_dead) {
                return Err(SendTimeoutError::Failed(gone(shared, word)));
            }
            nap(peer.as_ref(), timeout, waited).ok_or(SendTimeoutError::Timeout(word))
        });
        Ok(waited??)
    }

    #[cold]
    fn full(&mut self, word: NonZeroU64) -> TrySendError<NonZeroU64> {
        if self.peer.as_mut().is_some_and(Peer::is_dead) {
            gone(&self.shared, word).into()
        } else {
            TrySendError::Full(word)
        }
    }
}

/// The error for a receiver whose participant is gone. By now it is known whether it said goodbye.
fn gone(shared: &Shared, word: NonZeroU64) -> SendError<NonZeroU64> {
    if shared.is_gone(RECEIVER_GONE) { SendError::Closed(word) } else { SendError::Died(word) }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // In a forked child the end belongs to the parent, and the memory is missing.
        if !self.peer.as_ref().is_some_and(Peer::is_forked) {
            self.shared.leave(SENDER_GONE);
            self.shared.data_wake.notify();
        }
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ff::Sender({} sent)", self.position.head)
    }
}
