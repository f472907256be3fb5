//! Messages: the nodes that agree on the next configuration. Each entry of the configuration log names those of the entry
//! after it; the first founders, an odd number, are those of the first.
//!
//! All that propose at a position know the entry before it, so they ask the same voters, and any two majorities of these have
//! one in common, whatever the voters of other positions are. So a proposer may name any nodes. A proposer names others than
//! before where some are dead or out, or where members have come since: as many as the group began with, if that many live.
//!
//! The number is odd. One voter more, of an even number, makes the majority larger by one and the deaths that it survives no
//! more. Of two members that are left one alone votes, the leader that proposes it: it survives the death of the other,
//! where with two voters the death of either would be the end.

use std::sync::Arc;

use super::io::Effect;
use super::node::{Node, Role};
use crate::{Configuration, NodeId, RoleChange};

impl<B: Clone + PartialEq> Node<B> {
    /// Messages: the nodes that vote on the configuration after [`configuration`](Self::configuration).
    #[must_use]
    pub fn voters(&self) -> &[NodeId] {
        &self.voters
    }

    /// Messages: true if a configuration is to be proposed for the voters that it names: some are dead or out, or too few.
    #[must_use]
    pub fn wants_other_voters(&self) -> bool {
        let is_out = |&voter: &NodeId| !self.may_vote(voter);
        self.voters.iter().any(is_out) || self.voters.len() < self.number_of_voters()
    }

    /// The voters on the first configuration after that of these founders.
    pub(super) fn first_voters(founders: &[NodeId]) -> Arc<[NodeId]> {
        founders[..odd(founders.len())].into()
    }

    fn may_vote(&self, node: NodeId) -> bool {
        self.members.contains(node) && !self.dead.contains(&node)
    }

    /// The number of voters among the members that live: at most as many as the group began with, and odd.
    fn number_of_voters(&self) -> usize {
        let living = self.members.iter().filter(|&node| self.may_vote(node)).count();
        odd(living.min(self.settings.founders.len()))
    }

    /// The voters that an entry proposed by this node names.
    pub(super) fn next_voters(&self) -> Arc<[NodeId]> {
        if !self.wants_other_voters() {
            return Arc::clone(&self.voters);
        }
        let mut voters = Vec::from_iter(self.members.iter().filter(|&node| self.may_vote(node)));
        let is_other = |node: NodeId| node != self.settings.me;
        voters.sort_by_key(|&node| (is_other(node), self.slow.contains(&node), !self.voters.contains(&node), node));
        voters.truncate(self.number_of_voters());
        voters.into()
    }

    /// The leader takes its role anew, under a configuration that names other voters.
    pub(super) fn renew_voters(&mut self, effects: &mut Vec<Effect<B>>) {
        if self.role != Role::Leading || self.proposal.is_some() || !self.may_lead() || !self.wants_other_voters() {
            return;
        }
        let Some(epoch) = self.configuration.epoch.checked_add(1) else { return };
        self.check(self.configuration.leader == self.settings.me, "only the leader takes its role anew");
        let configuration = Configuration { epoch, change: RoleChange::Leader, ..self.configuration };
        self.propose_configuration(configuration, self.chosen.clone(), effects);
    }

    /// The leader has its role anew. It has led the epoch before, so it has all that the acceptor may have accepted: nothing is
    /// to be adopted, which could block if the acceptor has died meanwhile. The acceptor has to obey the new epoch, or another one
    /// is chosen.
    pub(super) fn go_on_leading(&mut self, effects: &mut Vec<Effect<B>>) {
        self.role = Role::Installing;
        self.prepare(effects);
    }

    /// The nodes that this one asks, and whose answers it counts.
    pub(super) fn asked_voters(&self) -> Arc<[NodeId]> {
        if self.rules().voters_of_entry { Arc::clone(&self.voters) } else { self.next_voters() }
    }
}

/// The largest odd number up to this one; 0 for 0.
fn odd(count: usize) -> usize {
    count - usize::from(count > 0 && count % 2 == 0)
}
