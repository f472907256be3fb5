//! The messages of nodes that share no memory.

use std::sync::Arc;

use super::Adopted;
use crate::{Command, Configuration, Epoch, Index, NodeId};

/// The number of an attempt to get an entry of the configuration log chosen: greater rounds first, then greater nodes. No two
/// attempts have the same: a process that came back in the slot of a dead one knows nothing of its rounds, and is another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ballot {
    /// The round.
    pub round: u32,
    /// The proposer.
    pub node: NodeId,
}

/// An entry of the configuration log, with the commands that its acceptor began with (U) and the voters on the entry after it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry<B> {
    /// The configuration.
    pub configuration: Configuration,
    /// U of its instance.
    pub chosen: Arc<Vec<(Index, Command<B>)>>,
    /// The nodes that vote on the next entry.
    pub voters: Arc<[NodeId]>,
    /// The owners of the epochs of its instance up to this one, each with the newest of its epochs.
    pub owners: Arc<[(NodeId, Epoch)]>,
}

/// All that an acceptor can have accepted up to an epoch of its instance, as the leader of that epoch knew when it was deposed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Former<B> {
    /// The epoch.
    pub epoch: Epoch,
    /// The leader's count of commands that all members have applied.
    pub stable: Index,
    /// The commands from there on, in the order of their indexes.
    pub chosen: Arc<Vec<(Index, Command<B>)>>,
}

/// A message. The sender is known to the transport.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Message<B> {
    /// Requests for the leader.
    Request(Vec<Command<B>>),
    /// Leader to acceptor: accept these commands.
    Accept {
        /// The leader's epoch.
        epoch: Epoch,
        /// The leader's count of commands that all members have applied.
        stable: Index,
        /// The index of the first command.
        first: Index,
        /// The commands.
        commands: Vec<Command<B>>,
    },
    /// Acceptor to all: these commands are decided.
    Learn {
        /// The acceptor's count of commands that all members have applied.
        stable: Index,
        /// The index of the first command.
        first: Index,
        /// The commands.
        commands: Vec<Command<B>>,
    },
    /// Learner to acceptor: send what is decided from here on again.
    Missing {
        /// The newest epoch that the learner knows.
        epoch: Epoch,
        /// The first index that the learner lacks.
        first: Index,
    },
    /// New leader to acceptor.
    Prepare(Entry<B>),
    /// Acceptor to new leader: everything that it has accepted.
    PrepareResponse(Adopted<B>),
    /// New leader to the owners of earlier epochs of the instance: the acceptor does not answer.
    AskFormer(Entry<B>),
    /// The answer to [`AskFormer`](Self::AskFormer).
    Former {
        /// The epoch of the leader that asked.
        epoch: Epoch,
        /// The content of the newest epoch of the instance that this node completed as the leader; `None` if it completed none.
        former: Option<Former<B>>,
    },
    /// To a stale sender: there is this newer configuration. Also sent to all once it is chosen.
    Chosen(Entry<B>),
    /// A node has applied the commands below this count.
    Progress {
        /// Its count.
        applied: Index,
    },
    /// Configuration log, phase 1: promise to take part in no smaller ballot for this position.
    Ask {
        /// The position.
        position: Epoch,
        /// The ballot.
        ballot: Ballot,
    },
    /// The answer to [`Ask`](Self::Ask).
    Promise {
        /// The position.
        position: Epoch,
        /// The ballot.
        ballot: Ballot,
        /// The vote of the greatest ballot that this voter gave for the position.
        vote: Option<(Ballot, Entry<B>)>,
    },
    /// Configuration log, phase 2: vote for this entry at the position of its epoch.
    Vote {
        /// The ballot.
        ballot: Ballot,
        /// The entry.
        entry: Entry<B>,
    },
    /// The answer to [`Vote`](Self::Vote).
    Voted {
        /// The position.
        position: Epoch,
        /// The ballot.
        ballot: Ballot,
    },
    /// The refusal of a ballot: the voter has promised a greater one.
    Refused {
        /// The position.
        position: Epoch,
        /// The ballot that was promised.
        promised: Ballot,
    },
}
