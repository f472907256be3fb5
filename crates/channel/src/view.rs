//! A snapshot of a channel and its ends, and the words from which it is read.

use corecast_base::region::{Entry, Observer, ParticipantId};

use crate::open::OpenChannelError;
use crate::policy::Policy;

/// The unit of positions in a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Messages.
    Messages,
    /// Slots of 64 bytes; a message takes one or more.
    Slots,
    /// Words of 8 bytes.
    Words,
}

/// The state of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndState {
    /// It is open and has not said goodbye; its participant may be dead.
    Open,
    /// It said goodbye.
    Left,
    /// A reader that the senders have given up; it has not noticed yet.
    GivenUp,
}

/// An end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndView {
    /// The participant that has it, as the memory says; the region knows whether it lives.
    pub participant: Option<ParticipantId>,
    /// Its state.
    pub state: EndState,
}

/// A receiving end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiverView {
    /// Its participant and its state.
    pub end: EndView,
    /// Its policy for falling behind.
    pub policy: Policy,
    /// Everything before this position was received. A busy end writes it seldom: it may be an eighth of the ring old.
    /// `None` in a word channel, whose memory does not hold it.
    pub cursor: Option<u64>,
    /// The distance behind the last message sent; `None` if the cursor is beyond that, which no honest end writes.
    pub behind: Option<u64>,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelView {
    /// Its kind: `ump`, `ff` or `mcast`.
    pub kind: &'static str,
    /// The unit of `sent`, cursors and distances.
    pub unit: Unit,
    /// The size of its ring, in this unit.
    pub slots: u64,
    /// The amount sent since the channel was made; `None` in a word channel, whose memory does not hold it.
    pub sent: Option<u64>,
    /// The sending ends.
    pub senders: Vec<EndView>,
    /// The receiving ends.
    pub receivers: Vec<ReceiverView>,
}

/// The words of one channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChannelWords<'a> {
    pub(crate) observer: &'a Observer,
    pub(crate) entry: &'a Entry,
}

impl ChannelWords<'_> {
    /// The word at `offset`, in bytes from the channel's start.
    ///
    /// # Errors
    /// [`OpenChannelError`] if there is none, or this process is a forked child.
    pub(crate) fn word(&self, offset: usize) -> Result<u64, OpenChannelError> {
        let word = self.observer.word(self.entry, offset as u64)?;
        word.ok_or_else(|| self.damaged("it is smaller than its configuration says".to_owned()))
    }

    /// An end of a channel with two ends, if it was ever opened: the word at `owner` holds its participant, and `bit` of
    /// the word at `gone` says that it said goodbye.
    pub(crate) fn end(&self, owner: usize, gone: usize, bit: u32) -> Result<Option<EndView>, OpenChannelError> {
        // In this order: the participant that took the end had not left then.
        let participant = ParticipantId::from_word(self.word(owner)?);
        let state = if self.word(gone)? & u64::from(bit) != 0 { EndState::Left } else { EndState::Open };
        Ok(participant.is_some().then_some(EndView { participant, state }))
    }

    pub(crate) fn damaged(&self, why: String) -> OpenChannelError {
        OpenChannelError::Layout { name: self.entry.name.clone(), why }
    }
}
