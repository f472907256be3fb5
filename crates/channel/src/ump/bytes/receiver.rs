//! The receiving end for bytes.

use std::fmt;
use std::time::Duration;

use corecast_base::wait::Waiter;

use super::msg::Msg;
use crate::bytes::Bytes;
use crate::error::{RecvError, RecvIntoError, RecvTimeoutError, TryRecvError};
use crate::peer::{Peer, nap};
use crate::selectable::{Selectable, WakeHandle};
use crate::slots::slots_for;
use crate::ump::header::Header;
use crate::ump::recv_end::RecvEnd;
use crate::ump::shared::SENDER_GONE;

/// The receiving end. Dropping it makes sends fail.
pub struct Receiver {
    pub(super) end: RecvEnd,
    pub(super) waiter: Waiter,
    /// The sender's participant; `None` among the threads of one process.
    pub(super) peer: Option<Peer>,
    /// True if no thread can change the bytes of a message while it is read.
    pub(super) gives_slices: bool,
}

impl Receiver {
    /// Receives without waiting.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`], or a [`RecvError`].
    #[inline]
    pub fn try_recv(&mut self) -> Result<Msg<'_>, TryRecvError> {
        let header = self.find()?;
        Ok(self.lend(header))
    }

    /// Receives, waiting as the channel's policy says.
    ///
    /// # Errors
    /// [`RecvError`] if nothing more can be received.
    #[inline(always)]
    pub fn recv(&mut self) -> Result<Msg<'_>, RecvError> {
        let header = self.wait(None).map_err(in_time)?;
        Ok(self.lend(header))
    }

    /// Receives, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`] if nothing was sent in time, or nothing more can be received.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<Msg<'_>, RecvTimeoutError> {
        let header = self.wait(Some(timeout))?;
        Ok(self.lend(header))
    }

    /// Receives into the beginning of `into` and returns the message's length, waiting as the channel's policy says.
    ///
    /// # Errors
    /// [`RecvIntoError`]; a message that is too long stays in the channel.
    pub fn recv_into(&mut self, into: &mut [u8]) -> Result<usize, RecvIntoError> {
        let header = self.wait(None).map_err(in_time)?;
        let len = header.len();
        if len > into.len() {
            return Err(RecvIntoError::TooShort { len });
        }
        self.lend(header).copy_to(into);
        Ok(len)
    }

    /// Hands up to `max` messages to `each`, without waiting, and returns their number. The sender is told once that all of
    /// them have been read, which costs it less than being told of each.
    ///
    /// # Errors
    /// [`RecvError`] if nothing more can be received.
    pub fn drain(&mut self, max: usize, mut each: impl FnMut(&Bytes<'_>)) -> Result<usize, RecvError> {
        let mut count = 0;
        let mut found = match self.find() {
            Ok(header) => Some(header),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Failed(error)) => return Err(error),
        };
        let RecvEnd { shared, position } = &mut self.end;
        while let Some(header) = found.filter(|_| count < max) {
            each(&position.view(shared, header, self.gives_slices));
            position.advance(shared, slots_for(header.len()) as u64);
            count += 1;
            // The next call reports an error of the next message.
            found = position.peek_bytes(shared).ok().flatten();
        }
        position.idle(shared);
        Ok(count)
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        &self.waiter
    }

    /// The header of the next message, if it is there.
    #[inline]
    fn find(&mut self) -> Result<Header, TryRecvError> {
        self.begin()?;
        let RecvEnd { shared, position } = &mut self.end;
        match position.peek_bytes(shared)? {
            Some(header) => Ok(header),
            None => self.miss(),
        }
    }

    /// The reason why there is no message, or the message that came meanwhile.
    #[cold]
    fn miss(&mut self) -> Result<Header, TryRecvError> {
        self.end.idle();
        let RecvEnd { shared, position } = &mut self.end;
        if shared.is_gone(SENDER_GONE) || self.peer.as_mut().is_some_and(Peer::is_dead) {
            return Ok(position.peek_last(shared)?);
        }
        Err(TryRecvError::Empty)
    }

    // Always inlined: through memory, the header would keep the next look waiting until this line is here.
    #[inline(always)]
    fn wait(&mut self, timeout: Option<Duration>) -> Result<Header, RecvTimeoutError> {
        self.begin()?;
        let RecvEnd { shared, position } = &mut self.end;
        match position.peek_bytes(shared)? {
            Some(header) => Ok(header),
            None => self.wait_for_news(timeout),
        }
    }

    #[cold]
    fn wait_for_news(&mut self, timeout: Option<Duration>) -> Result<Header, RecvTimeoutError> {
        self.end.idle();
        let Self { end: RecvEnd { shared, position }, waiter, peer, .. } = self;
        let news = || match position.peek_bytes(shared) {
            Ok(None) => shared.is_gone(SENDER_GONE).then(|| position.peek_last(shared)),
            found => found.transpose(),
        };
        let waited = waiter.until(&shared.data_wake, news, |waited| {
            if peer.as_mut().is_some_and(Peer::is_dead) {
                return Err(RecvError::Died.into());
            }
            nap(peer.as_ref(), timeout, waited).ok_or(RecvTimeoutError::Timeout)
        });
        match waited {
            Ok(news) => Ok(news?),
            Err(RecvTimeoutError::Failed(RecvError::Died)) => Ok(position.peek_last(shared)?),
            Err(error) => Err(error),
        }
    }

    /// The first step of every call.
    #[inline(always)]
    fn begin(&mut self) -> Result<(), RecvError> {
        if self.peer.as_ref().is_some_and(Peer::is_forked) {
            return Err(RecvError::Forked);
        }
        // A message that was forgotten has not freed its slots.
        self.end.position.give_back(&self.end.shared);
        Ok(())
    }

    #[inline(always)]
    fn lend(&mut self, header: Header) -> Msg<'_> {
        let RecvEnd { shared, position } = &mut self.end;
        Msg::new(shared, position, header, self.gives_slices)
    }
}

/// No time limit was given, so none has passed.
#[inline(always)]
fn in_time(error: RecvTimeoutError) -> RecvError {
    match error {
        RecvTimeoutError::Failed(error) => error,
        RecvTimeoutError::Timeout => unreachable!("a wait without a time limit ends for another reason"),
    }
}

impl Selectable for Receiver {
    type Message<'a> = Msg<'a>;

    #[inline]
    fn is_ready(&mut self) -> bool {
        !matches!(self.find(), Err(TryRecvError::Empty))
    }

    fn try_recv(&mut self) -> Result<Msg<'_>, TryRecvError> {
        self.try_recv()
    }

    fn wake_handle(&self) -> WakeHandle {
        WakeHandle::single(self.end.shared.data_wake.clone())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // In a forked child the end belongs to the parent, and the memory is missing.
        if !self.peer.as_ref().is_some_and(Peer::is_forked) {
            let _ = self.end.leave();
        }
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ump::bytes::Receiver({} slots)", self.end.shared.slots.slots())
    }
}
