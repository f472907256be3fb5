//! The inputs of a node, and the effects that it wants.

use super::Message;
use crate::{Command, Configuration, Epoch, Index, NodeId};

/// How the nodes talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Messages; the memory of a node dies with it. Configurations are agreed on by a majority of the voters.
    Messages,
    /// Memory that outlives its process. A configuration is one compare-and-swap.
    Shared {
        /// The leader is its own acceptor wherever it can be.
        is_fused: bool,
    },
}

/// The content of the acceptor's log and of the configuration, as a new leader found them ([`Effect::ReadLog`]).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Adopted<B> {
    /// The epoch of the new leader that asked.
    pub epoch: Epoch,
    /// The acceptor's published count of commands that all members have applied; one more than the index of a lapped slot
    /// that was met, if that is larger.
    pub stable: Index,
    /// The acceptor's count of committed commands.
    pub commit: Index,
    /// Shared: U of the instance, index and command, without absent and lapped slots. Empty for messages.
    pub chosen: Vec<(Index, Command<B>)>,
    /// Everything that the acceptor has accepted from `stable` on, committed or not, with the epoch of each. Shared: the
    /// slots of its log up to the first absent one, whatever their epoch.
    pub accepted: Vec<(Index, Epoch, Command<B>)>,
}

/// An input of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Input<B> {
    /// Requests of sessions of this node, or forwarded by other members. A node that does not lead forwards them.
    Requests(Vec<Command<B>>),
    /// Messages: one has come. Those from or for other incarnations have been dropped by the transport.
    Message {
        /// The sender.
        from: NodeId,
        /// The message.
        message: Message<B>,
    },
    /// Shared, acceptor: proposals of the leader of `epoch` at `first` and after, pulled from
    /// [`Node::pulls_from`](super::Node::pulls_from) on.
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
    /// Shared, learner: commands that the acceptor has committed at `first` and after. The transport reads, in this order, the
    /// acceptor's commit, its stable, the slots.
    Learn {
        /// The acceptor's published count of commands that all members have applied. Slots below it may hold anything.
        stable: Index,
        /// The index of the first command.
        first: Index,
        /// The commands.
        commands: Vec<Command<B>>,
    },
    /// Shared: all members are dead, and no node that joins is to go before this one, which joins, too: it leads from the log
    /// of the dead until it has taken itself in.
    Alone,
    /// Shared: a member has applied the commands below `applied`.
    Progress {
        /// The member.
        node: NodeId,
        /// Its count.
        applied: Index,
    },
    /// Shared: the answer to [`Effect::ReadLog`].
    Adopted(Adopted<B>),
    /// Shared: the answer to [`Effect::ProposeConfiguration`]: it is the newest now.
    ConfigurationWon(Configuration),
    /// Shared: there is a newer configuration, found by the transport, or the answer to a proposal that came too late.
    ConfigurationSeen(Configuration),
    /// Shared: the answer to [`Effect::CheckEpoch`]: whether `epoch` is still the newest.
    EpochChecked {
        /// The epoch that was asked about.
        epoch: Epoch,
        /// The index after the last command that was written.
        end: Index,
        /// True if there is no newer configuration.
        is_newest: bool,
    },
    /// The runtime holds this node for dead or stuck, and it is this node's turn to act. To be repeated while it lasts.
    Suspect {
        /// The node.
        node: NodeId,
        /// True if it is certainly dead.
        is_dead: bool,
    },
    /// The process of a member is alive, and goes on as another incarnation: the member is dead as far as roles and the log are
    /// concerned, but its sessions are not. To be repeated while it lasts, as [`Suspect`](Self::Suspect).
    GoneOn(NodeId),
    /// Messages: some time has passed; unanswered messages are sent again.
    Tick,
}

/// An effect that a node wants. The runtime executes effects in their order, at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect<B> {
    /// Messages: send this to one node.
    Send {
        /// The receiver, never this node.
        to: NodeId,
        /// The message.
        message: Message<B>,
    },
    /// Messages: send this to all other members and voters: one after another, over a tree or over one ring.
    Broadcast(Message<B>),
    /// Shared, leader: publish `stable`, then write proposals where the acceptor finds them, then move the tail to their end.
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
    /// Shared, acceptor: publish `stable` (it never falls within an instance), then write accepted commands into the own log.
    Write {
        /// The epoch.
        epoch: Epoch,
        /// The count of commands that all members have applied.
        stable: Index,
        /// The index of the first command.
        first: Index,
        /// The commands.
        commands: Vec<Command<B>>,
    },
    /// Shared, acceptor: fence, look whether the configuration is still `epoch`, answer [`Input::EpochChecked`].
    CheckEpoch {
        /// The epoch.
        epoch: Epoch,
        /// The index after the last command that was written.
        end: Index,
    },
    /// Shared, acceptor: publish `stable`, then that everything below `end` is committed, and wake the learners.
    Commit {
        /// The epoch.
        epoch: Epoch,
        /// The count of committed commands.
        end: Index,
        /// The count of commands that all members have applied.
        stable: Index,
    },
    /// Shared, acceptor: take back what was written at `first..end` and not committed.
    Erase {
        /// The first index.
        first: Index,
        /// The index after the last.
        end: Index,
    },
    /// Shared: raise the published count of commands whose effect anyone may see to at least this.
    RaiseVisible(Index),
    /// Shared: make this the newest configuration if the one before it still is; answer
    /// [`ConfigurationWon`](Input::ConfigurationWon), or [`ConfigurationSeen`](Input::ConfigurationSeen) with the newest. Its U
    /// is in a [`Propose`](Self::Propose) with its epoch made before it, if it is not empty.
    ProposeConfiguration(Configuration),
    /// Shared, new leader: read U of [`source`](Configuration::source) and the acceptor's log, dead or not, from `from` on;
    /// answer [`Input::Adopted`].
    ReadLog {
        /// The configuration that was won.
        configuration: Configuration,
        /// The index to begin at; the acceptor's published stable instead, if that is larger.
        from: Index,
    },
    /// The commands below this count may be applied, once the visible count is raised to it:
    /// [`Node::next_to_apply`](super::Node::next_to_apply).
    Apply(Index),
    /// Shared: give requests to the leader. The node does not keep them.
    Forward {
        /// The leader.
        leader: NodeId,
        /// The requests.
        commands: Vec<Command<B>>,
    },
    /// The log no longer holds the commands that this node needs: it has to take a snapshot and join again.
    Lagging,
}
