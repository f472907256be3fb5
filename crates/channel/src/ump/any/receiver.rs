//! The receiving end for values of any plain types.

use std::any::TypeId;
use std::fmt;
use std::mem::MaybeUninit;
use std::slice;
use std::time::Duration;

use corecast_base::wait::{Waiter, WakeWord};

use super::signature::TypeOf;
use super::value::{ANNOUNCE, Announcement, FIRST_TAG, TAGS, parts};
use crate::bytes::Plain;
use crate::error::Closed;
use crate::ump::header::{Header, Kind, MAX_STAMP};
use crate::ump::recv_end::RecvEnd;

/// The next message is of another type than the one asked for, or carries another stamp than expected: the two ends do not
/// run the same operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message of another type arrived where {expected} was expected")]
pub struct WrongType {
    /// The name of the type asked for.
    pub expected: &'static str,
}

/// The receiving end.
pub struct Receiver {
    pub(super) end: RecvEnd,
    /// The type of each tag.
    types: Vec<Announced>,
    /// The type received last, and its tag.
    pub(super) last: Option<(TypeId, Kind)>,
    /// The stamp that messages are expected to carry.
    pub(super) stamp: u16,
    /// True once a receive ended within a value: the following parts are not a whole value.
    is_torn: bool,
    /// True if other processes may write the ring.
    is_shared: bool,
}

impl Receiver {
    pub(super) fn new(end: RecvEnd, is_shared: bool) -> Self {
        Self { end, types: Vec::new(), last: None, stamp: 0, is_torn: false, is_shared }
    }

    /// Sets the stamp that messages must carry from now on; its lowest 14 bits count. Others are refused.
    #[inline(always)]
    pub fn expect(&mut self, stamp: u16) {
        self.stamp = stamp & MAX_STAMP;
    }

    /// True if a message is there that carries another stamp than expected.
    pub fn is_stamped_otherwise(&mut self) -> bool {
        self.end.peek().is_some_and(|header| header.stamp() != self.stamp)
    }

    /// True if a message, or the first part of one, is there.
    #[inline]
    pub fn is_ready(&mut self) -> bool {
        self.end.peek().is_some()
    }

    /// True if nothing is there and nothing will come.
    pub fn is_closed(&mut self) -> bool {
        self.end.is_closed() && self.end.peek().is_none()
    }

    /// The word by which the sender announces messages to this end.
    #[must_use]
    pub fn wake_word(&self) -> &WakeWord {
        &self.end.shared.data_wake
    }

