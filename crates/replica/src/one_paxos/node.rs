//! A node: all that it knows, and the function that takes it from state to state.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::accept::Acceptor;
use super::configuration_log::ConfigurationLog;
use super::handover::{Answers, Owners, first_owners};
use super::io::{Effect, Input, Transport};
use super::log::Log;
use super::message::Former;
use super::order::Orders;
use super::rules::Rules;
use crate::system::Members;
use crate::{Command, Configuration, Epoch, Index, NodeId};

/// The parts of a node that never change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Settings {
    /// This incarnation.
    pub me: NodeId,
    /// How the nodes talk.
    pub transport: Transport,
    /// The number of commands that the log holds from the first that not all members have applied. The same in all nodes; at
    /// least 8, and four times the nodes: a quarter is kept for the `Leave`s of dead ones.
    pub window: u64,
    /// The nodes that the group began with: with messages, the first of them, an odd number, vote on the next
    /// configuration.
    pub founders: Vec<NodeId>,
    /// [`Rules::ALL`] but in models.
    pub rules: Rules,
}

/// Whether this node leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// It does not.
    Follower,
    /// It has won an epoch, and waits for what was accepted before.
    Adopting,
    /// It orders.
    Leading,
    /// It orders no more with this acceptor, and has proposed another.
    Sealed,
    /// Messages: it has chosen an acceptor, or has its role anew, and the acceptor has not answered yet.
    Installing,
}

/// How far another member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Progress {
    pub(super) node: NodeId,
    /// It has applied what is below for sure.
    pub(super) applied: Index,
    /// True once it has said so: as it joined, or to this leader. Else it may be further by far.
    pub(super) is_heard: bool,
}

/// One participant of 1Paxos. `B` is the body of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node<B> {
    pub(super) settings: Arc<Settings>,
    /// As of `applied`.
    pub(super) members: Members,
    /// The newest that it knows.
    pub(super) configuration: Configuration,
    /// Messages: U of its instance.
    pub(super) chosen: Arc<Vec<(Index, Command<B>)>>,
    /// Messages: the nodes that vote on the next one, as the newest says.
    pub(super) voters: Arc<[NodeId]>,
    /// Messages: the owners of the epochs of its instance, as the newest says.
    pub(super) owners: Owners,

    /// Decided commands, from what not all members are known to have applied on.
    pub(super) learned: Log<Command<B>>,
    /// All commands below are decided and known, or applied.
    pub(super) learned_end: Index,
    pub(super) applied: Index,
    /// The log no longer has what this node needs.
    pub(super) is_lagging: bool,
    /// Shared: no member lives, so that this node may lead before it is one.
    pub(super) is_alone: bool,

    pub(super) acceptor: Acceptor<B>,

    pub(super) role: Role,
    /// The configuration that it has proposed and has no answer for.
    pub(super) proposal: Option<Configuration>,
    pub(super) orders: Orders<B>,
    /// Messages: what this node had as it was deposed last, in an epoch that it had completed.
    pub(super) former: Option<Former<B>>,
    /// Messages, while it adopts: what former leaders had.
    pub(super) answers: Answers<B>,
    /// All other members, as far as known.
    pub(super) progress: Vec<Progress>,
    /// How far nodes are that are about to join, and that the runtime wants to wait for.
    pub(super) held: Option<Index>,
    /// The acceptor that the runtime would rather have.
    pub(super) preferred_acceptor: Option<NodeId>,
    /// Members that are dead.
    pub(super) dead: BTreeSet<NodeId>,
    /// Those of them whose process has gone on as another incarnation.
    pub(super) gone_on: BTreeSet<NodeId>,
    /// Members that were suspected and have not moved since.
    pub(super) slow: BTreeSet<NodeId>,

    pub(super) configuration_log: ConfigurationLog<B>,
    /// Messages: the count that the leader was told last.
    pub(super) reported: Index,
    /// Messages: the number of ticks, for whose turn it is.
    pub(super) ticks: u32,
    /// Messages: `learned_end` at the last tick.
    pub(super) ticked: Index,
    /// Messages to itself.
    pub(super) to_self: VecDeque<super::Message<B>>,
}

