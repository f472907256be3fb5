//! The log of configurations. Shared: one compare-and-swap by the transport. Messages: basic Paxos for each position, with
//! the voters that the entry before names; a value found in phase 1 is sent on, and a node that lost its votes is another one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::io::Effect;
use super::message::{Ballot, Entry, Message};
use super::node::{Node, Role};
use crate::{Command, Configuration, Epoch, Index, NodeId};

/// The state of a node about positions that are not decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ConfigurationLog<B> {
    votes: BTreeMap<Epoch, Voter<B>>,
    attempt: Option<Attempt<B>>,
    /// The greatest round that it has heard of.
    round: u32,
}

/// The memory of a voter about a position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Voter<B> {
    promised: Ballot,
    vote: Option<(Ballot, Entry<B>)>,
}

/// The attempt of a proposer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Attempt<B> {
    ballot: Ballot,
    /// Its own entry.
    entry: Entry<B>,
    /// The entry that it found with the greatest ballot.
    found: Option<(Ballot, Entry<B>)>,
    promises: BTreeSet<NodeId>,
    /// Sent with phase 2.
    sent: Option<Entry<B>>,
    votes: BTreeSet<NodeId>,
    /// True once a voter has refused the ballot.
    is_refused: bool,
}

impl<B> Default for ConfigurationLog<B> {
    fn default() -> Self {
        Self { votes: BTreeMap::new(), attempt: None, round: 0 }
    }
}

impl<B: Clone + PartialEq> Node<B> {
    /// Proposes a configuration at the position of its epoch, which never changes.
    pub(super) fn propose_configuration(
        &mut self,
        configuration: Configuration,
        chosen: Arc<Vec<(Index, Command<B>)>>,
        effects: &mut Vec<Effect<B>>,
    ) {
        self.proposal = Some(configuration);
        if !self.is_by_messages() {
            return effects.push(Effect::ProposeConfiguration(configuration));
        }
        let (voters, owners) = (self.next_voters(), self.next_owners(&configuration));
        self.attempt(Entry { configuration, chosen, voters, owners }, effects);
    }

    /// Messages: the proposal has no answer yet. The same message goes once more: another ballot would make the answers void
    /// that are on their way, for ever if each takes longer than a tick. A ballot that was refused is followed by another one.
    pub(super) fn propose_again(&mut self, effects: &mut Vec<Effect<B>>) {
        let Some(attempt) = self.configuration_log.attempt.as_ref().filter(|_| self.proposal.is_some()) else { return };
        let (ballot, position) = (attempt.ballot, attempt.entry.configuration.epoch);
        match &attempt.sent {
            _ if attempt.is_refused => self.attempt(attempt.entry.clone(), effects),
            Some(entry) => self.send_to_voters(&Message::Vote { ballot, entry: entry.clone() }, effects),
            None => self.send_to_voters(&Message::Ask { position, ballot }, effects),
        }
    }

    fn attempt(&mut self, entry: Entry<B>, effects: &mut Vec<Effect<B>>) {
        let Some(round) = self.configuration_log.round.checked_add(1) else { return };
        self.configuration_log.round = round;
        let ballot = Ballot { round, node: self.settings.me };
        let position = entry.configuration.epoch;
        let (promises, votes) = (BTreeSet::new(), BTreeSet::new());
        let attempt = Attempt { ballot, entry, found: None, promises, sent: None, votes, is_refused: false };
        self.configuration_log.attempt = Some(attempt);
        self.send_to_voters(&Message::Ask { position, ballot }, effects);
    }

    fn send_to_voters(&mut self, message: &Message<B>, effects: &mut Vec<Effect<B>>) {
        for &to in self.asked_voters().iter() {
            self.send(to, message.clone(), effects);
        }
    }

    fn has_majority(&self, heard: &BTreeSet<NodeId>) -> bool {
        let voters = self.asked_voters();
        heard.iter().filter(|node| voters.contains(node)).count() * 2 > voters.len()
    }

