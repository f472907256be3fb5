//! The receiving end for bytes.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_base::wait::{WaitCounts, WakeWord};

use super::msg::{Body, Msg};
use super::slots::ByteSlots;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::mcast::add_end_error::{AddEndError, TooManyEnds};
use crate::mcast::end_waiter::{EndWaiter, TimedOut};
use crate::mcast::recv_end::{RecvEnd, Seen, outcome};
use crate::mcast::ring::Ring;
use crate::mcast::room::NoRoom;
use crate::policy::Policy;
use crate::selectable::{Selectable, WakeHandle};

const WORD_BYTES: usize = size_of::<u64>();

/// The damage of a message that does not fit its place.
const NO_LENGTH: &str = "a message is longer than its slot or block, or in no block";

/// A receiving end. Several messages can be open at once, and are released in any order; while a reliable reader has one
/// open, no sender writes there.
pub struct Receiver {
    pub(super) end: RecvEnd<ByteSlots>,
    waiter: RefCell<EndWaiter>,
    /// Memory for copies, not in use now.
    buffers: RefCell<Vec<Box<[AtomicU64]>>>,
}

impl Receiver {
    /// A reader; `None` if the channel has all its readers.
    pub(super) fn open(ring: &Arc<Ring<ByteSlots>>, policy: Policy) -> Option<Self> {
        let end = RecvEnd::open(ring, policy)?;
        Some(Self { waiter: RefCell::new(EndWaiter::of(ring)), buffers: RefCell::default(), end })
    }

    /// One more reader of the channel.
    ///
    /// # Errors
    /// [`AddEndError`].
    ///
    /// # Panics
    /// If the channel never overwrites and the policy is not [`Policy::Reliable`].
    #[track_caller]
    pub(super) fn add(ring: &Arc<Ring<ByteSlots>>, policy: Policy) -> Result<Self, AddEndError> {
        assert!(
            ring.overwrites() || policy == Policy::Reliable,
            "readers of a gated channel are reliable: only one made with Delivery::Overwrite may leave them behind"
        );
        if ring.owners.is_forked() {
            return Err(AddEndError::Forked);
        }
        Self::open(ring, policy).ok_or(TooManyEnds { ends: "readers", max: ring.config.readers }.into())
    }

