//! A receiving end of any kind, for a select.

use std::mem::MaybeUninit;

use corecast::channel::select::{Alarm, Selectable};
use corecast::channel::{TryRecvError, mcast, ump};

use crate::message::{self, Message};

/// A receiving end of any kind.
#[derive(Debug)]
pub(crate) enum AnyReceiver {
    Ump(ump::BytesReceiver),
    Mcast(mcast::Receiver),
}

/// A message of any kind of channel.
#[derive(Debug)]
pub(crate) enum AnyMessage<'a> {
    Ump(ump::Msg<'a>),
    Mcast(mcast::Msg<'a>),
}

impl AnyMessage<'_> {
    /// Tells C where it is; a copy, if one has to be made, is kept where the caller says.
    pub(crate) fn tell(&self, to: &mut MaybeUninit<Message>, copy: &mut Vec<u8>) {
        match self {
            Self::Ump(message) => message::tell(to, message, copy, 0),
            Self::Mcast(message) => message::tell(to, &message.bytes(), copy, 0),
        }
    }
}

impl Selectable for AnyReceiver {
    type Message<'a> = AnyMessage<'a>;

    #[inline]
    fn is_ready(&mut self) -> bool {
        match self {
            Self::Ump(end) => end.is_ready(),
            Self::Mcast(end) => end.is_ready(),
        }
    }

    fn try_recv(&mut self) -> Result<AnyMessage<'_>, TryRecvError> {
        match self {
            Self::Ump(end) => end.try_recv().map(AnyMessage::Ump),
            Self::Mcast(end) => Selectable::try_recv(end).map(AnyMessage::Mcast),
        }
    }

    fn alarm(&self) -> Alarm {
        match self {
            Self::Ump(end) => end.alarm(),
            Self::Mcast(end) => end.alarm(),
        }
    }
}
