//! A snapshot of a channel and its ends, and the words that it is read from.

use corecast_base::region::{Entry, Observer, ParticipantId};

use crate::open::OpenChannelError;
use crate::policy::Policy;

/// What positions in a channel count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Messages.
    Messages,
    /// Slots of 64 bytes, of which a message takes one or more.
    Slots,
    /// Words of 8 bytes.
    Words,
}

/// What has become of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndState {
    /// It was opened and has not said goodbye; its participant may be dead.
    Open,
    /// It said goodbye.
    Left,
    /// A reader that senders do not wait for any more, and that has not noticed yet.
    GivenUp,
}

/// An end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndView {
    /// Whose it is, as the memory says; the region knows whether that one lives.
    pub participant: Option<ParticipantId>,
    /// What has become of it.
    pub state: EndState,
}

/// A receiving end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiverView {
    /// Whose it is, and what has become of it.
    pub end: EndView,
    /// What it wants when it falls behind.
    pub policy: Policy,
    /// All before this position was received. Ends tell it seldom while they are busy: it may be an eighth of the ring old.
    /// `None` in a word channel, whose memory does not tell.
    pub cursor: Option<u64>,
    /// How far it is behind what was sent; `None` if the cursor is beyond that, which no honest end writes.
    pub behind: Option<u64>,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelView {
    /// Its kind: `ump`, `ff` or `mcast`.
    pub kind: &'static str,
    /// What `sent`, cursors and distances count.
    pub unit: Unit,
    /// How many of these its ring holds.
    pub slots: u64,
    /// How many were sent since it was made; `None` in a word channel, whose memory does not tell.
    pub sent: Option<u64>,
    /// Who sends.
    pub senders: Vec<EndView>,
    /// Who receives.
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

    /// An end of one of two, if it was ever opened: the word at `owner` tells whose it is, `bit` of the one at `gone` that it
    /// said goodbye.
    pub(crate) fn end(&self, owner: usize, gone: usize, bit: u32) -> Result<Option<EndView>, OpenChannelError> {
        // In this order: whoever took the end had not left then.
        let participant = ParticipantId::from_word(self.word(owner)?);
        let state = if self.word(gone)? & u64::from(bit) != 0 { EndState::Left } else { EndState::Open };
        Ok(participant.is_some().then_some(EndView { participant, state }))
    }

    pub(crate) fn damaged(&self, why: String) -> OpenChannelError {
        OpenChannelError::Layout { name: self.entry.name.clone(), why }
    }
}
