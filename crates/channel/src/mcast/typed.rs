//! The channel for values of one type, which readers look at in place.

use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use corecast_base::sync::{Arc, AtomicU64, UnsafeCell};
use corecast_base::wait::WakeWord;

use super::add_end_error::TooManyEnds;
use super::config::{Config, Delivery};
use super::end_waiter::{EndWaiter, TimedOut};
use super::recv_end::{RecvEnd, outcome};
use super::ring::{Ring, Slots};
use super::room::{Corrupt, NoTurn};
use super::send_end::SendEnd;
use crate::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::policy::Policy;
use crate::selectable::{Selectable, WakeHandle};

/// A handle to a channel for values: any thread becomes a reader, or one more sender, by it. A clone is the same channel.
pub struct Source<T: Send + Sync> {
    ring: Arc<Ring<ValueSlots<T>>>,
}

/// The sending end for values. Dropping the last one lets the receivers drain what was sent, and then see the channel
/// closed.
pub struct Sender<T: Send + Sync> {
    end: SendEnd<ValueSlots<T>>,
    waiter: EndWaiter,
}

/// The receiving end for values. Several values can be open at once, and are released in any order.
pub struct Receiver<T: Send + Sync> {
    end: RecvEnd<ValueSlots<T>>,
    waiter: RefCell<EndWaiter>,
}

/// A received value, in place. Dropping it lets the sender reuse the place; if it is forgotten, its place is kept until the
/// receiver is dropped.
pub struct Ref<'a, T: Send + Sync> {
    receiver: &'a Receiver<T>,
    ticket: u64,
    value: &'a T,
}

/// The values of a channel. Each is dropped when its slot is reused, or with the last end.
struct ValueSlots<T>(Box<[ValueSlot<T>]>);

/// A small value shares the line of its word.
#[repr(C, align(64))]
struct ValueSlot<T> {
    word: AtomicU64,
    value: UnsafeCell<Option<T>>,
}

/// A channel of `slots` values with the default configuration; `slots` is rounded up to a power of two.
///
/// # Panics
/// If `slots` is 0 or more than [`MAX_SLOTS`](super::MAX_SLOTS).
#[track_caller]
#[must_use]
pub fn channel<T: Send + Sync>(slots: usize) -> (Sender<T>, Source<T>) {
    channel_with(Config { slots, ..Config::default() })
}

/// A channel with this configuration, as far as it concerns values: readers are reliable, and sizes in bytes mean nothing.
///
/// # Panics
/// If a size is out of its range.
#[track_caller]
#[must_use]
pub fn channel_with<T: Send + Sync>(config: Config) -> (Sender<T>, Source<T>) {
    let config = Config { delivery: Delivery::Gated, block_bytes: 0, inline: 48, ..config }.rounded();
    let slot = |_| ValueSlot { word: AtomicU64::new(0), value: UnsafeCell::new(None) };
    let slots = ValueSlots((0..config.slots).map(slot).collect());
    let source = Source { ring: Arc::new(Ring::on_heap(config, slots)) };
    (source.sender().expect("a channel has a place for a sender"), source)
}

impl<T: Send + Sync> Source<T> {
    /// A reader of all values that are sent from now on.
    ///
    /// # Errors
    /// [`TooManyEnds`] if the channel takes no more.
    pub fn subscribe(&self) -> Result<Receiver<T>, TooManyEnds> {
        let too_many = TooManyEnds { ends: "readers", max: self.ring.config.readers };
        let end = RecvEnd::open(&self.ring, Policy::Reliable).ok_or(too_many)?;
        Ok(Receiver { waiter: RefCell::new(EndWaiter::of(&self.ring)), end })
    }

    /// A sender.
    ///
    /// # Errors
    /// [`TooManyEnds`] if the channel takes no more.
    pub fn sender(&self) -> Result<Sender<T>, TooManyEnds> {
        let too_many = TooManyEnds { ends: "senders", max: self.ring.config.senders };
        let end = SendEnd::open(&self.ring).ok_or(too_many)?;
        Ok(Sender { waiter: EndWaiter::of(&self.ring), end })
    }
}

