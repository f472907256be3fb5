//! The channel for values of any plain types in turn, each end naming the type at every call.
//!
//! The edges of a collective carry whatever the user broadcasts or reduces. The sender tells the receiver once per type
//! which tag stands for it, by a message that carries the type's [`signature`]; afterwards the tag in the header is enough,
//! and a receiver that asks for another type than was sent gets [`WrongType`] instead of somebody's bytes. A value larger
//! than a quarter of the ring travels in parts.
//!
//! Beside its type a message carries a **stamp**, 14 bits that both ends set to what they are about
//! ([`AnySender::stamp`], [`AnyReceiver::expect`]); 0 unless they do. A message that carries another stamp than the
//! receiver expects is refused as one of another type is.
//!
//! Where the other end is another program, what it writes is nonsense at worst: kind and length of every message are
//! compared with those expected, values are copied word by word, and whatever bytes they are, they are a value.

use std::any::{TypeId, type_name};
use std::mem::MaybeUninit;
use std::slice;
use std::time::Duration;

use corecast_base::wait::{Waiter, WakeWord};

use super::header::{Header, Kind, MAX_STAMP, MAX_STAMPED_LEN};
use super::recv_end::RecvEnd;
use super::send_end::{Room, SendEnd};
use super::shared::Shared;
use super::signature::signature;
use super::{Bell, Credit, ring_slots};
use crate::bytes::Plain;
use crate::error::Closed;
use crate::slots::INLINE_BYTES;

/// Says which type a tag stands for from now on.
const ANNOUNCE: Kind = Kind::tagged(1);
const FIRST_TAG: u8 = 2;
/// Few in tests, so that tags are soon given out anew.
const TAGS: usize = if cfg!(test) { 3 } else { 254 };

/// A type announced: the number of its tag, counted from [`FIRST_TAG`], and its signature.
type Announcement = [u64; 2];

/// The message at hand is of another type than the one asked for, or carries another stamp than expected: the two ends do
/// not run the same operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message of another type arrived where {expected} was expected")]
pub struct WrongType {
    /// The name of the type asked for.
    pub expected: &'static str,
}

/// A channel of `slots` lines whose receiver sleeps on `data_bell` and whose sender sleeps on `room_bell`.
///
/// # Panics
/// If `slots` is more than 64: a header has no room for both a stamp and the length of a longer message.
#[track_caller]
#[must_use]
pub fn any_channel(slots: usize, data_bell: Bell, room_bell: Bell) -> (AnySender, AnyReceiver) {
    let shared = Shared::new(ring_slots(slots, 1), Credit::AckLine, data_bell, room_bell);
    let sender = AnySender::new(SendEnd::new(shared.clone(), 0), false);
    (sender, AnyReceiver::new(RecvEnd::new(shared, 0), false))
}

/// The sending end.
#[derive(Debug)]
pub struct AnySender {
    pub(super) end: SendEnd,
    /// The type that each tag stands for.
    types: Vec<TypeId>,
    /// The type sent last, and its tag.
    pub(super) last: Option<(TypeId, Kind)>,
    /// The tag to give to a new type when all are taken.
    recycled: usize,
    /// What messages carry from now on.
    pub(super) stamp: u16,
    /// True once a send ended within a value: nothing may follow its first parts.
    is_torn: bool,
    /// True if other processes may write the ring.
    is_shared: bool,
}

impl AnySender {
    #[track_caller]
    pub(super) fn new(end: SendEnd, is_shared: bool) -> Self {
        let longest = end.shared.max_len();
        assert!(longest <= MAX_STAMPED_LEN, "a message of {longest} bytes carries no stamp: take fewer slots");
        Self { end, types: Vec::new(), last: None, recycled: 0, stamp: 0, is_torn: false, is_shared }
    }

    /// Lets all messages sent from now on carry this stamp, of which the lowest 14 bits count.
    #[inline(always)]
    pub fn stamp(&mut self, stamp: u16) {
        self.stamp = stamp & MAX_STAMP;
    }

