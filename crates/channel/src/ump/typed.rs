//! The channel for values of one type, which are moved through it.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::time::Duration;

use corecast_base::wait::{CpuSharing, LONGEST_SLEEP, Waiter, WakeWord};

use super::header::{Header, Kind};
use super::recv_end::RecvEnd;
use super::send_end::{Room, SendEnd};
use super::shared::Shared;
use super::{Config, ring_slots};
use crate::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::selectable::{Selectable, WakeHandle};
use crate::slots::slots_for;

const VALUE: Kind = Kind::tagged(1);

/// A channel of `slots` lines with the default waiting; see [`Config`] for what `slots` may be.
///
/// # Panics
/// If the ring would have more than [`MAX_SLOTS`](super::MAX_SLOTS) slots.
#[track_caller]
#[must_use]
pub fn channel<T: Send>(slots: usize) -> (Sender<T>, Receiver<T>) {
    channel_with(Config { slots, ..Config::default() })
}

/// A channel with this configuration.
///
/// # Panics
/// If the ring would have more than [`MAX_SLOTS`](super::MAX_SLOTS) slots, or values of several slots and
/// [`Credit::SlotClear`](super::Credit::SlotClear).
#[track_caller]
#[must_use]
pub fn channel_with<T: Send>(config: Config) -> (Sender<T>, Receiver<T>) {
    let slots = ring_slots(config.slots, slots_for(size_of::<T>()));
    let shared = Shared::new(slots, config.credit, WakeWord::new(config.wait), WakeWord::new(config.wait));
    let len = size_of::<T>();
    assert!(len <= shared.max_len(), "with SlotClear a value of {len} bytes must fit into {} bytes", shared.max_len());
    let waiter = Waiter::new(config.wait, CpuSharing::unpinned(2), config.wake_cost);
    let sender = Sender { end: SendEnd::new(shared.clone(), 0), waiter: waiter.clone(), values: PhantomData };
    (sender, Receiver { end: RecvEnd::new(shared, 0), waiter, values: PhantomData })
}

/// The sending end. Dropping it lets the receiver drain what was sent, and then see the channel closed.
pub struct Sender<T: Send> {
    end: SendEnd,
    waiter: Waiter,
    values: PhantomData<fn(T)>,
}

impl<T: Send> Sender<T> {
    /// Sends without waiting.
    ///
    /// # Errors
    /// [`TrySendError::Full`] or [`SendError::Closed`], with the value.
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        if self.end.is_closed() {
            return Err(SendError::Closed(value).into());
        }
        match self.end.reserve(size_of::<T>()) {
            Some(room) => self.put(room, value),
            None => return Err(TrySendError::Full(value)),
        }
        Ok(())
    }

    /// Sends, waiting for room as the channel's policy says.
    ///
    /// # Errors
    /// [`SendError::Closed`] with the value, if the receiver is gone.
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        match self.room(None) {
            Ok(Some(room)) => self.put(room, value),
            Ok(None) | Err(TimedOut) => return Err(SendError::Closed(value)),
        }
        Ok(())
    }

    /// Sends, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError`] with the value, if no room was made in time or the receiver is gone.
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match self.room(Some(timeout)) {
            Ok(Some(room)) => self.put(room, value),
            Ok(None) => return Err(SendError::Closed(value).into()),
            Err(TimedOut) => return Err(SendTimeoutError::Timeout(value)),
        }
        Ok(())
    }

    /// Room for one value; `None` if the receiver is gone. The value itself stays out of this, as every result that
    /// carries it is a copy of it on the hot path.
    #[inline(always)]
    fn room(&mut self, timeout: Option<Duration>) -> Result<Option<Room>, TimedOut> {
        if self.end.is_closed() {
            return Ok(None);
        }
        match self.end.reserve(size_of::<T>()) {
            Some(room) => Ok(Some(room)),
            None => {
                let limit = |waited| time_left(timeout, waited);
                self.end.wait_for_room(size_of::<T>(), &mut self.waiter, limit)
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, room: Room, value: T) {
        let value = ManuallyDrop::new(value);
        let from = (&raw const value).cast();
        // SAFETY: `from` points to a T, and the room was just granted for its size. The bytes move: the receiver, or the
        // end that drains the ring, takes the value out exactly once.
        unsafe { self.end.publish(room, from, size_of::<T>(), VALUE) };
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        &self.waiter
    }
}

impl<T: Send> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(mut rest) = self.end.leave() {
            drain::<T>(&mut rest);
        }
    }
}