    /// Voter: the state at a position that is open for a ballot; a refusal is sent otherwise. The proposer knows who votes there;
    /// this node may not have heard of the entry that says so.
    fn voter(
        &mut self,
        from: NodeId,
        position: Epoch,
        ballot: Ballot,
        effects: &mut Vec<Effect<B>>,
    ) -> Option<&mut Voter<B>> {
        if position <= self.configuration.epoch {
            self.send(from, Message::Chosen(self.newest_entry()), effects);
            return None;
        }
        let promised = self.configuration_log.votes.get(&position).map(|voter| voter.promised);
        if let Some(promised) = promised.filter(|&promised| promised > ballot) {
            self.send(from, Message::Refused { position, promised }, effects);
            return None;
        }
        let voter = Voter { promised: ballot, vote: None };
        let voter = self.configuration_log.votes.entry(position).or_insert(voter);
        voter.promised = ballot;
        Some(voter)
    }

    pub(super) fn asked(&mut self, from: NodeId, position: Epoch, ballot: Ballot, effects: &mut Vec<Effect<B>>) {
        if let Some(voter) = self.voter(from, position, ballot, effects) {
            let vote = voter.vote.clone();
            self.send(from, Message::Promise { position, ballot, vote }, effects);
        }
    }

    pub(super) fn asked_to_vote(
        &mut self,
        from: NodeId,
        ballot: Ballot,
        entry: Entry<B>,
        effects: &mut Vec<Effect<B>>,
    ) {
        let position = entry.configuration.epoch;
        if let Some(voter) = self.voter(from, position, ballot, effects) {
            voter.vote = Some((ballot, entry));
            self.send(from, Message::Voted { position, ballot }, effects);
        }
    }

    pub(super) fn promised(
        &mut self,
        from: NodeId,
        position: Epoch,
        ballot: Ballot,
        vote: Option<(Ballot, Entry<B>)>,
        effects: &mut Vec<Effect<B>>,
    ) {
        let Some(mut attempt) = self.take_attempt(position, ballot) else { return };
        attempt.promises.insert(from);
        if vote.as_ref().map(|vote| vote.0) > attempt.found.as_ref().map(|found| found.0) {
            attempt.found = vote;
        }
        let is_ready = attempt.sent.is_none() && self.has_majority(&attempt.promises);
        if is_ready {
            let found = attempt.found.clone().map(|(_, entry)| entry);
            attempt.sent = Some(found.unwrap_or_else(|| attempt.entry.clone()));
        }
        let entry = attempt.sent.clone().filter(|_| is_ready);
        self.configuration_log.attempt = Some(attempt);
        if let Some(entry) = entry {
            self.send_to_voters(&Message::Vote { ballot, entry }, effects);
        }
    }

    pub(super) fn voted(&mut self, from: NodeId, position: Epoch, ballot: Ballot, effects: &mut Vec<Effect<B>>) {
        let Some(mut attempt) = self.take_attempt(position, ballot) else { return };
        attempt.votes.insert(from);
        match attempt.sent.clone().filter(|_| self.has_majority(&attempt.votes)) {
            Some(entry) => {
                effects.push(Effect::Broadcast(Message::Chosen(entry.clone())));
                self.entry_chosen(entry, effects);
            }
            None => self.configuration_log.attempt = Some(attempt),
        }
    }

    /// The attempt that an answer belongs to.
    fn take_attempt(&mut self, position: Epoch, ballot: Ballot) -> Option<Attempt<B>> {
        let is_meant =
            |attempt: &mut Attempt<B>| attempt.ballot == ballot && attempt.entry.configuration.epoch == position;
        self.configuration_log.attempt.take_if(is_meant)
    }

    pub(super) fn refused(&mut self, promised: Ballot) {
        let log = &mut self.configuration_log;
        log.round = log.round.max(promised.round);
        if let Some(attempt) = &mut log.attempt {
            attempt.is_refused |= promised > attempt.ballot;
        }
    }

    /// An entry of the log was chosen: the own proposal, or another's.
    pub(super) fn entry_chosen(&mut self, entry: Entry<B>, effects: &mut Vec<Effect<B>>) {
        let configuration = entry.configuration;
        if configuration.epoch <= self.configuration.epoch {
            return;
        }
        self.chosen = entry.chosen;
        self.voters = entry.voters;
        self.owners = entry.owners;
        self.configuration_log.votes = self.configuration_log.votes.split_off(&(configuration.epoch.saturating_add(1)));
        self.configuration_log.attempt.take_if(|attempt| attempt.entry.configuration.epoch <= configuration.epoch);
        if self.proposal == Some(configuration) {
            self.won(configuration, effects);
        } else {
            self.seen(configuration, effects);
        }
        self.check(self.role == Role::Follower || configuration.leader == self.settings.me, "I2: one owner an epoch");
    }
}