impl<T: Send + Sync> Sender<T> {
    /// Sends without waiting.
    ///
    /// # Errors
    /// [`TrySendError::Full`] with the value, if a reader has not released the oldest one, or other senders were quicker again
    /// and again; [`TrySendError::Failed`] if the ring's words are spoilt.
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        match self.end.try_turn(|_, _| {}) {
            Ok(ticket) => self.put(ticket, value),
            Err(NoTurn::NoRoom(_)) => return Err(TrySendError::Full(value)),
            Err(NoTurn::Corrupt(corrupt)) => return Err(corrupt.unsent(value).into()),
        }
        Ok(())
    }

    /// Sends, waiting for room as the channel's policy says.
    ///
    /// # Errors
    /// [`SendError::Corrupt`] if the ring's words are spoilt. Never `Closed`: readers may come at any time.
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        match self.turn(None) {
            Ok(Ok(ticket)) => self.put(ticket, value),
            Ok(Err(corrupt)) => return Err(corrupt.unsent(value)),
            Err(TimedOut) => return Err(SendError::Closed(value)),
        }
        Ok(())
    }

    /// Sends, waiting for room for at most `timeout`.
    ///
    /// # Errors
    /// [`SendTimeoutError::Timeout`] with the value.
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        match self.turn(Some(timeout)) {
            Ok(Ok(ticket)) => self.put(ticket, value),
            Ok(Err(corrupt)) => return Err(corrupt.unsent(value).into()),
            Err(TimedOut) => return Err(SendTimeoutError::Timeout(value)),
        }
        Ok(())
    }

    /// Another sender of the same channel.
    ///
    /// # Errors
    /// [`TooManyEnds`] if the channel takes no more.
    pub fn clone_sender(&self) -> Result<Self, TooManyEnds> {
        self.source().sender()
    }

    /// A reader of all values that are sent from now on.
    ///
    /// # Errors
    /// [`TooManyEnds`] if the channel takes no more.
    pub fn subscribe(&self) -> Result<Receiver<T>, TooManyEnds> {
        self.source().subscribe()
    }

    fn source(&self) -> Source<T> {
        Source { ring: Arc::clone(&self.end.ring) }
    }

    #[inline(always)]
    fn turn(&mut self, timeout: Option<Duration>) -> Result<Result<u64, Corrupt>, TimedOut> {
        match self.end.try_turn(|_, _| {}) {
            Ok(ticket) => Ok(Ok(ticket)),
            Err(_) => self.wait_for_turn(timeout),
        }
    }

    #[cold]
    fn wait_for_turn(&mut self, timeout: Option<Duration>) -> Result<Result<u64, Corrupt>, TimedOut> {
        let ring = Arc::clone(&self.end.ring);
        let end = &mut self.end;
        self.waiter.until(&ring, &ring.room_wake, timeout, || NoTurn::ends_wait(end.try_turn(|_, _| {})))
    }

    #[inline(always)]
    fn put(&mut self, ticket: u64, value: T) {
        let slot = &self.end.ring.slots.0[self.end.ring.laps.index(ticket)];
        let former = slot.value.with_mut(|place| {
            // SAFETY: the turn is this sender's until it publishes: no other sender has one for this slot, and all readers
            // have released the value of the lap before, or came after it.
            unsafe { place.replace(Some(value)) }
        });
        self.end.publish(ticket);
        // After the publication, as the user's code runs here and may panic.
        drop(former);
    }
}

impl<T: Send + Sync> Receiver<T> {
    /// Receives without waiting.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`]; [`RecvError::Closed`] once all that was sent has been received and no sender is left.
    #[inline]
    pub fn try_recv(&self) -> Result<Ref<'_, T>, TryRecvError> {
        match self.end.look() {
            Some(seen) => Ok(self.open_value(seen?)),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Receives, waiting as the channel's policy says.
    ///
    /// # Errors
    /// [`RecvError::Closed`] once all that was sent has been received and no sender is left.
    #[inline]
    pub fn recv(&self) -> Result<Ref<'_, T>, RecvError> {
        self.recv_within(None).map_err(|error| match error {
            RecvTimeoutError::Failed(error) => error,
            RecvTimeoutError::Timeout => unreachable!("a wait without a limit does not time out"),
        })
    }

    /// Receives, waiting for at most `timeout`.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`], or as [`recv`](Self::recv).
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Ref<'_, T>, RecvTimeoutError> {
        self.recv_within(Some(timeout))
    }

    #[inline]
    fn recv_within(&self, timeout: Option<Duration>) -> Result<Ref<'_, T>, RecvTimeoutError> {
        let ticket = match outcome(self.end.poll()) {
            Some(seen) => seen?,
            None => self.end.wait(&mut self.waiter.borrow_mut(), timeout)?,
        };
        Ok(self.open_value(ticket))
    }

    /// The word by which senders wake this reader after a value.
    #[must_use]
    pub fn data_wake(&self) -> &WakeWord {
        &self.end.ring.data_wake
    }

    #[inline(always)]
    fn open_value(&self, ticket: u64) -> Ref<'_, T> {
        let slot = &self.end.ring.slots.0[self.end.ring.laps.index(ticket)];
        let value = slot.value.with(|place| {
            // SAFETY: the value was published and seen, and no sender touches it until this reader's cursor has passed the
            // ticket, which is when the reference is dropped.
            unsafe { (*place).as_ref() }
        });
        self.end.pins.pin();
        Ref { receiver: self, ticket, value: value.expect("a value is put into the slot before it is published") }
    }
}

impl<T: Send + Sync> Selectable for Receiver<T> {
    type Message<'a>
        = Ref<'a, T>
    where
        T: 'a;

    #[inline]
    fn is_ready(&mut self) -> bool {
        self.end.is_ready()
    }

    fn try_recv(&mut self) -> Result<Ref<'_, T>, TryRecvError> {
        Self::try_recv(self)
    }

    fn wake_handle(&self) -> WakeHandle {
        self.end.wake_handle()
    }
}

impl<T> Slots for ValueSlots<T> {
    #[inline(always)]
    fn word(&self, index: usize) -> &AtomicU64 {
        &self.0[index].word
    }

    fn settle(_: &Ring<Self>, _: usize) {}
}

// SAFETY: a value is moved in by one thread and dropped by any (Send), and looked at by several at once (Sync); the
// protocol keeps the two apart.
unsafe impl<T: Send + Sync> Sync for ValueSlots<T> {}

impl<T: Send + Sync> Deref for Ref<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T: Send + Sync> Drop for Ref<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.receiver.end.release(self.ticket);
    }
}

impl<T: Send + Sync> Clone for Source<T> {
    fn clone(&self) -> Self {
        Self { ring: Arc::clone(&self.ring) }
    }
}

impl<T: Send + Sync + fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T> fmt::Debug for ValueSlots<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueSlots({})", self.0.len())
    }
}

impl<T: Send + Sync> fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mcast::Source({} slots)", self.ring.config.slots)
    }
}

impl<T: Send + Sync> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mcast::Sender({} slots)", self.end.ring.config.slots)
    }
}

impl<T: Send + Sync> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mcast::Receiver({} slots)", self.end.ring.config.slots)
    }
}