    /// Sends a copy of `value`, waiting with `waiter` for room; `check` is called while waiting.
    ///
    /// # Errors
    /// What `check` returns, or [`Closed`] if the receiver is gone. A send that fails within a value of several parts
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
            _ => self.tag_for::<T, E>(waiter, &mut check)?,
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
    /// - The room was granted for so many, and nothing was sent since.
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

    /// Room for the part at `offset` of a value. If there will be none the value stays torn, also where `check` panics.
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
    pub(super) fn tag_for<T: 'static, E: From<Closed>>(
        &mut self,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Kind, E> {
        if self.is_torn {
            return Err(Closed.into());
        }
        let id = TypeId::of::<T>();
        let known = self.types.iter().position(|&known| known == id);
        let index = match known {
            Some(index) => index,
            None if self.types.len() < TAGS => self.types.len(),
            None => self.recycled,
        };
        let kind = Kind::tagged(FIRST_TAG + index as u8);
        if known.is_none() {
            self.send_bytes::<Announcement, E>(&[index as u64, signature::<T>()], ANNOUNCE, waiter, check)?;
            if index < self.types.len() {
                self.types[index] = id;
                self.recycled = (self.recycled + 1) % TAGS;
            } else {
                self.types.push(id);
            }
        }
        self.last = Some((id, kind));
        Ok(kind)
    }
}

impl Drop for AnySender {
    fn drop(&mut self) {
        // What nobody received is copyable and needs no drop.
        let _ = self.end.leave();
    }
}

/// What a tag stands for.
#[derive(Debug)]
struct Announced {
    signature: u64,
    /// The type of this program that was found to have the signature.
    id: Option<TypeId>,
}

impl Announced {
    /// True if T was announced.
    fn is<T: 'static>(&mut self) -> bool {
        let id = Some(TypeId::of::<T>());
        if self.id != id && self.signature == signature::<T>() {
            self.id = id;
        }
        self.id == id
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct AnyReceiver {
    pub(super) end: RecvEnd,
    /// What each tag stands for.
    types: Vec<Announced>,
    /// The type received last, and its tag.
    pub(super) last: Option<(TypeId, Kind)>,
    /// What messages are expected to carry.
    pub(super) stamp: u16,
    /// True once a receive ended within a value: the parts that follow belong to no whole one.
    is_torn: bool,
    /// True if other processes may write the ring.
    is_shared: bool,
}

impl AnyReceiver {
    pub(super) fn new(end: RecvEnd, is_shared: bool) -> Self {
        Self { end, types: Vec::new(), last: None, stamp: 0, is_torn: false, is_shared }
    }

    /// Lets every message from now on be refused that carries another stamp than this one, of which the lowest 14 bits count.
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

    /// What this end's messages are announced by.
    #[must_use]
    pub fn bell(&self) -> &WakeWord {
        &self.end.shared.data_bell
    }

