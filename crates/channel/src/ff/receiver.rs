//! The receiving end.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use corecast_base::sync::Arc;
use corecast_base::wait::Waiter;

use super::Slip;
use super::cells::{RECEIVER_GONE, SENDER_GONE, Shared};
use super::recv_position::RecvPosition;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::peer::{Peer, nap};
use crate::selectable::{Selectable, WakeHandle};

/// The receiving end. Dropping it makes sends fail.
pub struct Receiver {
    pub(super) shared: Arc<Shared>,
    pub(super) position: RecvPosition,
    pub(super) waiter: Waiter,
    /// The sender's participant; `None` among the threads of one process.
    pub(super) peer: Option<Peer>,
}

impl Receiver {
    /// Receives without waiting.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`], also while a part of a line waits for the rest; or a [`RecvError`].
    #[inline]
    pub fn try_recv(&mut self) -> Result<NonZeroU64, TryRecvError> {
        self.check()?;
        match self.position.take(&self.shared) {
            Some(word) => Ok(word),
            None => self.miss(),
        }
    }

    /// Receives, waiting as the channel's policy says.
    ///
    /// # Errors
    /// [`RecvError`] if nothing more can be received.
    #[inline]
    pub fn recv(&mut self) -> Result<NonZeroU64, RecvError> {
        self.recv_within(None).map_err(|error| match error {
            RecvTimeoutError::Failed(error) => error,
            RecvTimeoutError::Timeout => unreachable!("a wait without a time limit ends for another reason"),
        })
    }

    /// Receives, waiting for at most `timeout`; a part of a line may wait for the rest besides.
    ///
    /// # Errors
    /// [`RecvTimeoutError`] if nothing was sent in time, or nothing more can be received.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<NonZeroU64, RecvTimeoutError> {
        self.recv_within(Some(timeout))
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        &self.waiter
    }

    #[inline]
    fn check(&self) -> Result<(), RecvError> {
        if self.peer.as_ref().is_some_and(Peer::is_forked) { Err(RecvError::Forked) } else { Ok(()) }
    }

    #[inline]
    fn recv_within(&mut self, timeout: Option<Duration>) -> Result<NonZeroU64, RecvTimeoutError> {
        self.check()?;
        match self.position.take(&self.shared) {
            Some(word) => Ok(word),
            None => self.wait(timeout),
        }
    }

    #[cold]
    fn miss(&mut self) -> Result<NonZeroU64, TryRecvError> {
        if self.shared.is_gone(SENDER_GONE) || self.peer.as_mut().is_some_and(Peer::is_dead) {
            return Ok(self.last()?);
        }
        Err(TryRecvError::Empty)
    }

    /// The next word of a sender that is gone. All that it sent has arrived by now.
    fn last(&mut self) -> Result<NonZeroU64, RecvError> {
        let has_left = self.shared.is_gone(SENDER_GONE);
        let gone = if has_left { RecvError::Closed } else { RecvError::Died };
        self.position.take_any(&self.shared).ok_or(gone)
    }

    #[cold]
    fn wait(&mut self, timeout: Option<Duration>) -> Result<NonZeroU64, RecvTimeoutError> {
        let Self { shared, position, waiter, peer } = self;
        let news = || (position.is_there(shared) || shared.is_gone(SENDER_GONE)).then_some(());
        let waited = waiter.until(&shared.data_wake, news, |waited| {
            if peer.as_mut().is_some_and(Peer::is_dead) {
                return Err(RecvError::Died.into());
            }
            nap(peer.as_ref(), timeout, waited).ok_or(RecvTimeoutError::Timeout)
        });
        match waited {
            Ok(()) | Err(RecvTimeoutError::Failed(_)) => {
                self.wait_for_line();
                Ok(self.last()?)
            }
            Err(error) => Err(error),
        }
    }

    /// Gives a part of a line the time to become a whole one.
    fn wait_for_line(&mut self) {
        let Self { shared, position, waiter, .. } = self;
        let Slip::Line(longest) = shared.slip else { return };
        let ripe = || position.is_ripe(shared).then_some(());
        let left = |waited| longest.checked_sub(waited).filter(|left| !left.is_zero()).ok_or(());
        if waiter.until(&shared.data_wake, ripe, left).is_err() {
            position.ripen_part(shared);
        }
    }
}

impl Selectable for Receiver {
    type Message<'a> = NonZeroU64;

    #[inline]
    fn is_ready(&mut self) -> bool {
        self.check().is_err()
            || self.position.is_there(&self.shared)
            || self.shared.is_gone(SENDER_GONE)
            || self.peer.as_mut().is_some_and(Peer::is_dead)
    }

    fn try_recv(&mut self) -> Result<NonZeroU64, TryRecvError> {
        self.check()?;
        // A part of a line is a message for a thread that waits for several channels.
        self.position.ripen_part(&self.shared);
        self.try_recv()
    }

    fn wake_handle(&self) -> WakeHandle {
        WakeHandle::single(self.shared.data_wake.clone())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // In a forked child the end belongs to the parent, and the memory is missing.
        if !self.peer.as_ref().is_some_and(Peer::is_forked) {
            self.shared.leave(RECEIVER_GONE);
            self.shared.room_wake.notify();
        }
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ff::Receiver({} received)", self.position.next)
    }
}
