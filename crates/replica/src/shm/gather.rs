//! The doings of other nodes since this one last looked, as inputs of the protocol.

use super::Shm;
use crate::crash_point;
use crate::one_paxos::Input;
use crate::segment::{Body, CellRead, RunRead, SlotRead};
use crate::{Command, Configuration, Index, NodeId};

/// The most commands that are read at once, so that a node far behind still does all its other work.
const RUN: u64 = 256;

/// The state of the protocol that decides where to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// The newest configuration that this node knows.
    pub(crate) configuration: Configuration,
    /// True if this node orders commands.
    pub(crate) is_leading: bool,
    /// The index of the next proposal that this node wants as acceptor, if it is one of another leader.
    pub(crate) pulls_from: Option<Index>,
    /// The index of the next committed command that this node has not learned.
    pub(crate) learned: Index,
}

impl Shm {
    /// The newest configuration; `None` if it cannot be read, as its node is dead and unknown here.
    pub(crate) fn newest_configuration(&mut self) -> Option<Configuration> {
        loop {
            let word = self.control.configuration();
            let node = word.node()?;
            if self.segment(node).is_none() {
                self.refresh_peers();
            }
            match self.segment(node)?.cell(word.cell(), word.epoch()) {
                CellRead::Configuration(found) => return Some(found),
                // The word has changed meanwhile.
                CellRead::Overwritten if self.control.configuration() != word => {}
                CellRead::Overwritten | CellRead::Corrupt => return None,
            }
        }
    }

    /// Looks at all that others may have written.
    pub(crate) fn gather(&mut self, view: &View, inputs: &mut Vec<Input<Body>>) {
        self.epoch = view.configuration.epoch;
        self.acceptor = view.configuration.acceptor;
        if self.control.configuration().epoch() != view.configuration.epoch {
            inputs.extend(self.newest_configuration().map(Input::ConfigurationSeen));
            return;
        }
        if let Some(from) = view.pulls_from {
            self.pull_proposals(&view.configuration, from, inputs);
        }
        if view.configuration.acceptor != self.me {
            self.learn(&view.configuration, view.learned, inputs);
        }
        if view.is_leading {
            self.hear_members(inputs);
        }
    }

    /// The acceptor's look at the leader's proposals.
    fn pull_proposals(&mut self, configuration: &Configuration, from: Index, inputs: &mut Vec<Input<Body>>) {
        let Some(leader) = self.peers.get(configuration.leader) else { return };
        let tail = leader.segment.proposal_tail();
        if tail <= from {
            return;
        }
        let stable = leader.segment.proposal_stable();
        // A new leader has proposed nothing below its own count.
        let from = from.max(stable);
        self.run.clear();
        leader.segment.proposals(from..tail.min(from + RUN), &mut self.run);
        let epoch = configuration.epoch;
        // Slots of other epochs are left over from an earlier time as leader.
        let commands: Vec<_> =
            self.run.iter().take_while(|slot| slot.1 == epoch).map(|&(_, _, command)| command).collect();
        if !commands.is_empty() {
            inputs.push(Input::Accept { epoch, stable, first: from, commands });
        }
    }

    /// The learner's look at what the acceptor has committed.
    fn learn(&mut self, configuration: &Configuration, from: Index, inputs: &mut Vec<Input<Body>>) {
        let acceptor = configuration.acceptor;
        if self.peers.get(acceptor).is_none() {
            // Its memory has to be found while somebody alive holds it.
            self.refresh_peers();
        }
        if (configuration.stable..configuration.hi).contains(&from) && !self.has_committed(acceptor, from) {
            return self.learn_chosen(configuration, from, inputs);
        }
        if !self.relay.has_news(&self.peers, acceptor, from) {
            return;
        }
        let Some(acceptor) = self.peers.get(acceptor) else { return };
        let commit = acceptor.segment.commit();
        if commit <= from {
            return;
        }
        if self.relay.is_in_use() && commit > self.relay.relayed {
            self.relay.relayed = commit;
            self.relay.relays += 1;
            self.writer.set_relayed(commit);
            crash_point::here("relayed");
            self.relay.wake_children(&self.peers);
        }
        let stable = acceptor.segment.stable();
        self.run.clear();
        let RunRead { gap, .. } = acceptor.segment.accepted_run(from..commit.min(from + RUN), &mut self.run);
        let is_lapped = self.run.is_empty() && gap == Some(SlotRead::Lapped);
        // An acceptor that was chosen later never had what all members had applied by then.
        if self.run.is_empty() && !is_lapped && stable <= from {
            return;
        }
        // A lapped slot lies below what all members have applied, also if the acceptor's count was read before that.
        let stable = if is_lapped { stable.max(from + 1) } else { stable };
        let commands = self.run.iter().map(|&(_, _, command)| command).collect();
        inputs.push(Input::Learn { stable, first: from, commands });
    }

    /// True if the acceptor has committed a command at this index.
    fn has_committed(&self, acceptor: NodeId, index: Index) -> bool {
        self.peers.get(acceptor).is_some_and(|acceptor| acceptor.segment.commit() > index)
    }

    /// The learner's look at U: its commands are decided as soon as the configuration is. The acceptor may never get them, as the
    /// leader dies first, and a node that is about to join needs its own `Join` before it may lead.
    #[cold]
    fn learn_chosen(&mut self, configuration: &Configuration, from: Index, inputs: &mut Vec<Input<Body>>) {
        if self.peers.get(configuration.source).is_none() {
            self.refresh_peers();
        }
        let Some(source) = self.peers.get(configuration.source) else { return };
        self.run.clear();
        source.segment.proposals(from..configuration.hi.min(from + RUN), &mut self.run);
        let commands: Vec<_> = self.run.iter().map(|&(_, _, command)| command).collect();
        if !commands.is_empty() {
            inputs.push(Input::Learn { stable: configuration.stable, first: from, commands });
        }
    }

    /// The leader's look at what members have applied, and what they ask for.
    fn hear_members(&mut self, inputs: &mut Vec<Input<Body>>) {
        self.hear_progress(inputs);
        let mut requests = Vec::new();
        self.hear_requests(&mut requests);
        if !requests.is_empty() {
            inputs.push(Input::Requests(requests));
        }
    }

    /// The requests of other nodes that have come since it last looked.
    #[inline]
    pub(crate) fn hear_requests(&mut self, to: &mut Vec<Command<Body>>) {
        for peer in self.peers.iter_mut().filter(|peer| peer.segment.node() != self.me) {
            peer.requests_from = peer.segment.requests(peer.requests_from, to);
        }
    }

    /// The counts that nodes have applied since it last looked. The first word of each incarnation is passed on in any case.
    pub(crate) fn hear_progress(&mut self, inputs: &mut Vec<Input<Body>>) {
        for peer in self.peers.iter_mut() {
            let (node, applied) = (peer.segment.node(), peer.segment.applied());
            let is_news = peer.heard.replace(applied).is_none_or(|known| applied > known);
            if is_news {
                inputs.push(Input::Progress { node, applied });
            }
        }
    }

    /// Forgets what it has heard of members, so that a new leader hears all of it.
    pub(crate) fn hear_anew(&mut self) {
        for peer in self.peers.iter_mut() {
            (peer.requests_from, peer.heard) = (0, None);
        }
    }

    /// Opens the segments of nodes that have come, and tells others which segments this process holds.
    pub(crate) fn refresh_peers(&mut self) {
        self.peers.refresh(&mut self.writer, &self.pinned);
    }
}
