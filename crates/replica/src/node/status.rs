//! How a node and its group are.

use std::time::Duration;

use super::driver::Driver;
use super::inner::Inner;
use crate::one_paxos::Effect;
use crate::runtime::{Member, WaitCalls};
use crate::segment::Body;
use crate::{Epoch, Index, NodeId, StateMachine};

/// Exact counts of what this node has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Commands that this node, as leader, wrote for another acceptor.
    pub proposed: u64,
    /// Commands that this node, as acceptor, wrote.
    pub accepted: u64,
    /// Runs of commands that it committed.
    pub commits: u64,
    /// Requests that it handed to another leader.
    pub forwarded: u64,
    /// Compare-and-swaps for a role.
    pub role_attempts: u64,
    /// New configurations that it has seen.
    pub role_changes: u64,
    /// Nodes that it held for stuck.
    pub suspicions: u64,
    /// Times that it found something to do.
    pub turns: u64,
    /// Requests of its own, as leader and acceptor, with which it looked for those of the other nodes.
    pub served: u64,
    /// Times that it came back by a snapshot.
    pub rejoins: u64,
    /// Counts of committed commands that it told its children in the learn tree.
    pub relays: u64,
    /// Times that its parent in the learn tree said nothing of what the acceptor had committed.
    pub silences: u64,
    /// Bytes of operations too long for a slot of the log that it wrote for all others.
    pub bulk_written: u64,
    /// Bytes of such operations that it read to apply them.
    pub bulk_read: u64,
    /// Bytes with which it answered at cuts through the group.
    pub cut_bytes: u64,
    /// System calls for the sake of waiting.
    pub waits: WaitCalls,
}

impl Counters {
    pub(super) fn count(&mut self, effect: &Effect<Body>) {
        match effect {
            Effect::Propose { commands, .. } => self.proposed += commands.len() as u64,
            Effect::Write { commands, .. } => self.accepted += commands.len() as u64,
            Effect::Commit { .. } => self.commits += 1,
            Effect::Forward { commands, .. } => self.forwarded += commands.len() as u64,
            Effect::ProposeConfiguration(_) => self.role_attempts += 1,
            _ => {}
        }
    }

    /// The bytes of a body that were copied between a buffer and the memory of a node.
    #[inline]
    pub(super) fn bulk_bytes(body: &Body) -> u64 {
        match body {
            Body::Bulk(place) => place.len.into(),
            Body::Inline(..) => 0,
        }
    }
}

/// How a node and its group are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// This node.
    pub me: NodeId,
    /// The newest configuration that it knows.
    pub epoch: Epoch,
    /// The node that leads.
    pub leader: NodeId,
    /// The node that accepts.
    pub acceptor: NodeId,
    /// The count of commands that it has applied.
    pub applied: Index,
    /// The count of commands that it knows to be decided.
    pub commit: Index,
    /// The count of commands that all members are known to have applied.
    pub stable: Index,
    /// The count of commands whose effect anyone may have seen.
    pub visible: Index,
    /// A hash of the commands applied: equal in all replicas at equal counts.
    pub prefix: u128,
    /// The members, as of the commands applied.
    pub members: Vec<NodeId>,
    /// True while it is one of them.
    pub is_member: bool,
    /// The time without a sign of life after which this node holds one with work for stuck, at the moment: see
    /// [`Config::patience`](crate::Config::patience).
    pub patience: Duration,
    /// The reason why it does no more, if it does not.
    pub ended: Option<String>,
    /// Counts of the things that it has done.
    pub counters: Counters,
}

impl Status {
    pub(super) fn of<S: StateMachine>(inner: &Inner<S>, driver: &Driver<S>) -> Self {
        let configuration = driver.core.configuration();
        Self {
            me: inner.me(),
            epoch: configuration.epoch,
            leader: configuration.leader,
            acceptor: configuration.acceptor,
            applied: inner.applied(),
            commit: driver.core.learned_end(),
            stable: driver.core.stable(),
            visible: inner.control.visible(),
            prefix: driver.system.prefix(),
            members: driver.core.members().iter().collect(),
            is_member: driver.is_member(),
            patience: driver.patience.limit(),
            ended: inner.ending.describe(),
            counters: Counters {
                relays: driver.shm.relay.relays,
                silences: driver.shm.relay.silences,
                waits: inner.callers.wait_calls(&inner.naps),
                ..driver.counters
            },
        }
    }
}
