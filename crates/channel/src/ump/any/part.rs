//! Parts of slices, over the channel for values of any plain types.
//!
//! A part is one message and travels whole, so a wait that ends early tears nothing, and the length of its bytes is that of
//! the message. Parts of one element type have a tag of their own, which no value has.

use std::any::TypeId;
use std::marker::PhantomData;
use std::time::Duration;

use corecast_base::wait::Waiter;

use super::receiver::{Receiver, WrongType, wrong_type};
use super::sender::Sender;
use super::signature::TypeOf;
use crate::bytes::Plain;
use crate::error::Closed;
use crate::ump::header::Header;

/// The type that stands for a part of a slice in the tag of a message.
struct Part<T>(PhantomData<T>);

impl Sender {
    /// True if a message of `len` bytes finds room now, of a type that was sent before.
    #[inline]
    pub fn has_room(&mut self, len: usize) -> bool {
        self.end.reserve(len).is_some()
    }

    /// Sends some values as one message, waiting with `waiter` for room; `check` is called while waiting.
    ///
    /// # Errors
    /// The error of `check`, or [`Closed`] if the receiver is gone.
    ///
    /// # Panics
    /// If the values are more than [`longest_message`](crate::ump::longest_message).
    #[inline]
    pub fn send_part<T, E>(
        &mut self,
        part: &[T],
        waiter: &mut Waiter,
        mut check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<(), E>
    where
        T: Plain,
        E: From<Closed>,
    {
        let (len, most) = (size_of_val(part), self.end.shared.max_len());
        assert!(len <= most, "{len} bytes do not fit into a message of {most}");
        let kind = match self.last {
            Some((id, kind)) if id == TypeId::of::<Part<T>>() => kind,
            _ => self.tag_for(TypeOf::of::<Part<T>>(), waiter, &mut check)?,
        };
        let kind = kind.stamped(self.stamp);
        let room = match self.end.reserve(len) {
            Some(room) if !self.end.is_closed() => room,
            _ => self.wait_within(0, len, waiter, &mut check)?,
        };
        // SAFETY: the bytes of the values, all initialised, as they are plain; the room was just granted for them.
        unsafe { self.publish(room, part.as_ptr().cast(), len, kind) };
        Ok(())
    }
}

impl Receiver {
    /// Receives a part into the beginning of `into` and returns its number of values, waiting with `waiter`; `check` is
    /// called while waiting.
    ///
    /// # Errors
    /// The error of `check`, [`Closed`] if the sender is gone and everything it sent has been received, or [`WrongType`] if
    /// another message was sent, or more than `into` holds; that leaves the message in the channel.
    #[inline]
    pub fn recv_part<T, E>(
        &mut self,
        into: &mut [T],
        waiter: &mut Waiter,
        mut check: impl FnMut(Duration) -> Result<Duration, E>,
    ) -> Result<usize, E>
    where
        T: Plain,
        E: From<Closed> + From<WrongType>,
    {
        let mut header = self.end.wait_for_message(waiter, &mut check)?.ok_or(Closed)?;
        if !self.is_part_of::<T>(header) {
            header = self.learn(TypeOf::of::<Part<T>>(), header, waiter, &mut check)?;
            if !self.is_part_of::<T>(header) {
                return Err(wrong_type(TypeOf::of::<Part<T>>()).into());
            }
        }
        let len = header.stamped_len();
        let count = len.checked_div(size_of::<T>()).unwrap_or(0);
        if len > size_of_val(into) || count * size_of::<T>() != len {
            return Err(wrong_type(TypeOf::of::<Part<T>>()).into());
        }
        // SAFETY: there is room for `len` bytes, all initialised; the header was just peeked and tells this length.
        if unsafe { self.consume(header, into.as_mut_ptr().cast(), len) } {
            Ok(count)
        } else {
            Err(self.tear(TypeOf::of::<Part<T>>()).into())
        }
    }

    #[inline(always)]
    fn is_part_of<T: Plain>(&self, header: Header) -> bool {
        self.last.is_some_and(|(id, kind)| {
            id == TypeId::of::<Part<T>>() && header.kind() == kind && header.stamp() == self.stamp
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::channel;
    use super::*;
    use corecast_base::wait::{CpuSharing, Wait, WakeWord};

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

    #[test]
    fn parts_keep_their_lengths_and_are_no_values() {
        let (mut tx, mut rx) = channel(32, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None);
        let keep_waiting = |_| Ok::<_, Failed>(Duration::MAX);
        let values: [u16; 252] = std::array::from_fn(|i| i as u16);
        for len in [0, 1, 3, 28, 29, 252] {
            tx.send_part(&values[..len], &mut waiter, keep_waiting).expect("there is room");
            assert_eq!(rx.recv::<u16, _>(&mut waiter, keep_waiting), Err(Failed::WrongType));
            let mut got = [u16::MAX; 252];
            if len > 0 {
                let short = &mut got[..len - 1];
                assert_eq!(rx.recv_part(short, &mut waiter, keep_waiting), Err(Failed::WrongType), "no room for {len}");
            }
            assert_eq!(rx.recv_part(&mut got, &mut waiter, keep_waiting), Ok(len));
            assert_eq!(got[..len], values[..len]);
            assert!(got[len..].iter().all(|&value| value == u16::MAX));
            tx.send(&7u16, &mut waiter, keep_waiting).expect("there is room");
            assert_eq!(rx.recv_part(&mut got, &mut waiter, keep_waiting), Err(Failed::WrongType), "a value is no part");
            assert_eq!(rx.recv(&mut waiter, keep_waiting), Ok(7u16));
        }
        drop(tx);
        assert_eq!(rx.recv_part(&mut [0u16], &mut waiter, keep_waiting), Err(Failed::Closed));
    }

    #[test]
    #[should_panic(expected = "505 bytes do not fit into a message of 504")]
    fn a_part_that_does_not_fit_is_refused() {
        let (mut tx, _rx) = channel(32, WakeWord::new(Wait::Spin), WakeWord::new(Wait::Spin));
        let mut waiter = Waiter::new(Wait::Spin, CpuSharing::unpinned(1), None);
        let _ = tx.send_part(&[0u8; 505], &mut waiter, |_| Ok::<_, Failed>(Duration::MAX));
    }
}
