//! The protocol where nodes share no memory: what each message does, and what is sent again.

use super::io::{Adopted, Effect};
use super::message::{Entry, Message};
use super::node::{Node, Role};
use super::order::runs;
use crate::{Command, Epoch, Index, NodeId};

/// The most commands of one answer to a learner that lacks some.
const RESENT: usize = 256;

impl<B: Clone + PartialEq> Node<B> {
    pub(super) fn send(&mut self, to: NodeId, message: Message<B>, effects: &mut Vec<Effect<B>>) {
        if to == self.settings.me {
            self.to_self.push_back(message);
        } else {
            effects.push(Effect::Send { to, message });
        }
    }

    /// Takes the messages to itself.
    pub(super) fn receive_own(&mut self, effects: &mut Vec<Effect<B>>) {
        while let Some(message) = self.to_self.pop_front() {
            self.receive(self.settings.me, message, effects);
        }
    }

    pub(super) fn receive(&mut self, from: NodeId, message: Message<B>, effects: &mut Vec<Effect<B>>) {
        match message {
            Message::Request(commands) => self.requested(commands, effects),
            Message::Accept { epoch, stable, first, commands } => {
                if !self.refuses(from, epoch, effects) {
                    self.accept_and_tell(stable, first, commands, effects);
                }
            }
            Message::Learn { stable, first, commands } => self.learn(stable, first, commands, effects),
            Message::Missing { epoch, first } => self.send_missing(from, epoch, first, effects),
            Message::Prepare(entry) => self.prepared(from, entry, effects),
            Message::PrepareResponse(adopted) => self.prepare_answered(adopted, effects),
            Message::AskFormer(entry) => self.asked_as_former(from, entry, effects),
            Message::Former { epoch, former } => self.former_answered(from, epoch, former, effects),
            Message::Chosen(entry) => self.entry_chosen(entry, effects),
            Message::Progress { applied } => self.progressed(from, applied, effects),
            Message::Ask { position, ballot } => self.asked(from, position, ballot, effects),
            Message::Promise { position, ballot, vote } => self.promised(from, position, ballot, vote, effects),
            Message::Vote { ballot, entry } => self.asked_to_vote(from, ballot, entry, effects),
            Message::Voted { position, ballot } => self.voted(from, position, ballot, effects),
            Message::Refused { promised, .. } => self.refused(promised),
        }
    }

    /// Acceptor: true if it does not obey the epoch; then a stale sender is told of the newer configuration.
    fn refuses(&mut self, from: NodeId, epoch: Epoch, effects: &mut Vec<Effect<B>>) -> bool {
        if epoch < self.configuration.epoch && epoch != self.acceptor.hpn {
            self.send(from, Message::Chosen(self.newest_entry()), effects);
        }
        epoch != self.acceptor.hpn
    }

    pub(super) fn newest_entry(&self) -> Entry<B> {
        let (chosen, voters, owners) = (self.chosen.clone(), self.voters.clone(), self.owners.clone());
        Entry { configuration: self.configuration, chosen, voters, owners }
    }

    /// N2: all that it accepts is decided.
    fn accept_and_tell(
        &mut self,
        stable: Index,
        first: Index,
        mut commands: Vec<Command<B>>,
        effects: &mut Vec<Effect<B>>,
    ) {
        self.acceptor.raise_stable(stable);
        self.acceptor.log.trim(self.acceptor.stable);
        let epoch = self.acceptor.hpn;
        let stable = self.acceptor.stable;
        let below = if self.rules().respect_stable { stable.saturating_sub(first) as usize } else { 0 };
        commands.drain(..below.min(commands.len()));
        let first = first + below as u64;
        for (index, command) in (first..).zip(&commands) {
            if let Some((_, known)) = self.acceptor.log.get(index) {
                self.check(known == command, "I7: an index that was accepted gets no other command");
            }
            self.acceptor.log.set(index, (epoch, command.clone()));
        }
        if commands.is_empty() {
            return;
        }
        self.acceptor.commit = self.acceptor.commit.max(first + commands.len() as u64);
        let message = Message::Learn { stable, first, commands: commands.clone() };
        effects.push(Effect::Broadcast(message));
        self.learn(stable, first, commands, effects);
    }

