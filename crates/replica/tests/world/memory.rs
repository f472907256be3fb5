//! Memory that all processes share and that outlives them: the newest configuration, the visible count, and a segment of
//! each node. Rings are as long as the window, so that slots are lapped.

use std::collections::BTreeMap;

use corecast_replica::one_paxos::{Adopted, Effect, Input, Node};
use corecast_replica::{Command, Configuration, Epoch, Index, NodeId};

use super::{Body, CopyOnWrite};

/// Slots by index modulo the window: index, epoch, command.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Ring {
    slots: BTreeMap<u64, (Index, Epoch, Command<Body>)>,
}

enum Slot {
    Absent,
    Lapped,
    Filled(Epoch, Command<Body>),
}

impl Ring {
    fn write(&mut self, window: u64, epoch: Epoch, first: Index, commands: Vec<Command<Body>>) {
        for (index, command) in (first..).zip(commands) {
            self.slots.insert(index % window, (index, epoch, command));
        }
    }

    fn read(&self, window: u64, index: Index) -> Slot {
        match self.slots.get(&(index % window)) {
            Some(&(at, epoch, command)) if at == index => Slot::Filled(epoch, command),
            Some(&(at, ..)) if at > index => Slot::Lapped,
            _ => Slot::Absent,
        }
    }
}

/// The words that one node has published.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Segment {
    pub(crate) applied: Index,
    stable: Index,
    commit: Index,
    accepted: Ring,
    proposed: Ring,
    proposed_stable: Index,
    proposed_end: Index,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Memory {
    window: u64,
    nodes: Vec<NodeId>,
    pub(crate) configuration: Configuration,
    pub(crate) visible: Index,
    pub(crate) segments: Vec<CopyOnWrite<Segment>>,
}

impl Memory {
    pub(crate) fn new(configuration: Configuration, nodes: Vec<NodeId>, window: u64) -> Self {
        let segments = nodes.iter().map(|_| Segment::default().into()).collect();
        Self { window, nodes, configuration, visible: 0, segments }
    }

    pub(crate) fn at(&self, node: NodeId) -> usize {
        self.nodes.iter().rposition(|&other| other == node).expect("a node of this world")
    }

    pub(crate) fn add(&mut self, node: NodeId, applied: Index) {
        self.nodes.push(node);
        self.segments.push(Segment { applied, ..Segment::default() }.into());
    }

    pub(crate) fn execute(&mut self, at: usize, effect: Effect<Body>) -> Option<Input<Body>> {
        let window = self.window;
        let segment = &mut *self.segments[at];
        match effect {
            Effect::Propose { epoch, stable, first, commands } => {
                segment.proposed_stable = segment.proposed_stable.max(stable);
                segment.proposed_end = first + commands.len() as u64;
                segment.proposed.write(window, epoch, first, commands);
            }
            Effect::Write { epoch, stable, first, commands } => {
                segment.stable = stable;
                segment.accepted.write(window, epoch, first, commands);
            }
            Effect::Commit { end, stable, .. } => {
                segment.stable = stable;
                segment.commit = segment.commit.max(end);
            }
            Effect::Erase { first, end } => segment.accepted.slots.retain(|_, slot| !(first..end).contains(&slot.0)),
            Effect::CheckEpoch { epoch, end } => {
                return Some(Input::EpochChecked { epoch, end, is_newest: epoch == self.configuration.epoch });
            }
            Effect::ProposeConfiguration(proposed) => return Some(self.propose(proposed)),
            Effect::ReadLog { configuration, from } => {
                return Some(Input::Adopted(self.read_log(&configuration, from)));
            }
            _ => {}
        }
        None
    }

    fn propose(&mut self, proposed: Configuration) -> Input<Body> {
        if self.configuration.epoch + 1 != proposed.epoch {
            return Input::ConfigurationSeen(self.configuration);
        }
        self.configuration = proposed;
        Input::ConfigurationWon(proposed)
    }

