//! The segments of all nodes, as one node reads them.

use corecast_base::region::{Liveness, ParticipantId, SealedMemory, SealedReader, SharedRegion};

use crate::segment::{Control, Held, NodeRecord, NodeState, SegmentReader, SegmentWriter};
use crate::{Index, NodeId};

/// Another node, dead or alive, or this one.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) segment: SegmentReader,
    pub(crate) record: NodeRecord,
    pub(crate) participant: Option<ParticipantId>,
    /// The position of the next request to read.
    pub(crate) requests_from: u64,
    /// The count of applied commands that the protocol was told of; `None` if it was told nothing.
    pub(crate) heard: Option<Index>,
    /// Keeps the descriptor, for nodes that come when the writer is dead. `None` for this node.
    memory: Option<SealedReader>,
}

/// All nodes whose segments this process holds, by slot; an earlier incarnation of a slot is kept, as the log may still name
/// it.
#[derive(Debug)]
pub(crate) struct Peers {
    region: SharedRegion,
    control: Control,
    slots: Vec<Vec<Peer>>,
    /// The slots from here on have no peers: leaders walk through all others with each command.
    used: usize,
}

impl Peer {
    fn new(
        segment: SegmentReader,
        record: NodeRecord,
        participant: Option<ParticipantId>,
        memory: Option<SealedReader>,
    ) -> Self {
        Self { segment, record, participant, requests_from: 0, heard: None, memory }
    }
}

/// The incarnations of a slot that are kept: the newest and those before it.
const KEPT: usize = 3;

impl Peers {
    /// The peers of a node, itself alone at first.
    pub(crate) fn new(region: SharedRegion, control: Control, own: SegmentReader, record: NodeRecord) -> Self {
        let mut slots: Vec<Vec<Peer>> = Vec::new();
        slots.resize_with(control.layout().slots(), Vec::new);
        let participant = Some(region.me());
        let slot = usize::from(own.node().slot);
        slots[slot].push(Peer::new(own, record, participant, None));
        Self { region, control, slots, used: slot + 1 }
    }

    /// A node.
    pub(crate) fn get(&self, node: NodeId) -> Option<&Peer> {
        self.slots.get(usize::from(node.slot))?.iter().find(|peer| peer.segment.node() == node)
    }

