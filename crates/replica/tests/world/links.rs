//! Messages under way: one line from each node to each other.

use std::collections::{BTreeMap, VecDeque};

use corecast_replica::NodeId;
use corecast_replica::one_paxos::Message;

use super::Body;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Links {
    lines: BTreeMap<(NodeId, NodeId), VecDeque<Message<Body>>>,
}

impl Links {
    pub(crate) fn send(&mut self, from: NodeId, to: NodeId, message: Message<Body>) {
        self.lines.entry((from, to)).or_default().push_back(message);
    }

    /// Takes the message at a place of a line.
    pub(crate) fn take(&mut self, from: NodeId, to: NodeId, place: usize) -> Option<Message<Body>> {
        let line = self.lines.get_mut(&(from, to))?;
        let message = line.remove(place);
        if line.is_empty() {
            self.lines.remove(&(from, to));
        }
        message
    }

    /// The lines that are not empty: from, to, messages.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, NodeId, &VecDeque<Message<Body>>)> {
        self.lines.iter().map(|(&(from, to), line)| (from, to, line))
    }

    /// Keeps the messages, by sender and receiver, that may still come.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(NodeId, NodeId, &Message<Body>) -> bool) {
        for (&(from, to), line) in &mut self.lines {
            line.retain(|message| is_kept(from, to, message));
        }
        self.lines.retain(|_, line| !line.is_empty());
    }
}
