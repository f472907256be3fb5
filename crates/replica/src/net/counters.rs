//! Exact counts of what a node has sent.

use super::wire::Body;
use crate::one_paxos::Message;
use crate::runtime::WaitCalls;

/// Exact counts of the messages that a node has sent to others, none of them to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Requests handed to the leader.
    pub requests: u64,
    /// Proposals, by the leader to the acceptor.
    pub accepts: u64,
    /// The acceptor's words about decided commands, one for each receiver.
    pub learns: u64,
    /// Words of others that were passed on along the tree.
    pub relayed: u64,
    /// Messages that were put into the ring, once for all.
    pub multicasts: u64,
    /// All others: progress, what is asked for again, and changes of roles.
    pub others: u64,
    /// Messages that were given up, as too many waited for room.
    pub lost: u64,
    /// Messages that came and were none, or were about commands far beyond the log.
    pub damaged: u64,
    /// New configurations that it has seen.
    pub role_changes: u64,
    /// Nodes that it held for stuck.
    pub suspicions: u64,
    /// The number of times that it came back as another incarnation.
    pub rejoins: u64,
    /// System calls for the sake of waiting.
    pub waits: WaitCalls,
}

impl Counters {
    pub(super) fn count(&mut self, message: &Message<Body>, receivers: u64) {
        let counter = match message {
            Message::Request(_) => &mut self.requests,
            Message::Accept { .. } => &mut self.accepts,
            Message::Learn { .. } => &mut self.learns,
            _ => &mut self.others,
        };
        *counter += receivers;
    }
}
