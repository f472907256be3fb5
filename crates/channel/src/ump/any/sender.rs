//! The sending end for values of any plain types.

use std::any::TypeId;
use std::fmt;
use std::slice;
use std::time::Duration;

use corecast_base::wait::Waiter;

use super::signature::TypeOf;
use super::value::{ANNOUNCE, Announcement, FIRST_TAG, TAGS, parts};
use crate::bytes::Plain;
use crate::error::Closed;
use crate::ump::header::{Kind, MAX_STAMP, MAX_STAMPED_LEN};
use crate::ump::send_end::{Room, SendEnd};

/// The sending end.
pub struct Sender {
    pub(super) end: SendEnd,
    /// The type that each tag stands for.
    types: Vec<TypeId>,
    /// The type sent last, and its tag.
    pub(super) last: Option<(TypeId, Kind)>,
    /// The tag that the next new type gets when all are taken.
    recycled: usize,
    /// The stamp of messages from now on.
    pub(super) stamp: u16,
    /// True once a send ended within a value: nothing may follow its first parts.
    is_torn: bool,
    /// True if other processes may write the ring.
    is_shared: bool,
}

impl Sender {
    #[track_caller]
    pub(super) fn new(end: SendEnd, is_shared: bool) -> Self {
        let longest = end.shared.max_len();
        assert!(longest <= MAX_STAMPED_LEN, "a message of {longest} bytes carries no stamp: take fewer slots");
        Self { end, types: Vec::new(), last: None, recycled: 0, stamp: 0, is_torn: false, is_shared }
    }

    /// Sets the stamp of all messages sent from now on; its lowest 14 bits count.
    #[inline(always)]
    pub fn stamp(&mut self, stamp: u16) {
        self.stamp = stamp & MAX_STAMP;
    }

    /// Sends a copy of `value`, waiting with `waiter` for room; `check` is called while waiting.
    ///
    /// # Errors
    /// The error of `check`, or [`Closed`] if the receiver is gone. A send that fails within a value of several parts
    /// closes the channel: later sends fail with [`Closed`].
    #[inline]
    pub fn send<T, E>(
        &mut self,
        value: &T,
        waiter: &mut Waiter,
        mut check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<(), E>
    where
        T: Plain,
        E: From<Closed>,
    {
        let kind = match self.last {
            Some((id, kind)) if id == TypeId::of::<T>() => kind,
            _ => self.tag_for(TypeOf::of::<T>(), waiter, &mut check)?,
        };
        self.send_bytes(value, kind, waiter, &mut check)
    }

    #[inline(always)]
    fn send_bytes<T: Plain, E: From<Closed>>(
        &mut self,
        value: &T,
        kind: Kind,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<(), E> {
        let kind = kind.stamped(self.stamp);
        for (offset, len) in parts(size_of::<T>(), self.end.shared.max_len()) {
            let room = match self.end.reserve(len) {
                Some(room) if !self.end.is_closed() => room,
                _ => self.wait_within(offset, len, waiter, check)?,
            };
            // SAFETY: the parts lie inside the value.
            let from = unsafe { std::ptr::from_ref(value).cast::<u8>().add(offset) };
            // SAFETY: `len` bytes of the value, all initialised, as it is plain; the room was just granted for them.
            unsafe { self.publish(room, from, len, kind) };
        }
        Ok(())
    }

    /// Publishes a message of `len` bytes.
    ///
    /// # Safety
    /// - `from` points to `len` bytes, all initialised.
    /// - The room was granted for `len` bytes, and nothing was sent since.
    #[inline(always)]
    pub(super) unsafe fn publish(&mut self, room: Room, from: *const u8, len: usize, kind: Kind) {
        if self.is_shared {
            // SAFETY: `len` initialised bytes, as the caller promises.
            let from = unsafe { slice::from_raw_parts(from, len) };
            self.end.publish_words(room, from, kind);
        } else {
            // SAFETY: readable, and granted for, as the caller promises.
            unsafe { self.end.publish(room, from, len, kind) };
        }
    }

    /// Room for the part at `offset` of a value. If there is none, the value stays torn, also where `check` panics.
    #[cold]
    pub(super) fn wait_within<E: From<Closed>>(
        &mut self,
        offset: usize,
        len: usize,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Room, E> {
        // Without a last type every send asks for its tag, which is refused while a value is torn.
        let last = self.last.take();
        self.is_torn = offset > 0;
        let room = self.end.wait_for_room(len, waiter, check).and_then(|room| room.ok_or_else(|| Closed.into()))?;
        (self.is_torn, self.last) = (false, last);
        Ok(room)
    }

    /// The tag of a type, announced to the receiver if it is new.
    #[cold]
    pub(super) fn tag_for<E: From<Closed>>(
        &mut self,
        of: TypeOf,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Kind, E> {
        if self.is_torn {
            return Err(Closed.into());
        }
        let known = self.types.iter().position(|&known| known == of.id);
        let index = match known {
            Some(index) => index,
            None if self.types.len() < TAGS => self.types.len(),
            None => self.recycled,
        };
        let kind = Kind::tagged(FIRST_TAG + index as u8);
        if known.is_none() {
            self.send_bytes::<Announcement, E>(&[index as u64, (of.signature)()], ANNOUNCE, waiter, check)?;
            if index < self.types.len() {
                self.types[index] = of.id;
                self.recycled = (self.recycled + 1) % TAGS;
            } else {
                self.types.push(of.id);
            }
        }
        self.last = Some((of.id, kind));
        Ok(kind)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // Values that were not received are copyable and need no drop.
        let _ = self.end.leave();
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ump::any::Sender({} slots)", self.end.shared.slots.slots())
    }
}