    /// The newest incarnations.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.slots[..self.used].iter().filter_map(|slot| slot.last())
    }

    /// The newest incarnations.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.slots[..self.used].iter_mut().filter_map(|slot| slot.last_mut())
    }

    /// True if nothing more is to be expected of a node: its process is dead, or goes on as another incarnation.
    pub(crate) fn is_dead(&self, node: NodeId) -> bool {
        let slot = usize::from(node.slot);
        if self.control.claimed(slot) != node.inc {
            return true;
        }
        let lives = |who: Option<ParticipantId>| who.is_some_and(|who| self.region.liveness(who) == Liveness::Alive);
        match self.get(node) {
            Some(peer) => !lives(peer.participant),
            // Its memory could not be opened here. A process that has claimed the slot just now has no record yet.
            None => {
                let record = self.control.node(slot).filter(|record| record.inc == node.inc);
                record.is_some_and(|record| !lives(ParticipantId::from_word(record.participant)))
            }
        }
    }

    /// True if the process of a node is stopped, as the system says.
    #[cold]
    pub(crate) fn is_stopped(&self, node: NodeId) -> bool {
        self.get(node).and_then(|peer| peer.participant).is_some_and(|who| self.region.is_stopped(who))
    }

    /// True if a living node other than this one has the state, or may have it: a member, or one that joins and has taken it.
    pub(crate) fn has_source(&self, me: NodeId) -> bool {
        (0..self.slots.len()).filter(|&slot| slot != usize::from(me.slot)).any(|slot| self.may_have_state(slot))
    }

    /// True if this node, which joins and has a state, is to go on in the place of the members: none lives, and no other node
    /// that joins has a lower slot.
    pub(crate) fn is_first_without_members(&self, me: NodeId) -> bool {
        let joins = |slot: usize| {
            let last = NodeId::new(slot as u16, self.control.last_claim(slot).inc);
            self.get(last).is_some_and(|peer| peer.segment.state() == Some(NodeState::Joining))
        };
        let others = (0..self.slots.len()).filter(|&slot| slot != usize::from(me.slot));
        others.into_iter().all(|slot| !self.may_have_state(slot) || slot > usize::from(me.slot) && joins(slot))
    }

    /// Whether the last node of a slot lives, and may have the state.
    fn may_have_state(&self, slot: usize) -> bool {
        let last = self.control.last_claim(slot);
        let is_dead = |who: ParticipantId| self.region.liveness(who) != Liveness::Alive;
        if last.inc == 0 || ParticipantId::from_word(last.participant).is_some_and(is_dead) {
            return false;
        }
        // Nothing is known of one whose memory could not be opened yet.
        let Some(peer) = self.get(NodeId::new(slot as u16, last.inc)) else { return true };
        match peer.segment.state() {
            Some(NodeState::Left | NodeState::Lagging) => false,
            Some(NodeState::Joining) => peer.segment.applied() > 0 || peer.segment.applied_hash().is_some(),
            Some(NodeState::Member) | None => true,
        }
    }

    /// Wakes a node.
    pub(crate) fn wake(&self, node: NodeId) {
        self.control.wake(usize::from(node.slot));
    }

    /// Wakes all other nodes.
    pub(crate) fn wake_others(&self, me: NodeId) {
        self.wake_where(|slot| slot != me.slot);
    }

    /// Wakes the nodes in these slots.
    pub(crate) fn wake_where(&self, is_woken: impl Fn(u16) -> bool) {
        for (slot, peers) in self.slots[..self.used].iter().enumerate() {
            if !peers.is_empty() && is_woken(slot as u16) {
                self.control.wake(slot);
            }
        }
    }

    /// Opens the segments of nodes that have come, and tells in `writer` which ones this process holds. Those of `pinned` nodes
    /// are not closed.
    pub(crate) fn refresh(&mut self, writer: &mut SegmentWriter, pinned: &[NodeId]) {
        for slot in 0..self.slots.len() {
            let Some(record) = self.control.node(slot) else { continue };
            let is_known = self.slots[slot].last().is_some_and(|peer| peer.record.inc >= record.inc);
            if !is_known {
                self.open(slot, record, writer, pinned);
            }
        }
    }

    fn open(&mut self, slot: usize, record: NodeRecord, writer: &mut SegmentWriter, pinned: &[NodeId]) {
        let node = NodeId::new(slot as u16, record.inc);
        let Some(memory) = self.find(slot, &record) else { return };
        let Ok(words) = memory.words() else { return };
        let Ok(segment) = SegmentReader::new(*self.control.layout(), node, words) else { return };
        writer.set_held(slot, Some(Held::of(record.inc, &memory)));
        let participant = ParticipantId::from_word(record.participant);
        let peers = &mut self.slots[slot];
        self.used = self.used.max(slot + 1);
        peers.push(Peer::new(segment, record, participant, Some(memory)));
        let former = peers.len().saturating_sub(KEPT);
        let is_free = |peer: &Peer| !pinned.contains(&peer.segment.node());
        if let Some(oldest) = peers[..former].iter().position(is_free) {
            peers.remove(oldest);
        }
    }

    /// The memory of a node: at its own process, or at another one that holds it.
    fn find(&self, slot: usize, record: &NodeRecord) -> Option<SealedReader> {
        if let Ok(memory) = SealedReader::open_announced(record.place()) {
            return Some(memory);
        }
        self.iter().find_map(|holder| {
            let held = holder.segment.held(slot).filter(|held| held.inc == record.inc)?;
            SealedReader::open_announced(held.place(holder.record.pid)).ok()
        })
    }

    /// This process has another incarnation now.
    pub(crate) fn add_own(&mut self, segment: SegmentReader, memory: &SealedMemory, boot: u64) {
        let at = memory.announcement();
        let (node, participant) = (segment.node(), self.region.me());
        let (inc, pid, fd, identity) = (node.inc, at.pid, at.fd, at.identity);
        let record = NodeRecord { inc, participant: participant.to_word(), pid, fd, identity, boot };
        let slot = usize::from(node.slot);
        self.used = self.used.max(slot + 1);
        self.slots[slot].push(Peer::new(segment, record, Some(participant), None));
        self.control.publish(slot, &record);
    }

    /// Tells in a new segment which segments this process holds.
    pub(crate) fn tell_held(&self, writer: &mut SegmentWriter) {
        for (slot, peer) in self.slots.iter().enumerate().filter_map(|(slot, peers)| Some((slot, peers.last()?))) {
            if let Some(memory) = &peer.memory {
                writer.set_held(slot, Some(Held::of(peer.record.inc, memory)));
            }
        }
    }
}
