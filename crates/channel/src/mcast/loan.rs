//! A message that is written where it will be read.

use std::fmt;
use std::time::Duration;

use super::room::NoTurn;
use super::sender::{Sender, Staged};
use crate::bytes::BytesMut;
use crate::error::{SendError, SendTimeoutError, TrySendError};

/// Room for one message. Write to it through [`bytes`](Self::bytes) and [`commit`](Self::commit) it; dropping it sends
/// nothing.
pub struct Loan<'a> {
    pub(super) sender: &'a mut Sender,
    pub(super) message: Staged,
}

impl Loan<'_> {
    /// The bytes to write. At first they hold what was left there.
    #[inline]
    pub fn bytes(&mut self) -> BytesMut<'_> {
        self.sender.staged(self.message)
    }

    /// Sends it without waiting.
    ///
    /// # Errors
    /// [`TrySendError::Full`] with the loan, if a reliable reader has not released the oldest message, or other senders
    /// won every turn that this one tried for; or [`SendError`].
    #[inline]
    pub fn try_commit(self) -> Result<(), TrySendError<Self>> {
        match self.sender.try_post(self.message) {
            Ok(()) => Ok(()),
            Err(NoTurn::NoRoom(_)) => Err(TrySendError::Full(self)),
            Err(NoTurn::Corrupt(corrupt)) => Err(corrupt.unsent(self).into()),
        }
    }

    /// Sends it, waiting for room as the channel's policy says.
    ///
    /// # Errors
    /// [`SendError`].
    #[inline]
    pub fn commit(self) -> Result<(), SendError<()>> {
        match self.sender.post(self.message, None) {
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
        self.sender.post(self.message, Some(timeout))
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loan({:?})", self.message)
    }
}
