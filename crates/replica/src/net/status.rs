//! How a node and its group are.

use std::time::Duration;

use super::counters::Counters;
use super::driver::Driver;
use super::inner::Inner;
use crate::runtime::Member;
use crate::{Epoch, Index, NodeId, StateMachine};

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
    /// A hash of the commands applied: equal in all replicas at equal counts.
    pub prefix: u128,
    /// The members, as of the commands applied.
    pub members: Vec<NodeId>,
    /// The nodes that vote on the next configuration, as the newest one that this node knows says.
    pub voters: Vec<NodeId>,
    /// True while it is a member.
    pub is_member: bool,
    /// The time without a sign of life after which this node holds one with work for stuck, at the moment: see
    /// [`Config::patience`](crate::net::Config::patience).
    pub patience: Duration,
    /// The reason why it does no more, if it does not.
    pub ended: Option<String>,
    /// Counts of what it has sent.
    pub counters: Counters,
}

impl Status {
    pub(super) fn of<S: StateMachine>(inner: &Inner<S>, driver: &Driver<S>) -> Self {
        let configuration = driver.core.configuration();
        Self {
            me: inner.id(),
            epoch: configuration.epoch,
            leader: configuration.leader,
            acceptor: configuration.acceptor,
            applied: inner.applied(),
            commit: driver.core.learned_end(),
            stable: driver.core.stable(),
            prefix: driver.system.prefix(),
            members: driver.core.members().iter().collect(),
            voters: driver.core.voters().to_vec(),
            is_member: driver.is_member(),
            patience: driver.patience.limit(),
            ended: inner.ending.describe().or_else(|| inner.execute_error().map(|error| error.to_string())),
            counters: Counters { waits: inner.callers.wait_calls(&inner.naps), ..driver.transport.counters },
        }
    }
}