    /// Receives a value, waiting with `waiter`; `check` is called while waiting.
    ///
    /// # Errors
    /// What `check` returns, [`Closed`] if the sender is gone and everything it sent has been received, or [`WrongType`],
    /// which leaves the message where it is. A receive that fails within a value of several parts closes the channel: later
    /// ones fail with [`Closed`].
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
            header = self.learn::<T, E>(header, waiter, &mut check)?;
            if !self.is_of::<T>(header) {
                return Err(wrong_type::<T>().into());
            }
        }
        self.recv_value(header, waiter, &mut check)
    }

    /// True if the message at hand is a T, or the first part of one.
    #[inline(always)]
    fn is_of<T: Plain>(&self, header: Header) -> bool {
        let first = parts(size_of::<T>(), self.end.shared.max_len()).next();
        let len = first.map_or(0, |(_, len)| len);
        self.last.is_some_and(|(id, kind)| id == TypeId::of::<T>() && header.tells(kind.stamped(self.stamp), len))
    }

    /// The value whose first part is at hand, of the right length.
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
                    return Err(self.tear::<T>().into());
                }
            }
            // SAFETY: the parts lie inside the value.
            let into = unsafe { value.as_mut_ptr().cast::<u8>().add(offset) };
            // SAFETY: `len` bytes of the value, zeroes where that is asked for; the header was just peeked and tells so many.
            if !unsafe { self.consume(header, into, len) } {
                return Err(self.tear::<T>().into());
            }
        }
        // SAFETY: all its parts have been copied in, and any bytes are a value of a plain type.
        Ok(unsafe { value.assume_init() })
    }

    /// Consumes the message at hand, of `len` bytes. False if its sender wrote what none writes.
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

    /// Gives up within a value whose sender wrote what none writes.
    #[cold]
    pub(super) fn tear<T>(&mut self) -> WrongType {
        (self.is_torn, self.last) = (true, None);
        wrong_type::<T>()
    }

    /// The next part of a value of several. If there will be none the value stays torn, also where `check` panics.
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

    /// Takes in what was announced before the message at hand, and turns to its type if that is T.
    #[cold]
    pub(super) fn learn<T: 'static, E: From<Closed> + From<WrongType>>(
        &mut self,
        mut header: Header,
        waiter: &mut Waiter,
        check: &mut impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<Header, E> {
        if self.is_torn {
            return Err(Closed.into());
        }
        if header.stamp() != self.stamp {
            return Err(wrong_type::<T>().into());
        }
        while header.kind() == ANNOUNCE {
            if !header.tells(ANNOUNCE.stamped(self.stamp), size_of::<Announcement>()) {
                return Err(wrong_type::<T>().into());
            }
            let [index, signature] = self.recv_value::<Announcement, E>(header, waiter, check)?;
            let announced = Announced { signature, id: None };
            // Tags are given out in order, and given anew only when all are taken.
            match usize::try_from(index) {
                Ok(index) if index < self.types.len() => self.types[index] = announced,
                Ok(index) if index == self.types.len() && index < TAGS => self.types.push(announced),
                _ => return Err(self.tear::<T>().into()),
            }
            header = self.end.wait_for_message(waiter, &mut *check)?.ok_or(Closed)?;
        }
        let kind = header.kind();
        let announced = kind.tag_index(FIRST_TAG).and_then(|index| self.types.get_mut(index));
        self.last = announced.is_some_and(Announced::is::<T>).then(|| (TypeId::of::<T>(), kind));
        Ok(header)
    }
}

impl Drop for AnyReceiver {
    fn drop(&mut self) {
        let _ = self.end.leave();
    }
}

#[cold]
pub(super) fn wrong_type<T>() -> WrongType {
    WrongType { expected: type_name::<T>() }
}