    fn read_log(&self, configuration: &Configuration, from: Index) -> Adopted<Body> {
        let acceptor = &self.segments[self.at(configuration.acceptor)];
        let source = &self.segments[self.at(configuration.source)].proposed;
        let mut stable = from.max(acceptor.stable);
        let (mut chosen, mut accepted) = (Vec::new(), Vec::new());
        for index in configuration.stable..configuration.hi {
            match source.read(self.window, index) {
                Slot::Filled(_, command) => chosen.push((index, command)),
                Slot::Lapped => stable = stable.max(index + 1),
                Slot::Absent => {}
            }
        }
        let first = stable;
        for index in first.. {
            match acceptor.accepted.read(self.window, index) {
                Slot::Filled(epoch, command) => accepted.push((index, epoch, command)),
                Slot::Lapped => stable = stable.max(index + 1),
                Slot::Absent => break,
            }
        }
        Adopted { epoch: configuration.epoch, stable, commit: acceptor.commit, chosen, accepted }
    }

    /// A newer configuration than the node knows.
    pub(crate) fn newer_configuration(&self, node: &Node<Body>) -> Option<Input<Body>> {
        let is_newer = self.configuration.epoch > node.configuration().epoch;
        is_newer.then_some(Input::ConfigurationSeen(self.configuration))
    }

    /// Proposals that an acceptor has not pulled.
    pub(crate) fn pull(&self, node: &Node<Body>) -> Option<Input<Body>> {
        let (leader, epoch, from) = node.pulls_from()?;
        let leader = &self.segments[self.at(leader)];
        let stable = leader.proposed_stable;
        let first = from.max(stable);
        let commands = |index| match leader.proposed.read(self.window, index) {
            Slot::Filled(written, command) if written == epoch => Some(command),
            _ => None,
        };
        let commands = Vec::from_iter((first..leader.proposed_end).map_while(commands));
        (!commands.is_empty()).then_some(Input::Accept { epoch, stable, first, commands })
    }

    /// Committed commands that a learner has not read.
    pub(crate) fn learn(&self, node: &Node<Body>) -> Option<Input<Body>> {
        let acceptor = node.configuration().acceptor;
        if acceptor == node.id() {
            return None;
        }
        let acceptor = &self.segments[self.at(acceptor)];
        let (commit, mut stable, mut first) = (acceptor.commit, acceptor.stable, node.learned_end());
        let mut commands = Vec::new();
        let from = first;
        for index in from..commit {
            match acceptor.accepted.read(self.window, index) {
                Slot::Filled(_, command) => commands.push(command),
                Slot::Lapped => {
                    first = index + 1;
                    stable = stable.max(first);
                    commands.clear();
                }
                Slot::Absent => break,
            }
        }
        let is_news = !commands.is_empty() || (stable > first && !node.is_lagging());
        if is_news { Some(Input::Learn { stable, first, commands }) } else { self.learn_chosen(node) }
    }

    /// Commands of U that the acceptor did not get: its leader died first.
    fn learn_chosen(&self, node: &Node<Body>) -> Option<Input<Body>> {
        let (configuration, first) = (node.configuration(), node.learned_end());
        let source = &self.segments[self.at(configuration.source)].proposed;
        let command = |index| match source.read(self.window, index) {
            Slot::Filled(_, command) => Some(command),
            _ => None,
        };
        let from = if first < configuration.stable { configuration.hi } else { first };
        let commands = Vec::from_iter((from..configuration.hi).map_while(command));
        (!commands.is_empty()).then_some(Input::Learn { stable: configuration.stable, first, commands })
    }

    /// Counts of members.
    pub(crate) fn progress(&self) -> impl Iterator<Item = (NodeId, Index)> + '_ {
        self.nodes.iter().zip(&self.segments).map(|(&node, segment)| (node, segment.applied))
    }
}
