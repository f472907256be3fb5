//! Acceptor change: the leader chooses another acceptor, which begins with all that may have been decided.

use std::sync::Arc;

use super::io::{Effect, Transport};
use super::node::{Node, Role};
use super::order::runs;
use crate::{Command, Configuration, Index, NodeId, RoleChange};

impl<B: Clone + PartialEq> Node<B> {
    /// True if the acceptor is not where it should be, or does not answer.
    pub(super) fn prefers_other_acceptor(&self) -> bool {
        let acceptor = self.configuration.acceptor;
        self.next_acceptor() != acceptor
            && match self.settings.transport {
                Transport::Shared { is_fused: true } => true,
                _ => acceptor == self.settings.me || self.is_out(acceptor),
            }
    }

    pub(super) fn is_out(&self, node: NodeId) -> bool {
        let is_leaving = self.orders.leaving.contains(&node);
        !self.members.contains(node) || self.dead.contains(&node) || self.slow.contains(&node) || is_leaving
    }

    /// The node to choose: itself where memory outlives it and roles are fused, else the one that the runtime prefers, if it
    /// is well, else the next by slot that is, itself last.
    fn next_acceptor(&self) -> NodeId {
        let me = self.settings.me;
        if self.settings.transport == (Transport::Shared { is_fused: true }) {
            return me;
        }
        if let Some(preferred) = self.preferred_acceptor.filter(|&node| self.may_accept(node)) {
            return preferred;
        }
        let well = self.members.iter().filter(|&node| self.may_accept(node));
        well.min_by_key(|node| node.slot.wrapping_sub(me.slot)).unwrap_or(me)
    }

    /// The leader chooses another acceptor if that is not where it should be: a node that leads and accepts takes with it, over
    /// messages, all that was decided lately.
    pub(super) fn settle_acceptor(&mut self, effects: &mut Vec<Effect<B>>) {
        if self.role == Role::Leading && self.prefers_other_acceptor() {
            self.change_acceptor(effects);
        }
    }

    /// A1 to A3: seals the acceptor and proposes another with everything from `stable` on.
    #[cold]
    pub(super) fn change_acceptor(&mut self, effects: &mut Vec<Effect<B>>) {
        let Some(epoch) = self.configuration.epoch.checked_add(1) else { return };
        if self.proposal.is_some() || self.next_acceptor() == self.configuration.acceptor {
            return;
        }
        self.check(self.role != Role::Adopting, "I4: only a leader that has adopted chooses an acceptor");
        let me = self.settings.me;
        let chosen = self.chosen_by_now();
        let hi = chosen.last().map_or(self.orders.stable, |(index, _)| index + 1);
        let stable = if self.rules().configuration_carries_stable { self.orders.stable } else { 0 };
        let acceptor = self.next_acceptor();
        let change = RoleChange::Acceptor;
        let configuration = Configuration { epoch, change, leader: me, acceptor, inst: epoch, stable, source: me, hi };
        self.role = Role::Sealed;
        if !self.is_by_messages() {
            self.publish_chosen(&configuration, &chosen, effects);
        }
        self.propose_configuration(configuration, Arc::new(chosen), effects);
    }

    /// Shared: writes U among the own proposals, in the terms of the epoch to come.
    fn publish_chosen(
        &self,
        configuration: &Configuration,
        chosen: &[(Index, Command<B>)],
        effects: &mut Vec<Effect<B>>,
    ) {
        let (epoch, stable) = (configuration.epoch, self.orders.stable);
        for (first, commands) in runs(chosen.iter().cloned()) {
            effects.push(Effect::Propose { epoch, stable, first, commands });
        }
    }

    /// A2: all that was proposed or learned from `stable` on, acknowledged or not.
    pub(super) fn chosen_by_now(&self) -> Vec<(Index, Command<B>)> {
        let end = self.orders.next.max(self.learned.end());
        let command = |index| {
            if !self.rules().chosen_holds_learned && self.learned.get(index).is_some() {
                return None;
            }
            self.orders.proposals.get(index).or_else(|| self.learned.get(index))
        };
        (self.orders.stable..end).filter_map(|index| Some((index, command(index)?.clone()))).collect()
    }

    /// A4: the acceptor is chosen; it gets everything in the terms of the new epoch.
    pub(super) fn install_acceptor(&mut self, effects: &mut Vec<Effect<B>>) {
        if self.is_by_messages() {
            self.role = Role::Installing;
            return self.prepare(effects);
        }
        self.role = Role::Leading;
        // Another acceptor finds U where `publish_chosen` has put it.
        if self.configuration.acceptor == self.settings.me {
            self.send_all_proposals(effects);
        }
        self.order_waiting(effects);
    }

    /// Messages: the chosen acceptor has answered.
    pub(super) fn acceptor_is_installed(&mut self, effects: &mut Vec<Effect<B>>) {
        self.role = Role::Leading;
        self.send_all_proposals(effects);
        self.order_waiting(effects);
    }
}