/// Offset and length of the parts in which `len` bytes travel; a value of no bytes is one empty part. What fits into one
/// slot always travels whole, so that its length is known when the program is compiled.
#[inline(always)]
fn parts(len: usize, longest: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = if len <= INLINE_BYTES { 1 } else { len.div_ceil(longest) };
    (0..count).map(move |i| if count == 1 { (0, len) } else { (i * longest, longest.min(len - i * longest)) })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ump::bell;
    use corecast_base::wait::{Crowd, Wait};

    #[derive(Debug, PartialEq)]
    enum Failed {
        Closed,
        WrongType,
    }

    impl From<Closed> for Failed {
        fn from(_: Closed) -> Self {
            Self::Closed
        }
    }

    impl From<WrongType> for Failed {
        fn from(_: WrongType) -> Self {
            Self::WrongType
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(transparent)]
    struct Numbered<const N: u8>(u8);

    // SAFETY: a byte.
    unsafe impl<const N: u8> Plain for Numbered<N> {}

    fn exchange<const N: u8>(tx: &mut AnySender, rx: &mut AnyReceiver) {
        let mut waiter = Waiter::new(Wait::Spin, Crowd::unpinned(1), None);
        let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
        for value in 0..2 {
            tx.send(&Numbered::<N>(value), &mut waiter, keep_waiting).expect("there is room");
            let as_byte = rx.recv::<u8, _>(&mut waiter, keep_waiting);
            assert_eq!(as_byte, Err(Failed::WrongType), "of the same size, but another type");
            assert_eq!(rx.recv(&mut waiter, keep_waiting), Ok(Numbered::<N>(value)));
        }
    }

    #[test]
    fn another_stamp_is_refused_as_another_type_is() {
        let (mut tx, mut rx) = any_channel(64, bell(Wait::Spin), bell(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, Crowd::unpinned(1), None);
        let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
        let large = [7u8; 600];
        for stamp in [1, 0, MAX_STAMP] {
            tx.stamp(stamp);
            tx.send(&5u32, &mut waiter, keep_waiting).expect("there is room");
            tx.send_part(&large, &mut waiter, keep_waiting).expect("there is room");
            for other in [stamp ^ 1, stamp ^ (1 << 13)] {
                rx.expect(other);
                assert_eq!(rx.recv::<u32, _>(&mut waiter, keep_waiting), Err(Failed::WrongType));
                assert!(rx.is_stamped_otherwise());
            }
            rx.expect(stamp);
            assert!(!rx.is_stamped_otherwise());
            assert_eq!(rx.recv(&mut waiter, keep_waiting), Ok(5u32));
            rx.expect(stamp ^ 1);
            let mut part = [0; 600];
            assert_eq!(rx.recv_part(&mut part, &mut waiter, keep_waiting), Err(Failed::WrongType));
            rx.expect(stamp);
            assert_eq!(rx.recv_part(&mut part, &mut waiter, keep_waiting), Ok(600));
            assert_eq!(part, large);
        }
    }

    #[test]
    fn an_interrupted_value_is_followed_by_nothing() {
        let (mut tx, mut rx) = any_channel(4, bell(Wait::Spin), bell(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, Crowd::unpinned(1), None);
        let give_up = |_| Err(Failed::WrongType);
        let large = [1u8; 400];
        assert_eq!(tx.send(&large, &mut waiter, give_up), Err(Failed::WrongType), "only the first parts find room");
        assert_eq!(rx.recv::<[u8; 400], _>(&mut waiter, give_up), Err(Failed::WrongType), "the rest is missing");
        let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
        assert_eq!(tx.send(&[2u8; 2], &mut waiter, keep_waiting), Err(Failed::Closed));
        assert_eq!(tx.send(&large, &mut waiter, keep_waiting), Err(Failed::Closed));
    }

    #[test]
    fn a_panic_within_a_value_is_an_interruption_too() {
        let (mut tx, _rx) = any_channel(4, bell(Wait::Spin), bell(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, Crowd::unpinned(1), None);
        let sending = std::panic::AssertUnwindSafe(|| {
            tx.send::<_, Failed>(&[1u8; 400], &mut waiter.clone(), |_| panic!("planted"))
        });
        assert!(std::panic::catch_unwind(sending).is_err());
        let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
        assert_eq!(tx.send(&[2u8; 400], &mut waiter, keep_waiting), Err(Failed::Closed));
    }

    #[test]
    fn a_receiver_interrupted_within_a_value_receives_no_more() {
        let (mut tx, mut rx) = any_channel(4, bell(Wait::Spin), bell(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, Crowd::unpinned(1), None);
        let mut theirs = waiter.clone();
        let mut received = Vec::new();
        // The receiver is run whenever the sender finds the ring full, so there is always a part for it.
        let sent = tx.send(&[1u8; 400], &mut waiter, |_| {
            received.push(rx.recv::<[u8; 400], _>(&mut theirs, |_| Err(Failed::WrongType)));
            if received.len() < 2 { Ok(Duration::MAX) } else { Err(Failed::WrongType) }
        });
        assert_eq!(sent, Err(Failed::WrongType));
        assert_eq!(received[0], Err(Failed::WrongType), "given up after the first parts");
        assert_eq!(received[1], Err(Failed::Closed), "the parts that follow are no beginning of a value");
    }

    #[test]
    fn more_types_than_tags_go_through_one_channel() {
        let (mut tx, mut rx) = any_channel(64, bell(Wait::Spin), bell(Wait::Spin));
        // From the second round on, each tag has been given to another type since.
        for _ in 0..3 {
            exchange::<0>(&mut tx, &mut rx);
            exchange::<1>(&mut tx, &mut rx);
            exchange::<2>(&mut tx, &mut rx);
            exchange::<3>(&mut tx, &mut rx);
            exchange::<4>(&mut tx, &mut rx);
        }
    }
}
