//! A receiving end of any kind, for a select.

use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::ptr;

use corecast::channel::select::{Mixed, MixedMsg, Selectable, WakeHandle};
use corecast::channel::{TryRecvError, ff};

use crate::message::{self, Message};

/// A receiving end of any kind.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "each lies alone behind a handle of C")]
pub(crate) enum AnyReceiver {
    Bytes(Mixed),
    Words(ff::Receiver),
}

/// A message of any kind of channel.
#[derive(Debug)]
pub(crate) enum AnyMessage<'a> {
    Bytes(MixedMsg<'a>),
    Word(NonZeroU64),
}

impl AnyMessage<'_> {
    /// Tells C where it is. A word is in this object, which must not move meanwhile.
    pub(crate) fn tell(&self, to: &mut MaybeUninit<Message>) {
        match self {
            Self::Bytes(message) => message::tell(to, &message.bytes(), 0),
            Self::Word(word) => {
                let data = ptr::from_ref(word).cast();
                to.write(Message { data, len: size_of_val(word), number: 0 });
            }
        }
    }
}

impl Selectable for AnyReceiver {
    type Message<'a> = AnyMessage<'a>;

    #[inline]
    fn is_ready(&mut self) -> bool {
        match self {
            Self::Bytes(end) => end.is_ready(),
            Self::Words(end) => end.is_ready(),
        }
    }

    fn try_recv(&mut self) -> Result<AnyMessage<'_>, TryRecvError> {
        match self {
            Self::Bytes(end) => end.try_recv().map(AnyMessage::Bytes),
            Self::Words(end) => end.try_recv().map(AnyMessage::Word),
        }
    }

    fn wake_handle(&self) -> WakeHandle {
        match self {
            Self::Bytes(end) => end.wake_handle(),
            Self::Words(end) => end.wake_handle(),
        }
    }
}
