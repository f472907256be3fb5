//! The ends of the three channels as their deaths are measured: single words, and what a call says of a death.

use std::num::NonZeroU64;

use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::base::wait::Wait;
use corecast::channel::mcast::Policy;
use corecast::channel::{RecvError, SendError, TrySendError, ff, mcast, ump};

use super::victim::NAME;
use corecast_race::failure::Failure;

/// Room for fewer words than a victim sends, so that it goes on when the survivor takes them.
const SLOTS: usize = 64;

/// One of corecast's channels between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Channel {
    Ump,
    Ff,
    Mcast,
}

/// One side of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Sender,
    Receiver,
}

/// The return value of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was told of the death.
    Died,
    /// The message was sent: no reader is left that holds it up.
    Sent,
    /// A message that nobody sent.
    Message(u64),
    /// Something else.
    Other(&'static str),
}

/// An end that sends.
pub(super) trait Sender: Send {
    /// Sends a word unless the channel is full; whether it was sent.
    fn try_send(&mut self, word: NonZeroU64) -> Result<bool, Failure>;

    /// Sends a word, waiting for room.
    fn send(&mut self, word: NonZeroU64) -> Result<Outcome, Outcome>;

    /// Shows the receiver all that was sent.
    fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

/// An end that receives.
pub(super) trait Receiver: Send {
    /// Receives a word, waiting for it.
    fn recv(&mut self) -> Result<NonZeroU64, Outcome>;
}

impl End {
    pub(super) const BOTH: [Self; 2] = [Self::Sender, Self::Receiver];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}

impl Outcome {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Died => "told of the death",
            Self::Sent => "sent",
            Self::Message(_) => "a message that nobody sent",
            Self::Other(words) => words,
        }
    }
}

impl Channel {
    pub(super) const ALL: [Self; 3] = [Self::Ump, Self::Ff, Self::Mcast];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ump => "ump",
            Self::Ff => "ff",
            Self::Mcast => "mcast",
        }
    }

    /// The outcome of the survivor's call. A dead reader holds no sender of `mcast` up any more, which is all its sender
    /// wants to know.
    pub(super) fn expected(self, killed: End) -> Outcome {
        if self == Self::Mcast && killed == End::Receiver { Outcome::Sent } else { Outcome::Died }
    }

    /// The region for it.
    pub(super) fn plan(self, wait: Wait) -> Result<RegionPlan, Failure> {
        let spec = match self {
            Self::Ump => ump::bytes::spec(ump::Config { slots: SLOTS, wait, ..ump::Config::default() }),
            Self::Ff => ff::spec(ff::Config { cells: SLOTS, wait, ..ff::Config::default() }),
            Self::Mcast => mcast::bytes::spec(mcast::Config { slots: SLOTS, wait, ..mcast::Config::default() }),
        };
        spec.declare(RegionPlan::new(), NAME).map_err(Failure::refused)
    }

    pub(super) fn sender(self, region: &SharedRegion) -> Result<Box<dyn Sender>, Failure> {
        Ok(match self {
            Self::Ump => Box::new(ump::bytes::sender(region, NAME).map_err(Failure::refused)?),
            Self::Ff => Box::new(ff::sender(region, NAME).map_err(Failure::refused)?),
            Self::Mcast => Box::new(mcast::bytes::sender(region, NAME).map_err(Failure::refused)?),
        })
    }

    pub(super) fn receiver(self, region: &SharedRegion) -> Result<Box<dyn Receiver>, Failure> {
        Ok(match self {
            Self::Ump => Box::new(ump::bytes::receiver(region, NAME).map_err(Failure::refused)?),
            Self::Ff => Box::new(ff::receiver(region, NAME).map_err(Failure::refused)?),
            Self::Mcast => Box::new(mcast::bytes::receiver(region, NAME, Policy::Reliable).map_err(Failure::refused)?),
        })
    }
}

impl Sender for ump::bytes::Sender {
    fn try_send(&mut self, word: NonZeroU64) -> Result<bool, Failure> {
        room(Self::try_send(self, &word.get().to_ne_bytes()))
    }

    fn send(&mut self, word: NonZeroU64) -> Result<Outcome, Outcome> {
        sent(Self::send(self, &word.get().to_ne_bytes()))
    }
}

impl Sender for ff::Sender {
    fn try_send(&mut self, word: NonZeroU64) -> Result<bool, Failure> {
        room(Self::try_send(self, word))
    }

    fn send(&mut self, word: NonZeroU64) -> Result<Outcome, Outcome> {
        sent(Self::send(self, word))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Self::flush(self).map_err(Failure::refused)
    }
}

impl Sender for mcast::bytes::Sender {
    fn try_send(&mut self, word: NonZeroU64) -> Result<bool, Failure> {
        room(Self::try_send(self, &word.get().to_ne_bytes()))
    }

    fn send(&mut self, word: NonZeroU64) -> Result<Outcome, Outcome> {
        sent(Self::send(self, &word.get().to_ne_bytes()))
    }
}

impl Receiver for ump::bytes::Receiver {
    fn recv(&mut self) -> Result<NonZeroU64, Outcome> {
        Self::recv(self).map_err(lost).and_then(|message| word(message.read()))
    }
}

impl Receiver for ff::Receiver {
    fn recv(&mut self) -> Result<NonZeroU64, Outcome> {
        Self::recv(self).map_err(lost)
    }
}

impl Receiver for mcast::bytes::Receiver {
    fn recv(&mut self) -> Result<NonZeroU64, Outcome> {
        Self::recv(self).map_err(lost).and_then(|message| word(message.read()))
    }
}

fn word(word: Option<u64>) -> Result<NonZeroU64, Outcome> {
    word.and_then(NonZeroU64::new).ok_or(Outcome::Other("a torn message"))
}

fn room<T>(tried: Result<(), TrySendError<T>>) -> Result<bool, Failure> {
    match tried {
        Ok(()) => Ok(true),
        Err(TrySendError::Full(_)) => Ok(false),
        Err(_) => Err(Failure::Refused("a channel that cannot be filled".to_owned())),
    }
}

fn sent<T>(sent: Result<(), SendError<T>>) -> Result<Outcome, Outcome> {
    match sent {
        Ok(()) => Ok(Outcome::Sent),
        Err(SendError::Died(_)) => Err(Outcome::Died),
        Err(_) => Err(Outcome::Other("another error of a send")),
    }
}

fn lost(error: RecvError) -> Outcome {
    if error == RecvError::Died { Outcome::Died } else { Outcome::Other("another error of a receive") }
}
