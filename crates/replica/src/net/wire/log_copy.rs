//! The names of messages that carry a part of the log each time they are sent: a sender says the same thing twice by the same
//! name.

use super::write::kind_of;
use crate::Epoch;
use crate::one_paxos::{Ballot, Message};

/// The name of a message with a part of the log. While one waits for room, another with the same name from the same sender
/// tells its receiver nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) struct LogCopy {
    kind: u8,
    epoch: Epoch,
    ballot: Option<Ballot>,
}

impl LogCopy {
    /// That of a message which an epoch has: entries of the configuration log, and the answers to a new leader.
    pub(in crate::net) fn of<B>(message: &Message<B>) -> Option<Self> {
        let (epoch, ballot) = match message {
            Message::Prepare(entry) | Message::AskFormer(entry) | Message::Chosen(entry) => {
                (entry.configuration.epoch, None)
            }
            Message::PrepareResponse(adopted) => (adopted.epoch, None),
            Message::Former { epoch, .. } => (*epoch, None),
            Message::Promise { position, ballot, vote: Some(_) } => (*position, Some(*ballot)),
            Message::Vote { ballot, entry } => (entry.configuration.epoch, Some(*ballot)),
            _ => return None,
        };
        Some(Self { kind: kind_of(message), epoch, ballot })
    }
}
