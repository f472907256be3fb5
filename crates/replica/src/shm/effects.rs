//! The effects that the protocol wants, as words that other nodes read.

use super::Shm;
use crate::crash_point;
use crate::one_paxos::{Adopted, Effect, Input};
use crate::segment::{Body, ConfigurationWord, SegmentReader, SlotRead};
use crate::{Command, Configuration, Epoch, Index, NodeId, SessionId};

impl Shm {
    /// Does what the protocol wants; the answer to a proposal of a configuration. `CheckEpoch`, `ReadLog`, `Apply` and `Lagging`
    /// are for the caller.
    #[inline]
    pub(crate) fn carry_out(&mut self, effect: &Effect<Body>) -> Option<Input<Body>> {
        match *effect {
            Effect::Propose { epoch, stable, first, ref commands } => {
                self.propose(epoch, stable, first, commands);
            }
            Effect::Write { epoch, stable, first, ref commands } => {
                self.writer.set_stable(stable);
                self.writer.write_accepted(epoch, first, commands);
                crash_point::here("slot-written");
            }
            Effect::Commit { end, stable, .. } => {
                self.writer.commit(end, stable);
                crash_point::here("committed");
                self.relay.wake_learners(&self.peers, self.me);
            }
            Effect::Erase { first, end } => self.writer.erase(first..end),
            Effect::RaiseVisible(count) => {
                self.control.raise_visible(count);
                crash_point::here("visible-raised");
            }
            Effect::ProposeConfiguration(ref configuration) => return Some(self.propose_configuration(configuration)),
            Effect::Forward { leader, ref commands } => self.forward(leader, commands),
            Effect::CheckEpoch { .. } | Effect::ReadLog { .. } | Effect::Apply(_) | Effect::Lagging => {}
            // Those of nodes that share no memory.
            Effect::Send { .. } | Effect::Broadcast(_) => {}
        }
        None
    }

    /// The acceptor's look, behind what it has written, whether this epoch is still the newest.
    #[inline]
    pub(crate) fn is_newest(&self, epoch: Epoch) -> bool {
        let is_newest = self.control.is_newest_after_fence(epoch);
        crash_point::here("epoch-checked");
        is_newest
    }

    fn propose(&mut self, epoch: Epoch, stable: Index, first: Index, commands: &[Command<Body>]) {
        self.writer.set_proposal_stable(stable);
        // U is written in the terms of an epoch that is still to come.
        let half = if epoch > self.epoch { commands.len() / 2 } else { 0 };
        self.writer.write_proposals(epoch, first, &commands[..half]);
        if half > 0 {
            crash_point::here("chosen-half");
        }
        self.writer.write_proposals(epoch, first + half as u64, &commands[half..]);
        crash_point::here("proposals-written");
        self.writer.set_proposal_tail(first + commands.len() as u64, stable);
        crash_point::here("proposed");
        self.peers.wake(self.acceptor);
    }

    fn propose_configuration(&mut self, configuration: &Configuration) -> Input<Body> {
        let old = self.control.configuration();
        if old.epoch() + 1 == configuration.epoch {
            let cell = self.writer.write_cell(configuration);
            crash_point::here("cell-filled");
            let new = ConfigurationWord::new(configuration.epoch, self.me, cell);
            if self.control.swap(old, new).is_ok() {
                crash_point::here("configuration-won");
                self.epoch = configuration.epoch;
                self.peers.wake_others(self.me);
                return Input::ConfigurationWon(*configuration);
            }
        }
        // If it cannot be read, the protocol hears of it when it looks next.
        let newest = self.newest_configuration();
        Input::ConfigurationSeen(newest.unwrap_or(Configuration { epoch: 0, ..*configuration }))
    }

    /// U and the acceptor's log, dead or alive.
    pub(crate) fn read_log(&mut self, configuration: &Configuration, from: Index) -> Option<Adopted<Body>> {
        let acceptor = self.segment(configuration.acceptor)?.clone();
        let chosen = self.read_chosen(configuration, &acceptor)?;
        crash_point::here("adopt-half");
        let commit = acceptor.commit();
        let mut stable = acceptor.stable();
        let mut accepted = Vec::new();
        let mut index = from.max(stable);
        loop {
            match acceptor.accepted(index) {
                SlotRead::Command { epoch, command } => accepted.push((index, epoch, command)),
                SlotRead::Lapped => {
                    stable = stable.max(index + 1);
                    accepted.clear();
                }
                // All members have applied it meanwhile, and it is about to be written over.
                _ if acceptor.stable() > index => {
                    stable = acceptor.stable();
                    accepted.clear();
                    index = stable - 1;
                }
                // A committed command is there: another one must not get its index.
                _ if index < commit => return self.found_damage(configuration.acceptor),
                SlotRead::Corrupt => return self.found_damage(configuration.acceptor),
                SlotRead::Absent | SlotRead::Busy => break,
            }
            index += 1;
        }
        Some(Adopted { epoch: configuration.epoch, stable, commit, chosen, accepted })
    }

    /// U of the configuration.
    fn read_chosen(
        &mut self,
        configuration: &Configuration,
        acceptor: &SegmentReader,
    ) -> Option<Vec<(Index, Command<Body>)>> {
        let mut chosen = Vec::new();
        let Some(source) = self.segment(configuration.source).cloned() else {
            // A node that joined when the source was gone, and its slot another's: the acceptor has all of U since then.
            return (acceptor.commit() >= configuration.hi).then_some(chosen);
        };
        for index in configuration.stable..configuration.hi {
            match source.proposal(index) {
                SlotRead::Command { command, .. } => chosen.push((index, command)),
                SlotRead::Lapped | SlotRead::Absent => {}
                SlotRead::Busy | SlotRead::Corrupt => return self.found_damage(configuration.source),
            }
        }
        Some(chosen)
    }

    /// The log in a node's memory is not what the node wrote: this node must not lead on from it.
    #[cold]
    fn found_damage<T>(&mut self, node: NodeId) -> Option<T> {
        self.damaged = Some(node.slot);
        None
    }

    /// Puts requests where the leader finds them. Those of other nodes, left over from a time as leader, are left to these:
    /// nobody here would notice their answers, and release their places.
    pub(crate) fn forward(&mut self, leader: NodeId, commands: &[Command<Body>]) {
        let me = self.me;
        let is_own = |command: &&Command<Body>| command.session.node().is_none_or(|node| node.slot == me.slot);
        for command in commands.iter().filter(is_own) {
            self.requests.push(&mut self.writer, command);
            crash_point::here("request-pushed");
        }
        self.peers.wake(leader);
    }

    /// Puts requests that found no room where the leader finds them, now that others have their answers.
    pub(crate) fn forward_line(&mut self, leader: NodeId) {
        if self.requests.push_line(&mut self.writer) {
            self.peers.wake(leader);
        }
    }

    /// Gives up what was asked of a leader: all requests of sessions are about to be handed in once more.
    pub(crate) fn give_up_requests(&mut self) {
        self.requests.give_up(&mut self.writer);
    }

    /// Notes that a request of this node has its answer.
    pub(crate) fn answered(&mut self, session: SessionId, rid: u32) {
        self.requests.answered(&mut self.writer, session, rid);
    }
}