    /// Receives without waiting.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`], or [`RecvError`]: `Lagged` is told once, and the next call goes on.
    #[inline]
    pub fn try_recv(&self) -> Result<Msg<'_>, TryRecvError> {
        self.check_fork()?;
        match self.end.look() {
            Some(seen) => match self.open_message(seen?)? {
                Some(message) => Ok(message),
                None => Err(TryRecvError::Empty),
            },
            None => {
                self.waiter.borrow_mut().reap_if_due(&self.end.ring);
                Err(TryRecvError::Empty)
            }
        }
    }

    /// Receives, waiting as the channel's policy says.
    ///
    /// # Errors
    /// [`RecvError`]; `Closed` or `Died` once all that was sent has been received and no sender is left.
    #[inline(always)]
    pub fn recv(&self) -> Result<Msg<'_>, RecvError> {
        match self.recv_at_once() {
            Some(message) => Ok(message),
            None => self.recv_later(None).map_err(|error| match error {
                RecvTimeoutError::Failed(error) => error,
                RecvTimeoutError::Timeout => unreachable!("a wait without a limit does not time out"),
            }),
        }
    }

    /// Receives, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`], or as [`recv`](Self::recv).
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Msg<'_>, RecvTimeoutError> {
        self.recv_at_once().map_or_else(|| self.recv_later(Some(timeout)), Ok)
    }

    /// The next message, if it is there and needs nothing but to be taken.
    // Always inlined, and made in one place, so that the message stays in registers: through memory it would be moved by
    // wider loads than the stores it was made by. Such a load waits until those have reached the cache, which they do after
    // this message's lines have come, so that the next look would not begin before (38 ns a message instead of 12).
    #[inline(always)]
    fn recv_at_once(&self) -> Option<Msg<'_>> {
        if self.end.policy != Policy::Reliable || self.end.ring.owners.is_forked() {
            return None;
        }
        let ticket = self.end.poll_published()?;
        self.open_in_place(ticket)
    }

    #[cold]
    #[inline(never)]
    fn recv_later(&self, timeout: Option<Duration>) -> Result<Msg<'_>, RecvTimeoutError> {
        self.check_fork()?;
        let ticket = match outcome(self.end.poll()) {
            Some(seen) => seen?,
            None => self.end.wait(&mut self.waiter.borrow_mut(), timeout)?,
        };
        match self.open_message(ticket)? {
            Some(message) => Ok(message),
            None => self.recv_another(timeout),
        }
    }

    /// Receives after a message that was overwritten when it was about to be copied. It opens messages inside the wait:
    /// another process that writes over each of them cannot keep the call beyond twice its limit.
    #[cold]
    fn recv_another(&self, timeout: Option<Duration>) -> Result<Msg<'_>, RecvTimeoutError> {
        let ring = &self.end.ring;
        let look = || match self.end.look() {
            None => Err(NoRoom::NO_READER),
            Some(seen) => match seen.and_then(|ticket| self.open_message(ticket)) {
                Ok(None) => Err(NoRoom::SLOW_SENDER),
                Ok(Some(message)) => Ok(Ok(message)),
                Err(error) => Ok(Err(error)),
            },
        };
        match self.waiter.borrow_mut().until(ring, &ring.data_wake, timeout, look) {
            Ok(received) => Ok(received?),
            Err(TimedOut) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// True if [`try_recv`](Self::try_recv) would return anything but [`TryRecvError::Empty`], as far as one look tells.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        // In a forked child it is ready with that error.
        let is_ready = self.check_fork().is_err() || self.end.is_ready();
        if !is_ready {
            self.waiter.borrow_mut().reap_if_due(&self.end.ring);
        }
        is_ready
    }

    /// The number of messages that are open now or were forgotten.
    #[must_use]
    pub fn open_messages(&self) -> u64 {
        self.end.pins.open()
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn wait_counts(&self) -> WaitCounts {
        self.waiter.borrow().waiter().counts()
    }

    /// The word by which senders wake this reader after a message.
    #[must_use]
    pub fn data_wake(&self) -> &WakeWord {
        &self.end.ring.data_wake
    }

    #[inline(always)]
    fn check_fork(&self) -> Result<(), RecvError> {
        if self.end.ring.owners.is_forked() { Err(RecvError::Forked) } else { Ok(()) }
    }

    /// Takes the message that was seen; `None` if it was overwritten meanwhile and there is no error to report.
    #[inline(always)]
    fn open_message(&self, ticket: u64) -> Result<Option<Msg<'_>>, RecvError> {
        if self.end.policy != Policy::Reliable {
            return self.copy_message(ticket);
        }
        self.open_in_place(ticket).map(Some).ok_or(RecvError::Corrupt(NO_LENGTH))
    }

    /// Takes the message where it lies; `None` if it does not fit its place.
    #[inline(always)]
    fn open_in_place(&self, ticket: u64) -> Option<Msg<'_>> {
        let slots = &self.end.ring.slots;
        let index = self.end.ring.laps.index(ticket);
        let head = slots.head(index);
        let words = slots.message(index, head)?;
        self.end.pins.pin();
        Some(Msg { end: &self.end, buffers: &self.buffers, len: head.len, body: Body::Pinned(ticket, words) })
    }

    /// Copies a message that a sender may overwrite at any time.
    #[cold]
    fn copy_message(&self, ticket: u64) -> Result<Option<Msg<'_>>, RecvError> {
        let slots = &self.end.ring.slots;
        let index = self.end.ring.laps.index(ticket);
        let head = slots.head(index);
        let copy = slots.message(index, head).map(|words| self.copy_words(&words[..head.len.div_ceil(WORD_BYTES)]));
        if !self.end.is_intact(ticket) {
            return match self.end.overrun(ticket) {
                Seen::Failed(error) => Err(error),
                Seen::Message(_) | Seen::Nothing => Ok(None),
            };
        }
        let copy = copy.ok_or(RecvError::Corrupt(NO_LENGTH))?;
        self.end.pins.pin();
        self.end.release(ticket);
        Ok(Some(Msg { end: &self.end, buffers: &self.buffers, len: head.len, body: Body::Copied(copy) }))
    }

    fn copy_words(&self, words: &[AtomicU64]) -> Box<[AtomicU64]> {
        let kept = self.buffers.borrow_mut().pop().filter(|buffer| buffer.len() >= words.len());
        let buffer = kept.unwrap_or_else(|| (0..words.len().next_power_of_two()).map(|_| AtomicU64::new(0)).collect());
        for (from, to) in words.iter().zip(&buffer) {
            // ORDERING: Relaxed, the look at the slot's word afterwards tells whether they belong together
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        buffer
    }
}

impl Selectable for Receiver {
    type Message<'a> = Msg<'a>;

    #[inline]
    fn is_ready(&mut self) -> bool {
        Self::is_ready(self)
    }

    fn try_recv(&mut self) -> Result<Msg<'_>, TryRecvError> {
        Self::try_recv(self)
    }

    fn wake_handle(&self) -> WakeHandle {
        self.end.wake_handle()
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mcast::bytes::Receiver({} slots)", self.end.ring.config.slots)
    }
}
