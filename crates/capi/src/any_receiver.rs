//! A receiving end of any kind, for a select.

use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::ptr;

use corecast::channel::select::{Alarm, Selectable};
use corecast::channel::{TryRecvError, ff, mcast, ump};

use crate::message::{self, Message};

/// A receiving end of any kind.
#[derive(Debug)]
pub(crate) enum AnyReceiver {
    Ump(ump::BytesReceiver),
    Ff(ff::Receiver),
    Mcast(mcast::Receiver),
}

/// A message of any kind of channel.
#[derive(Debug)]
pub(crate) enum AnyMessage<'a> {
    Ump(ump::Msg<'a>),
    Ff(NonZeroU64),
    Mcast(mcast::Msg<'a>),
}

impl AnyMessage<'_> {
    /// Tells C where it is: a word in this object, which stays where it is meanwhile; a copy, if one has to be made, is kept
    /// where the caller says.
    pub(crate) fn tell(&self, to: &mut MaybeUninit<Message>, copy: &mut Vec<u8>) {
        match self {
            Self::Ump(message) => message::tell(to, message, copy, 0),
            Self::Ff(word) => {
                let data = ptr::from_ref(word).cast();
                to.write(Message { data, len: size_of_val(word), number: 0 });
            }
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
            Self::Ff(end) => end.is_ready(),
            Self::Mcast(end) => end.is_ready(),
        }
    }

    fn try_recv(&mut self) -> Result<AnyMessage<'_>, TryRecvError> {
        match self {
            Self::Ump(end) => end.try_recv().map(AnyMessage::Ump),
            Self::Ff(end) => end.try_recv().map(AnyMessage::Ff),
            Self::Mcast(end) => Selectable::try_recv(end).map(AnyMessage::Mcast),
        }
    }

    fn alarm(&self) -> Alarm {
        match self {
            Self::Ump(end) => end.alarm(),
            Self::Ff(end) => end.alarm(),
            Self::Mcast(end) => end.alarm(),
        }
    }
}
