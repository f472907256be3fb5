//! Messages: a new leader goes on from what a former one had, where the acceptor does not answer.
//!
//! A leader that was deposed alive knows all that the acceptor can have accepted from it and from the leaders before it: it
//! adopted that, or ordered it. So it keeps that ([`Former`]), and a new leader whose acceptor is out asks the owners of the
//! earlier epochs of the instance. One that has answered has seen the newer entry, so it becomes complete in no earlier epoch any
//! more, and sends no more proposals. The new leader adopts from the newest epoch that any owner completed, as soon as
//! the owners of all epochs after that one have answered; if all have answered and none completed an epoch, the
//! acceptor has accepted nothing but U. It sends nothing to the acceptor, and chooses another.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::io::{Adopted, Effect};
use super::message::{Entry, Former, Message};
use super::node::{Node, Role};
use crate::{Configuration, Epoch, NodeId, RoleChange};

/// The owners of an instance's epochs, each with the newest of its epochs.
pub(super) type Owners = Arc<[(NodeId, Epoch)]>;

/// The answers of former leaders to a new one; `None` from a node that completed no epoch of the instance.
pub(super) type Answers<B> = BTreeMap<NodeId, Option<Former<B>>>;

/// The owners of a group's first instance, whose only configuration is this one.
pub(super) fn first_owners(configuration: &Configuration) -> Owners {
    [(configuration.leader, configuration.epoch)].into()
}

impl<B: Clone + PartialEq> Node<B> {
    /// The owners that an entry with this configuration names, where it follows the newest.
    pub(super) fn next_owners(&self, configuration: &Configuration) -> Owners {
        let &Configuration { epoch, leader, change, .. } = configuration;
        let is_kept = |&(node, _): &(NodeId, Epoch)| change == RoleChange::Leader && node != leader;
        let earlier = self.owners.iter().copied().filter(is_kept);
        earlier.chain([(leader, epoch)]).collect()
    }

    /// Gives the lead up. A complete leader keeps what it had: it may be the only one that knows it.
    pub(super) fn resign(&mut self) {
        let is_complete = matches!(self.role, Role::Leading | Role::Sealed | Role::Installing);
        self.role = Role::Follower;
        if is_complete && self.is_by_messages() {
            let (epoch, stable) = (self.configuration.epoch, self.orders.stable);
            self.former = Some(Former { epoch, stable, chosen: Arc::new(self.chosen_by_now()) });
        }
    }

    /// The commands that this node had in the newest epoch of the instance that it completed as the leader.
    fn former_of_instance(&self) -> Option<&Former<B>> {
        self.former.as_ref().filter(|former| former.epoch >= self.configuration.inst)
    }

    /// New leader: asks the acceptor what it has accepted, and where that one is out, also the former leaders.
    pub(super) fn ask_what_was_accepted(&mut self, effects: &mut Vec<Effect<B>>) {
        self.prepare(effects);
        self.ask_former_leaders(effects);
    }

    pub(super) fn ask_former_leaders(&mut self, effects: &mut Vec<Effect<B>>) {
        let is_needed = self.is_by_messages() && self.is_out(self.configuration.acceptor);
        if !is_needed || !self.rules().former_leaders_answer {
            return;
        }
        for &(owner, _) in self.owners.clone().iter() {
            if owner != self.settings.me && !self.answers.contains_key(&owner) {
                self.send(owner, Message::AskFormer(self.newest_entry()), effects);
            }
        }
        self.adopt_from_former(effects);
    }

    /// Former leader: tells the leader of a newer epoch what it had. From now on it knows that epoch, and completes none before.
    pub(super) fn asked_as_former(&mut self, from: NodeId, entry: Entry<B>, effects: &mut Vec<Effect<B>>) {
        let epoch = entry.configuration.epoch;
        self.entry_chosen(entry, effects);
        if self.configuration.epoch > epoch {
            return self.send(from, Message::Chosen(self.newest_entry()), effects);
        }
        let former = self.former_of_instance().cloned();
        self.send(from, Message::Former { epoch, former }, effects);
    }

    pub(super) fn former_answered(
        &mut self,
        from: NodeId,
        epoch: Epoch,
        former: Option<Former<B>>,
        effects: &mut Vec<Effect<B>>,
    ) {
        if self.role == Role::Adopting && epoch == self.configuration.epoch {
            self.answers.insert(from, former);
            self.adopt_from_former(effects);
        }
    }

    /// Goes on from the newest epoch that was completed, once it is known which one that is. If the acceptor is well again, it
    /// answers itself, and may have promised nothing yet.
    fn adopt_from_former(&mut self, effects: &mut Vec<Effect<B>>) {
        let Configuration { epoch, acceptor, stable, .. } = self.configuration;
        let newest = self.newest_former();
        let completed = newest.map(|former| former.epoch);
        if !self.has_asked_all_after(completed) || !self.is_out(acceptor) {
            return;
        }
        let adopted = Adopted { epoch, stable, commit: stable, chosen: Vec::new(), accepted: Vec::new() };
        let adopted = newest.map_or(adopted, |former| former.as_adopted(epoch));
        self.adopt(adopted, effects);
    }

    /// The newest of the epochs that were completed, as far as was told.
    fn newest_former(&self) -> Option<&Former<B>> {
        let told = self.answers.values().flatten();
        told.chain(self.former_of_instance()).max_by_key(|former| former.epoch)
    }

    /// True if the owners of all epochs after this one have answered; of all epochs, if there is none.
    fn has_asked_all_after(&self, completed: Option<Epoch>) -> bool {
        let is_before = |owned: Epoch| completed.is_some_and(|completed| owned <= completed);
        let has_answered = |node: NodeId| node == self.settings.me || self.answers.contains_key(&node);
        let is_enough = !self.rules().all_owners_answer && completed.is_some();
        is_enough || self.owners.iter().all(|&(node, owned)| is_before(owned) || has_answered(node))
    }
}

impl<B: Clone> Former<B> {
    /// The same as the answer of an acceptor which has accepted all of it.
    fn as_adopted(&self, epoch: Epoch) -> Adopted<B> {
        let accepted = self.chosen.iter().map(|(index, command)| (*index, self.epoch, command.clone()));
        let accepted = Vec::from_iter(accepted);
        let commit = accepted.last().map_or(self.stable, |&(index, ..)| index + 1);
        Adopted { epoch, stable: self.stable, commit, chosen: Vec::new(), accepted }
    }
}