impl<B: Clone + PartialEq> Node<B> {
    /// A member that the group begins with; `configuration` is that of epoch 0.
    ///
    /// # Panics
    /// If the node is no member, or the window is below 8.
    #[must_use]
    #[track_caller]
    pub fn new(settings: Settings, members: Members, configuration: Configuration) -> Self {
        assert!(members.contains(settings.me), "a group begins with its members");
        let leads = configuration.leader == settings.me && configuration.epoch == 0;
        let mut node = Self::restored(settings, members, configuration, 0);
        if leads {
            node.role = Role::Leading;
        }
        node
    }

    /// A node that starts from a snapshot which holds the commands below `applied`, with the members of the snapshot and the
    /// newest configuration.
    ///
    /// # Panics
    /// If the window is below 8.
    #[must_use]
    #[track_caller]
    pub fn restored(settings: Settings, members: Members, configuration: Configuration, applied: Index) -> Self {
        assert!(settings.window >= 8, "a log window of at least 8 commands");
        let mut node = Self {
            members,
            chosen: Arc::default(),
            voters: Self::first_voters(&settings.founders),
            owners: first_owners(&configuration),
            learned: Log::new(applied),
            learned_end: applied,
            applied,
            is_lagging: false,
            is_alone: false,
            acceptor: Acceptor::new(configuration.epoch),
            role: Role::Follower,
            proposal: None,
            orders: Orders::new(0),
            former: None,
            answers: Answers::new(),
            progress: Vec::new(),
            held: None,
            preferred_acceptor: None,
            dead: BTreeSet::new(),
            gone_on: BTreeSet::new(),
            slow: BTreeSet::new(),
            configuration_log: ConfigurationLog::default(),
            reported: 0,
            ticks: 0,
            ticked: 0,
            to_self: VecDeque::new(),
            configuration,
            settings: Arc::new(settings),
        };
        node.list_progress(&[]);
        if configuration.acceptor == node.settings.me {
            let rules = node.settings.rules;
            node.acceptor.take_role(&node.configuration, &rules);
        }
        node
    }

    /// Takes one input; `effects` are added to.
    #[inline]
    pub fn step(&mut self, input: Input<B>, effects: &mut Vec<Effect<B>>) {
        match input {
            Input::Requests(commands) => self.requested(commands, effects),
            Input::EpochChecked { epoch, end, is_newest } => self.epoch_checked(epoch, end, is_newest, effects),
            Input::Accept { epoch, stable, first, commands } => self.accept(epoch, stable, first, commands, effects),
            Input::Learn { stable, first, commands } => self.learn(stable, first, commands, effects),
            Input::Progress { node, applied } => self.progressed(node, applied, effects),
            Input::Adopted(adopted) => self.adopt(adopted, effects),
            Input::ConfigurationWon(configuration) => self.won(configuration, effects),
            Input::ConfigurationSeen(configuration) => self.seen(configuration, effects),
            Input::Suspect { node, is_dead } => {
                self.gone_on.retain(|&gone| gone != node || !is_dead);
                self.suspect(node, is_dead, effects);
            }
            Input::GoneOn(node) => {
                self.gone_on.extend(Some(node).filter(|&node| self.members.contains(node)));
                self.suspect(node, true, effects);
            }
            Input::Alone => {
                self.is_alone = !self.members.contains(self.settings.me);
                self.propose_itself(effects);
            }
            Input::Message { from, message } => self.receive(from, message, effects),
            Input::Tick => self.tick(effects),
        }
        if self.is_by_messages() {
            self.receive_own(effects);
        }
    }

