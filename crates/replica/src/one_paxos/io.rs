//! What a node is told, and what it wants done.

use crate::{Command, Configuration, Epoch, Index, NodeId};

/// How the nodes talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Messages; the memory of a node dies with it. Configurations are agreed on by a majority of the founders.
    Messages,
    /// Memory that outlives its process. A configuration is one compare-and-swap.
    Shared {
        /// The leader is its own acceptor wherever it can be.
        is_fused: bool,
    },
}

/// What the acceptor's log and the configuration hold, as a new leader found them ([`Effect::ReadLog`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Adopted<B> {
    /// The epoch of the new leader that asked.
    pub epoch: Epoch,
    /// The acceptor's count of commands that all members have applied.
    pub stable: Index,
    /// The acceptor's count of committed commands.
    pub commit: Index,
    /// U of the instance: index and command.
    pub chosen: Vec<(Index, Command<B>)>,
    /// Everything that the acceptor has accepted from `stable` on, committed or not, with the epoch of each.
    pub accepted: Vec<(Index, Epoch, Command<B>)>,
}

/// What a node is told.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Input<B> {
    /// Requests of sessions of this node, or forwarded by other members.
    Requests(Vec<Command<B>>),
    /// The acceptor's end: proposals of the leader of `epoch` at `first` and after.
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
    /// The learner's end: commands that the acceptor has committed at `first` and after.
    Learn {
        /// The index of the first command.
        first: Index,
        /// The commands.
        commands: Vec<Command<B>>,
    },
    /// A member has applied the commands below `applied`.
    Progress {
        /// The member.
        node: NodeId,
        /// Its count.
        applied: Index,
    },
    /// The answer to [`Effect::ReadLog`].
    Adopted(Adopted<B>),
    /// The answer to [`Effect::ProposeConfiguration`]: it is the newest now.
    ConfigurationWon(Configuration),
    /// There is a newer configuration: found by the transport, or the answer to a proposal that came too late.
    ConfigurationSeen(Configuration),
    /// The answer to [`Effect::CheckEpoch`]: whether `epoch` is still the newest.
    EpochChecked {
        /// The epoch that was asked about.
        epoch: Epoch,
        /// The index after the last command that was written.
        end: Index,
        /// True if there is no newer configuration.
        is_newest: bool,
    },
    /// The runtime holds this node for dead or stuck, and it is this node's turn to act.
    Suspect {
        /// The node.
        node: NodeId,
        /// True if it is certainly dead.
        is_dead: bool,
    },
}

/// What a node wants done, in this order, at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect<B> {
    /// Leader: write proposals where the acceptor finds them (Shared), or send them to it.
    Propose {
        /// The epoch.
        epoch: Epoch,
        /// The count of commands that all members have applied.
        stable: Index,
        /// The index of the first command.
        first: Index,
        /// The commands.
        commands: Vec<Command<B>>,
    },
    /// Acceptor, Shared: write accepted commands into the own log, then ask [`CheckEpoch`](Self::CheckEpoch).
    Write {
        /// The epoch.
        epoch: Epoch,
        /// The index of the first command.
        first: Index,
        /// The commands.
        commands: Vec<Command<B>>,
    },
    /// Acceptor, Shared: fence, look whether the configuration is still `epoch`, answer [`Input::EpochChecked`].
    CheckEpoch {
        /// The epoch.
        epoch: Epoch,
        /// The index after the last command that was written.
        end: Index,
    },
    /// Acceptor: publish that everything below `end` is committed, and tell the learners.
    Commit {
        /// The epoch.
        epoch: Epoch,
        /// The count of committed commands.
        end: Index,
        /// The count of commands that all members have applied.
        stable: Index,
    },
    /// Acceptor, Shared: take back what was written at `first..end` and not committed.
    Erase {
        /// The first index.
        first: Index,
        /// The index after the last.
        end: Index,
    },
    /// Raise the published count of commands whose effect anyone may see.
    RaiseVisible(Index),
    /// Make this the newest configuration, if none is newer than the one before it. Its U is in [`Propose`](Self::Propose)s
    /// made before it.
    ProposeConfiguration(Configuration),
    /// New leader: read U and the acceptor's log, answer [`Input::Adopted`].
    ReadLog(Configuration),
    /// Commands may be taken from the log and applied: `Node::next_to_apply`.
    Apply,
    /// Send requests to the leader.
    Forward {
        /// The leader.
        leader: NodeId,
        /// The requests.
        commands: Vec<Command<B>>,
    },
    /// The log no longer holds what this node needs: it has to take a snapshot and join again.
    Lagging,
}

/// The rules of the protocol, each of which can be left out to see that the checker notices. Only models do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rules {}
