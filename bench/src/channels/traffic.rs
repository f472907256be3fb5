//! The shapes of traffic that channels are raced at: one stream, or the messages of a program that is built on channels.

use serde::Serialize;

/// A shape of traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Traffic {
    /// A sender that does not wait for its receivers.
    #[default]
    Stream,
    /// PaxosInside: a client asks the proposer, which tells the acceptor, which tells all learners at once; each learner answers
    /// the client: two unicasts, a multicast, and a unicast of each learner, all of the length asked for.
    Paxos,
    /// A checkpoint: a coordinator asks everybody at once in 128 bytes, and everybody answers in the length asked for.
    Checkpoint,
}

impl Traffic {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Stream, Self::Paxos, Self::Checkpoint];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Paxos => "paxos",
            Self::Checkpoint => "checkpoint",
        }
    }

    /// The number of participants, with this many receivers of the message that goes to many.
    #[must_use]
    pub fn participants(self, receivers: usize) -> usize {
        match self {
            Self::Stream | Self::Checkpoint => receivers + 1,
            Self::Paxos => receivers + 3,
        }
    }
}