/// The receiving end. Dropping it makes sends fail.
pub struct Receiver<T: Send> {
    end: RecvEnd,
    waiter: Waiter,
    values: PhantomData<fn() -> T>,
}

impl<T: Send> Receiver<T> {
    /// True if [`try_recv`](Self::try_recv) would return anything but [`TryRecvError::Empty`].
    #[inline]
    #[must_use]
    pub fn is_ready(&mut self) -> bool {
        self.end.peek().is_some() || self.end.is_closed()
    }

    /// Receives without waiting.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`]; [`RecvError::Closed`] once everything sent has been received and the sender is gone.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if let Some(header) = self.end.peek() {
            return Ok(take(&mut self.end, header));
        }
        self.end.idle();
        if !self.end.is_closed() {
            return Err(TryRecvError::Empty);
        }
        // The sender may have sent between the look at the slot and the look at its end.
        match self.end.peek() {
            Some(header) => Ok(take(&mut self.end, header)),
            None => Err(RecvError::Closed.into()),
        }
    }

    /// Receives, waiting as the channel's policy says.
    ///
    /// # Errors
    /// [`RecvError::Closed`] once everything sent has been received and the sender is gone.
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        match self.end.wait_for_message(&mut self.waiter, |waited| time_left(None, waited)) {
            Ok(Some(header)) => Ok(take(&mut self.end, header)),
            Ok(None) | Err(TimedOut) => Err(RecvError::Closed),
        }
    }

    /// Receives, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError`], if nothing was sent in time or the sender is gone.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match self.end.wait_for_message(&mut self.waiter, |waited| time_left(Some(timeout), waited)) {
            Ok(Some(header)) => Ok(take(&mut self.end, header)),
            Ok(None) => Err(RecvError::Closed.into()),
            Err(TimedOut) => Err(RecvTimeoutError::Timeout),
        }
    }

    /// The waiter of this end, with the counts of its waits.
    #[must_use]
    pub fn waiter(&self) -> &Waiter {
        &self.waiter
    }
}

impl<T: Send> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.end.leave() {
            drain::<T>(&mut self.end);
        }
    }
}

impl<T: Send> Selectable for Receiver<T> {
    type Message<'a>
        = T
    where
        T: 'a;

    #[inline]
    fn is_ready(&mut self) -> bool {
        Self::is_ready(self)
    }

    fn try_recv(&mut self) -> Result<T, TryRecvError> {
        Self::try_recv(self)
    }

    fn wake_handle(&self) -> WakeHandle {
        WakeHandle::single(self.end.shared.data_wake.clone())
    }
}

/// Takes the value out of the slot that `header` was found in.
#[inline(always)]
fn take<T>(end: &mut RecvEnd, header: Header) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the header was just peeked, and every message of this channel is one T.
    unsafe { end.consume(header, value.as_mut_ptr().cast(), size_of::<T>()) };
    // SAFETY: the sender moved a T into exactly these bytes, and this is the only time they are taken out.
    unsafe { value.assume_init() }
}

/// Drops the values that were sent and never received. Both ends are gone, so nothing moves any more.
fn drain<T>(end: &mut RecvEnd) {
    while let Some(header) = end.peek() {
        drop(take::<T>(end, header));
    }
}

/// The time limit of a wait has passed.
struct TimedOut;

/// The time left to a wait.
fn time_left(timeout: Option<Duration>, waited: Duration) -> Result<Duration, TimedOut> {
    match timeout {
        None => Ok(LONGEST_SLEEP),
        Some(timeout) if waited < timeout => Ok(timeout - waited),
        Some(_) => Err(TimedOut),
    }
}

impl<T: Send> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ump::Sender({} slots)", self.end.shared.slots.slots())
    }
}

impl<T: Send> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ump::Receiver({} slots)", self.end.shared.slots.slots())
    }
}
