//! The invariants that no node can see alone.

use std::collections::BTreeMap;

use corecast_replica::one_paxos::Node;
use corecast_replica::system::Members;
use corecast_replica::{Command, Configuration, Epoch, Index, Op, SessionId};

use super::Body;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Monitor {
    /// The members after the first `counted` commands.
    members: Members,
    counted: Index,
    /// The commands that any node has applied, dead ones included.
    decided: BTreeMap<Index, Command<Body>>,
    shown: Index,
    /// Where each request was run, and the last of each session.
    runs: BTreeMap<(SessionId, u32), Index>,
    last_run: BTreeMap<SessionId, u32>,
    /// Messages: the configurations that any node has known. Shared memory has one word for them.
    configurations: BTreeMap<Epoch, Configuration>,
    /// The hash of each prefix.
    prefixes: BTreeMap<Index, u128>,
    violation: Option<String>,
}

impl Monitor {
    pub(crate) fn new(members: Members) -> Self {
        Self {
            members,
            counted: 0,
            decided: BTreeMap::new(),
            shown: 0,
            runs: BTreeMap::new(),
            last_run: BTreeMap::new(),
            configurations: BTreeMap::new(),
            prefixes: BTreeMap::new(),
            violation: None,
        }
    }

    /// I1.
    pub(crate) fn applies(&mut self, at: usize, index: Index, command: &Command<Body>) {
        let decided = self.decided.entry(index).or_insert(*command);
        if *decided != *command {
            self.violation = Some(format!("I1: process {at} applies {command:?} at {index}, another {decided:?}"));
        }
        self.shown = self.shown.max(index + 1);
        while let Some(command) = self.decided.get(&self.counted) {
            match command.op {
                Op::Join { node, boot, .. } => _ = self.members.join(node, boot),
                Op::Leave { node, .. } => _ = self.members.leave(node),
                _ => {}
            }
            self.counted += 1;
        }
    }

    /// True if the node's configuration is the one that is known of its epoch.
    pub(crate) fn knows_configuration(&self, node: &Node<Body>) -> bool {
        let found = node.configuration();
        self.configurations.get(&found.epoch) == Some(found)
    }

    /// I2.
    pub(crate) fn check_configuration(&mut self, node: &Node<Body>) {
        let found = *node.configuration();
        let known = *self.configurations.entry(found.epoch).or_insert(found);
        if known != found {
            self.violation = Some(format!("I2: {} knows {found:?}, another node {known:?}", node.id()));
        }
    }

    /// I10, and that the requests of a session are run in the order of their numbers: replicas that come to an index later run
    /// there what the first one ran.
    pub(crate) fn runs(&mut self, index: Index, command: &Command<Body>) {
        let at = *self.runs.entry((command.session, command.rid)).or_insert(index);
        if at != index {
            self.violation = Some(format!("I10: {command:?} is run at {index} and at {at}"));
        }
        let last = self.last_run.entry(command.session).or_default();
        if command.rid > *last + 1 {
            self.violation = Some(format!("{command:?} is run at {index}, and the last of its session was {last}"));
        }
        *last = command.rid.max(*last);
    }

    /// I11.
    pub(crate) fn check_prefix(&mut self, count: Index, prefix: u128) {
        if *self.prefixes.entry(count).or_insert(prefix) != prefix {
            self.violation = Some(format!("I11: replicas differ after {count} commands"));
        }
    }

    /// True if a node is a member by the account of the node that has applied most.
    pub(crate) fn is_member(&self, node: &Node<Body>) -> bool {
        self.members.contains(node.id())
    }

    /// The count of commands whose effect was seen.
    pub(crate) fn shown(&self) -> Index {
        self.shown
    }

    /// Messages: the configurations that any node has known.
    pub(crate) fn configurations(&self) -> &BTreeMap<Epoch, Configuration> {
        &self.configurations
    }

    pub(crate) fn decided(&self) -> &BTreeMap<Index, Command<Body>> {
        &self.decided
    }

    pub(crate) fn violate(&mut self, text: String) {
        self.violation = Some(text);
    }

    pub(crate) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    pub(crate) fn is_violated(&self) -> bool {
        self.violation.is_some()
    }
}
