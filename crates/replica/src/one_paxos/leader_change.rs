//! Leader change: a node takes the next epoch, and goes on from what was accepted before.

use super::io::{Adopted, Effect};
use super::log::Log;
use super::message::Message;
use super::node::{Node, Role};
use super::order::Orders;
use crate::{Command, Configuration, NodeId, Op, RoleChange, SessionId};

impl<B: Clone + PartialEq> Node<B> {
    /// The runtime's word about another node.
    pub(super) fn suspect(&mut self, node: NodeId, is_dead: bool, effects: &mut Vec<Effect<B>>) {
        if node == self.settings.me {
            return;
        }
        if self.members.contains(node) {
            if is_dead {
                self.dead.insert(node)
            } else {
                self.slow.insert(node)
            };
        }
        let Configuration { leader, acceptor, .. } = self.configuration;
        if node == leader {
            return self.propose_itself(effects);
        }
        // With messages, the acceptor that was chosen last may be mute, too, and the proposal may need another ballot.
        let may_change = match self.role {
            Role::Leading | Role::Installing => true,
            Role::Adopting => !self.rules().adopt_before_acceptor_change,
            Role::Sealed | Role::Follower => false,
        };
        if may_change && node == acceptor {
            self.change_acceptor(effects);
        } else if self.role == Role::Adopting && node == acceptor {
            self.ask_former_leaders(effects);
        } else if self.role == Role::Sealed {
            self.propose_again(effects);
        }
        self.order_waiting(effects);
    }

    /// L1: proposes itself as leader of exactly the next epoch.
    #[cold]
    pub(super) fn propose_itself(&mut self, effects: &mut Vec<Effect<B>>) {
        if self.leads() || !self.may_lead() {
            return;
        }
        if self.proposal.is_some() {
            return self.propose_again(effects);
        }
        let Some(epoch) = self.configuration.epoch.checked_add(1) else { return };
        let leader = self.settings.me;
        let configuration = Configuration { epoch, change: RoleChange::Leader, leader, ..self.configuration };
        self.propose_configuration(configuration, self.chosen.clone(), effects);
    }

    /// The own proposal is the newest configuration.
    pub(super) fn won(&mut self, configuration: Configuration, effects: &mut Vec<Effect<B>>) {
        if self.proposal != Some(configuration) || configuration.epoch <= self.configuration.epoch {
            return;
        }
        self.proposal = None;
        self.enter(configuration);
        match configuration.change {
            RoleChange::Leader if self.role == Role::Leading => self.go_on_leading(effects),
            RoleChange::Leader => self.begin_adopting(effects),
            RoleChange::Acceptor => self.install_acceptor(effects),
        }
    }

    /// Another's proposal is the newest configuration.
    pub(super) fn seen(&mut self, configuration: Configuration, effects: &mut Vec<Effect<B>>) {
        if configuration.epoch <= self.configuration.epoch {
            return;
        }
        if self.proposal.is_some_and(|proposal| proposal.epoch <= configuration.epoch) {
            self.proposal = None;
        }
        let led = self.leads();
        if led {
            self.resign();
        }
        self.enter(configuration);
        if led {
            let waiting = self.orders.take_waiting();
            self.orders = Orders::new(self.orders.stable);
            self.forward(waiting, effects);
        }
        if self.is_by_messages() {
            self.send_progress(effects);
        }
    }

    fn enter(&mut self, configuration: Configuration) {
        self.configuration = configuration;
        self.former.take_if(|former| former.epoch < configuration.inst);
        if !self.is_by_messages() && configuration.acceptor == self.settings.me {
            self.acceptor.take_role(&configuration, &self.settings.rules);
        }
    }

    /// L2: forgets what it had ordered in earlier epochs, and asks what was accepted.
    fn begin_adopting(&mut self, effects: &mut Vec<Effect<B>>) {
        self.role = Role::Adopting;
        self.orders = Orders::new(self.configuration.stable);
        self.progress.iter_mut().for_each(|member| member.is_heard = false);
        let configuration = self.configuration;
        self.answers.clear();
        if self.is_by_messages() {
            self.ask_what_was_accepted(effects);
        } else {
            effects.push(Effect::ReadLog { configuration, from: configuration.stable });
        }
    }

    /// Messages: asks the acceptor what it has accepted.
    pub(super) fn prepare(&mut self, effects: &mut Vec<Effect<B>>) {
        self.send(self.configuration.acceptor, Message::Prepare(self.newest_entry()), effects);
    }

    /// L4: goes on from U and what the acceptor has accepted in this instance.
    pub(super) fn adopt(&mut self, adopted: Adopted<B>, effects: &mut Vec<Effect<B>>) {
        if adopted.epoch != self.configuration.epoch || self.role != Role::Adopting {
            return;
        }
        let stable = adopted.stable.max(self.configuration.stable);
        if self.rules().respect_stable && self.applied < stable {
            return self.lag(effects);
        }
        let mut orders = Orders::new(if self.rules().respect_stable { stable } else { stable.min(self.applied) });
        self.take_over(adopted, &mut orders.proposals);
        self.fill_holes(&mut orders);
        let waiting = self.orders.take_waiting();
        self.progress.iter_mut().for_each(|member| member.applied = orders.stable.max(member.applied));
        self.orders = orders;
        self.role = Role::Leading;
        self.raise_stable();
        // Those that another leader gave an index are noted as in flight by now, and are not put in line again.
        self.put_in_line(waiting);
        if self.prefers_other_acceptor() {
            self.change_acceptor(effects);
        } else {
            self.send_all_proposals(effects);
        }
        self.order_waiting(effects);
    }

    /// Takes what was accepted before as its own proposals. Entries older than the instance are in U.
    fn take_over(&self, adopted: Adopted<B>, proposals: &mut Log<Command<B>>) {
        let (rules, inst) = (self.rules(), self.configuration.inst);
        if rules.leader_starts_from_chosen {
            let chosen = if self.is_by_messages() { self.chosen.to_vec() } else { adopted.chosen };
            chosen.into_iter().for_each(|(index, command)| proposals.set(index, command));
        }
        for (index, epoch, command) in adopted.accepted {
            let command = if rules.prepare_answers_commands { Some(command) } else { self.learned.get(index).cloned() };
            let is_of_instance = epoch >= inst || !rules.skip_older_slots;
            if is_of_instance && (index < adopted.commit || rules.adopt_uncommitted) {
                command.into_iter().for_each(|command| proposals.set(index, command));
            }
        }
    }

    /// Puts nothing at indexes that have no command. One that this node has applied was decided: then it was trimmed, and all
    /// below it.
    fn fill_holes(&self, orders: &mut Orders<B>) {
        let next = self.applied.max(orders.proposals.end());
        for index in orders.stable..next {
            if orders.proposals.get(index).is_some() {
                continue;
            }
            if index < self.applied {
                orders.stable = index + 1;
            } else {
                orders.proposals.set(index, Command { session: SessionId::SYSTEM, rid: 0, op: Op::Noop });
            }
        }
        orders.proposals.trim(orders.stable);
        orders.next = next;
        orders.note_proposals_from(self.applied);
    }
}
