//! Receiving ends of bytes, of several kinds of channels in one type.

use super::{Selectable, WakeHandle};
use crate::bytes::Bytes;
use crate::error::TryRecvError;
use crate::{mcast, ump};

/// A receiving end of one kind or the other, for a [`Select`](super::Select) over a mix of channels.
#[derive(Debug)]
#[non_exhaustive]
pub enum Mixed {
    /// From one sender.
    Ump(ump::bytes::Receiver),
    /// From senders that many read.
    Mcast(mcast::bytes::Receiver),
}

/// A message from one kind of channel or the other.
#[derive(Debug)]
#[non_exhaustive]
pub enum MixedMsg<'a> {
    /// From one sender.
    Ump(ump::bytes::Msg<'a>),
    /// From senders that many read.
    Mcast(mcast::bytes::Msg<'a>),
}

impl MixedMsg<'_> {
    /// The message's bytes.
    #[must_use]
    pub fn bytes(&self) -> Bytes<'_> {
        match self {
            Self::Ump(message) => message.reborrow(),
            Self::Mcast(message) => message.bytes(),
        }
    }
}

impl From<ump::bytes::Receiver> for Mixed {
    fn from(end: ump::bytes::Receiver) -> Self {
        Self::Ump(end)
    }
}

impl From<mcast::bytes::Receiver> for Mixed {
    fn from(end: mcast::bytes::Receiver) -> Self {
        Self::Mcast(end)
    }
}

impl Selectable for Mixed {
    type Message<'a> = MixedMsg<'a>;

    #[inline]
    fn is_ready(&mut self) -> bool {
        match self {
            Self::Ump(end) => end.is_ready(),
            Self::Mcast(end) => end.is_ready(),
        }
    }

    fn try_recv(&mut self) -> Result<MixedMsg<'_>, TryRecvError> {
        Ok(match self {
            Self::Ump(end) => MixedMsg::Ump(end.try_recv()?),
            Self::Mcast(end) => MixedMsg::Mcast(Selectable::try_recv(end)?),
        })
    }

    fn wake_handle(&self) -> WakeHandle {
        match self {
            Self::Ump(end) => end.wake_handle(),
            Self::Mcast(end) => end.wake_handle(),
        }
    }
}