    /// This node.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.settings.me
    }

    /// The newest configuration that it knows.
    #[must_use]
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The members as of the commands applied.
    #[must_use]
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// True if this node leads, whether or not it can order just now: requests may be handed in.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.role != Role::Follower
    }

    /// True if this node leads and orders: it has adopted all that was accepted before.
    #[must_use]
    pub fn orders(&self) -> bool {
        self.role == Role::Leading
    }

    /// True once the node needs a snapshot.
    #[must_use]
    pub fn is_lagging(&self) -> bool {
        self.is_lagging
    }

    /// The count of commands that were applied.
    #[must_use]
    pub fn applied_count(&self) -> Index {
        self.applied
    }

    /// All commands below are known; a learner reads from here on.
    #[must_use]
    pub fn learned_end(&self) -> Index {
        self.learned_end
    }

    /// The acceptor's count of committed commands, as this node published it.
    #[must_use]
    pub fn commit(&self) -> Index {
        self.acceptor.commit
    }

    /// The leader's count of commands that all members have applied, as far as this node knows it: exactly if it leads.
    #[must_use]
    pub fn stable(&self) -> Index {
        if self.leads() { self.orders.stable } else { self.acceptor.stable.max(self.learned.base()) }
    }

    /// The number of requests that wait to be ordered.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.orders.waiting()
    }

    /// True if this node leads, and has not learned yet all that it has ordered.
    #[must_use]
    pub fn has_outstanding(&self) -> bool {
        self.leads() && (self.role != Role::Leading || self.learned_end < self.orders.next)
    }

    /// True if this node has proposed a configuration and has no answer.
    #[must_use]
    pub fn is_proposing(&self) -> bool {
        self.proposal.is_some()
    }

    /// Shared: the acceptor pulls from the proposals of this leader the slots of this epoch, from this index on (from the
    /// leader's published stable, if that is larger). `None` if it has nothing to pull.
    #[must_use]
    pub fn pulls_from(&self) -> Option<(NodeId, Epoch, Index)> {
        let Configuration { epoch, leader, acceptor, .. } = self.configuration;
        let is_other = acceptor == self.settings.me && leader != self.settings.me;
        is_other.then_some((leader, epoch, self.acceptor.cursor))
    }

    /// The turn of this node, from 0, among those that may propose themselves as leader: by slot from the leader's on, the
    /// acceptor last, dead members left out. `None` if it may not.
    #[must_use]
    pub fn rank(&self) -> Option<usize> {
        let me = self.settings.me;
        let Configuration { leader, acceptor, .. } = self.configuration;
        if me == leader || !self.may_lead() {
            return None;
        }
        let turn = |node: NodeId| (node == acceptor, node.slot.wrapping_sub(leader.slot));
        let is_before = |&node: &NodeId| node != leader && !self.dead.contains(&node) && turn(node) < turn(me);
        Some(self.members.iter().filter(is_before).count())
    }

    pub(super) fn may_lead(&self) -> bool {
        (self.is_alone || self.members.contains(self.settings.me)) && !self.is_lagging
    }

    pub(super) fn is_by_messages(&self) -> bool {
        self.settings.transport == Transport::Messages
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.settings.rules
    }

    /// Checks an invariant in debug builds. A model of a protocol with a rule left out checks for itself.
    #[track_caller]
    pub(super) fn check(&self, holds: bool, invariant: &str) {
        debug_assert!(holds || self.settings.rules != Rules::ALL, "{invariant}");
    }

    /// Makes the list of counts that of the other members. Those that have joined since are in `joined`, with the counts that
    /// they had then; of any others nothing is known.
    pub(super) fn list_progress(&mut self, joined: &[(NodeId, Index)]) {
        let known = std::mem::take(&mut self.progress);
        let entry = |node| {
            let before = known.iter().find(|entry| entry.node == node).copied();
            let joined = joined.iter().find(|(joined, _)| *joined == node);
            let joined = joined.map(|&(_, applied)| Progress { node, applied, is_heard: true });
            before.or(joined).unwrap_or(Progress { node, applied: 0, is_heard: false })
        };
        self.progress = self.members.iter().filter(|&node| node != self.settings.me).map(entry).collect();
    }
}