    /// L3: the acceptor obeys the new epoch and tells everything.
    fn prepared(&mut self, from: NodeId, entry: Entry<B>, effects: &mut Vec<Effect<B>>) {
        let epoch = entry.configuration.epoch;
        self.entry_chosen(entry, effects);
        if epoch < self.acceptor.hpn {
            return self.send(from, Message::Chosen(self.newest_entry()), effects);
        }
        self.acceptor.hpn = epoch;
        let accepted = self.acceptor.log.iter().map(|(index, (epoch, command))| (index, *epoch, command.clone()));
        let accepted = accepted.collect();
        let (stable, commit) = (self.acceptor.stable, self.acceptor.commit);
        let adopted = Adopted { epoch, stable, commit, chosen: Vec::new(), accepted };
        self.send(from, Message::PrepareResponse(adopted), effects);
    }

    fn prepare_answered(&mut self, adopted: Adopted<B>, effects: &mut Vec<Effect<B>>) {
        match self.role {
            Role::Adopting => self.adopt(adopted, effects),
            Role::Installing if adopted.epoch == self.configuration.epoch => self.acceptor_is_installed(effects),
            _ => {}
        }
    }

    /// A learner lacks what is decided from `first` on. If it knows a newer configuration it is asked for that: it may be the
    /// only one, and a node that joined later is none that this one would ask by itself.
    fn send_missing(&mut self, from: NodeId, epoch: Epoch, first: Index, effects: &mut Vec<Effect<B>>) {
        if epoch < self.configuration.epoch {
            self.send(from, Message::Chosen(self.newest_entry()), effects);
        }
        if epoch > self.configuration.epoch {
            let asked = Message::Missing { epoch: self.configuration.epoch, first: self.learned_end };
            self.send(from, asked, effects);
        }
        if self.configuration.acceptor != self.settings.me {
            return;
        }
        let stable = self.acceptor.stable;
        if first < stable {
            // The learner hears that it needs a snapshot.
            return self.send(from, Message::Learn { stable, first: stable, commands: Vec::new() }, effects);
        }
        let accepted = self.acceptor.log.iter().filter(|&(index, _)| index >= first).take(RESENT);
        let runs = runs(accepted.map(|(index, (_, command))| (index, command.clone())));
        for (first, commands) in runs {
            self.send(from, Message::Learn { stable, first, commands }, effects);
        }
    }

    /// Tells the leader how far this node is, each time it has applied a part of the log.
    pub(super) fn report_progress(&mut self, effects: &mut Vec<Effect<B>>) {
        if self.applied - self.reported >= (self.settings.window / 16).max(1) {
            self.send_progress(effects);
        }
    }

    pub(super) fn send_progress(&mut self, effects: &mut Vec<Effect<B>>) {
        self.reported = self.applied;
        let to = self.configuration.leader;
        if to != self.settings.me {
            effects.push(Effect::Send { to, message: Message::Progress { applied: self.applied } });
        }
    }

    /// Sends again what has no answer, if nothing has moved since the last time.
    pub(super) fn tick(&mut self, effects: &mut Vec<Effect<B>>) {
        if !self.is_by_messages() {
            return;
        }
        if self.proposal.is_some() {
            self.propose_again(effects);
        }
        let has_moved = self.ticked != self.learned_end;
        self.ticked = self.learned_end;
        match self.role {
            Role::Adopting => self.ask_what_was_accepted(effects),
            Role::Installing => self.prepare(effects),
            Role::Leading if !has_moved => self.send_proposals_again(effects),
            _ => {}
        }
        // A member may be well that was not when this leader had to accept itself.
        self.settle_acceptor(effects);
        self.renew_voters(effects);
        self.ticks = self.ticks.wrapping_add(1);
        if !has_moved {
            self.ask_for_missing(effects);
        }
        if !self.leads() {
            self.send_progress(effects);
        }
    }

    /// Asks the acceptor, and in turn all others: a node that knows only dead role holders hears of a newer configuration.
    fn ask_for_missing(&mut self, effects: &mut Vec<Effect<B>>) {
        let me = self.settings.me;
        let mut asked = vec![self.configuration.acceptor];
        let others = self.members.iter().chain(self.voters.iter().copied());
        let others = Vec::from_iter(others.filter(|&other| other != me));
        asked.extend(others.get(self.ticks as usize % others.len().max(1)));
        for to in asked {
            let message = Message::Missing { epoch: self.configuration.epoch, first: self.learned_end };
            if to != me {
                effects.push(Effect::Send { to, message });
            }
        }
    }

    /// Proposals that are not known to be decided.
    fn send_proposals_again(&mut self, effects: &mut Vec<Effect<B>>) {
        let from = self.learned_end;
        let waiting = self.orders.proposals.iter().filter(|&(index, _)| index >= from);
        for (first, run) in runs(waiting.map(|(index, command)| (index, command.clone()))) {
            self.send_proposals(first, run, effects);
        }
    }
}