    /// Receives a value, waiting with `waiter`; `check` is called while waiting.
    ///
    /// # Errors
    /// The error of `check`, [`Closed`] if the sender is gone and everything it sent has been received, or [`WrongType`],
    /// which leaves the message in the channel. A receive that fails within a value of several parts closes the channel:
    /// later ones fail with [`Closed`].
    #[inline]
    pub fn recv<T, E>(
        &mut self,
        waiter: &mut Waiter,
        mut check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<T, E>
    where
        T: Plain,
        E: From<Closed> + From<WrongType>,
    {
        let mut header = self.end.wait_for_message(waiter, &mut check)?.ok_or(Closed)?;
        if !self.is_of::<T>(header) {
            header = self.learn(TypeOf::of::<T>(), header, waiter, &mut check)?;
            if !self.is_of::<T>(header) {
                return Err(wrong_type(TypeOf::of::<T>()).into());
            }
        }
        self.recv_value(header, waiter, &mut check)
    }

    /// True if the next message is a T, or the first part of one.
    #[inline(always)]
    fn is_of<T: Plain>(&self, header: Header) -> bool {
        let first = parts(size_of::<T>(), self.end.shared.max_len()).next();
        let len = first.map_or(0, |(_, len)| len);
        self.last.is_some_and(|(id, kind)| id == TypeId::of::<T>() && header.tells(kind.stamped(self.stamp), len))
    }

    /// The value whose first part is the next message, of the right length.
    #[inline(always)]
    fn recv_value<T: Plain, E: From<Closed> + From<WrongType>>(
        &mut self,
        mut header: Header,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<T, E> {
        let kind = header.kind().stamped(self.stamp);
        let mut value = if self.is_shared { MaybeUninit::<T>::zeroed() } else { MaybeUninit::uninit() };
        for (i, (offset, len)) in parts(size_of::<T>(), self.end.shared.max_len()).enumerate() {
            if i > 0 {
                header = self.wait_within(waiter, check)?;
                if !header.tells(kind, len) {
                    return Err(self.tear(TypeOf::of::<T>()).into());
                }
            }
            // SAFETY: the parts lie inside the value.
            let into = unsafe { value.as_mut_ptr().cast::<u8>().add(offset) };
            // SAFETY: `len` bytes of the value, zeroes where that is asked for; the header was just peeked and tells this length.
            if !unsafe { self.consume(header, into, len) } {
                return Err(self.tear(TypeOf::of::<T>()).into());
            }
        }
        // SAFETY: all its parts have been copied in, and any bytes are a value of a plain type.
        Ok(unsafe { value.assume_init() })
    }

    /// Consumes the next message, of `len` bytes. False if its sender wrote what no sender writes.
    ///
    /// # Safety
    /// - `into` points to room for `len` bytes, initialised if other processes may write the ring.
    /// - `header` was peeked, nothing was consumed since, and it tells `len`.
    #[inline(always)]
    pub(super) unsafe fn consume(&mut self, header: Header, into: *mut u8, len: usize) -> bool {
        if self.is_shared {
            // SAFETY: initialised bytes, as the caller promises.
            let into = unsafe { slice::from_raw_parts_mut(into, len) };
            return self.end.consume_words(into);
        }
        // SAFETY: the header was just peeked and tells this length, for which there is room, as the caller promises.
        unsafe { self.end.consume(header, into, len) };
        true
    }

    /// Gives up within a value whose sender wrote what no sender writes.
    #[cold]
    pub(super) fn tear(&mut self, expected: TypeOf) -> WrongType {
        (self.is_torn, self.last) = (true, None);
        wrong_type(expected)
    }

    /// The next part of a value of several parts. If there is none, the value stays torn, also where `check` panics.
    fn wait_within<E: From<Closed>>(
        &mut self,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Header, E> {
        // Without a last type every receive has to learn one, which is refused while a value is torn.
        let last = self.last.take();
        self.is_torn = true;
        let header = self.end.wait_for_message(waiter, check).and_then(|header| header.ok_or_else(|| Closed.into()))?;
        (self.is_torn, self.last) = (false, last);
        Ok(header)
    }

    /// Takes in the announcements before the next message, and turns to its type if that is the one expected.
    #[cold]
    pub(super) fn learn<E: From<Closed> + From<WrongType>>(
        &mut self,
        expected: TypeOf,
        mut header: Header,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Header, E> {
        if self.is_torn {
            return Err(Closed.into());
        }
        if header.stamp() != self.stamp {
            return Err(wrong_type(expected).into());
        }
        while header.kind() == ANNOUNCE {
            if !header.tells(ANNOUNCE.stamped(self.stamp), size_of::<Announcement>()) {
                return Err(wrong_type(expected).into());
            }
            let [index, signature] = self.recv_value::<Announcement, E>(header, waiter, check)?;
            let announced = Announced { signature, id: None };
            // Tags are given out in order, and reused only when all are taken.
            match usize::try_from(index) {
                Ok(index) if index < self.types.len() => self.types[index] = announced,
                Ok(index) if index == self.types.len() && index < TAGS => self.types.push(announced),
                _ => return Err(self.tear(expected).into()),
            }
            header = self.end.wait_for_message(waiter, &mut *check)?.ok_or(Closed)?;
        }
        let kind = header.kind();
        let announced = kind.tag_index(FIRST_TAG).and_then(|index| self.types.get_mut(index));
        self.last = announced.is_some_and(|announced| announced.is(expected)).then_some((expected.id, kind));
        Ok(header)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.end.leave();
    }
}

/// The type that a tag stands for.
#[derive(Debug)]
struct Announced {
    signature: u64,
    /// The type of this program that has the signature, once it was found.
    id: Option<TypeId>,
}

impl Announced {
    /// True if this type was announced.
    fn is(&mut self, of: TypeOf) -> bool {
        let id = Some(of.id);
        if self.id != id && self.signature == (of.signature)() {
            self.id = id;
        }
        self.id == id
    }
}

#[cold]
pub(super) fn wrong_type(of: TypeOf) -> WrongType {
    WrongType { expected: (of.name)() }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ump::any::Receiver({} slots)", self.end.shared.slots.slots())
    }
}
