//! The transport through memory: what other nodes have done, as inputs of the protocol, and its effects, as words that the
//! others read.
//!
//! - `Peers`: the segments of all nodes, dead ones included;
//! - `Relay`: whom it watches for decisions, and whom it wakes;
//! - `Shm`: one node's end.

mod effects;
mod gather;
mod peers;
mod relay;
mod requests;

pub(crate) use gather::View;
pub(crate) use peers::Peers;
pub(crate) use relay::Relay;
pub(crate) use requests::Requests;

use corecast_base::CpuId;
use corecast_base::region::SealedMemory;

use crate::segment::{Body, BulkError, BulkPlace, BulkWriter, Control, NodeState, SegmentReader, SegmentWriter};
use crate::system::Members;
use crate::{Command, Epoch, Index, NodeId};

/// One node's end of the group's memory.
#[derive(Debug)]
pub(crate) struct Shm {
    pub(crate) me: NodeId,
    /// The newest configuration that the protocol knows, and its acceptor.
    epoch: Epoch,
    acceptor: NodeId,
    pub(crate) control: Control,
    pub(crate) writer: SegmentWriter,
    pub(crate) bulk: BulkWriter,
    pub(crate) peers: Peers,
    /// Nodes whose segments are kept.
    pub(crate) pinned: Vec<NodeId>,
    pub(crate) requests: Requests,
    pub(crate) relay: Relay,
    /// The CPU that this node is bound to.
    cpu: Option<CpuId>,
    /// The slot of a node whose log was found damaged.
    pub(crate) damaged: Option<u16>,
    /// The memory of the own segment, whose descriptor others open.
    pub(crate) memory: SealedMemory,
    /// Where slots are read to, kept for its memory.
    run: Vec<(Index, Epoch, Command<Body>)>,
}

/// The memory of a node does not hold what it should, or cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged {
    /// The slot of the node.
    pub(crate) slot: u16,
}

impl Shm {
    pub(crate) fn new(
        me: NodeId,
        control: Control,
        memory: SealedMemory,
        writer: SegmentWriter,
        bulk: BulkWriter,
        peers: Peers,
    ) -> Self {
        let (pinned, requests, relay, damaged) = (Vec::new(), Requests::default(), Relay::new(), None);
        let (epoch, acceptor, cpu) = (0, me, None);
        Self {
            me,
            epoch,
            acceptor,
            control,
            writer,
            bulk,
            peers,
            pinned,
            requests,
            relay,
            cpu,
            damaged,
            memory,
            run: Vec::new(),
        }
    }

    /// The segment of a node, the own one included.
    pub(crate) fn segment(&self, node: NodeId) -> Option<&SegmentReader> {
        self.peers.get(node).map(|peer| &peer.segment)
    }

    /// Puts the bytes of an operation where all nodes can read them.
    pub(crate) fn write_body(&mut self, bytes: &[u8]) -> Result<Body, BulkError> {
        match Body::inline(bytes) {
            Some(body) => Ok(body),
            None => self.bulk.write(bytes).map(Body::Bulk),
        }
    }

    /// The bytes of an operation.
    pub(crate) fn read_body(&self, body: &Body, to: &mut Vec<u8>) -> Result<(), Damaged> {
        to.clear();
        match body {
            Body::Inline(..) => to.extend_from_slice(body.as_inline().expect("it is inline")),
            Body::Bulk(place) => {
                let damaged = Damaged { slot: place.node.slot };
                let segment = self.segment(place.node).ok_or(damaged)?;
                segment.bulk(place, to).map_err(|_| damaged)?;
            }
        }
        Ok(())
    }

    /// Notes that an operation whose bytes lie in an arena was ordered at this index, or cannot be ordered behind it.
    pub(crate) fn ordered_bulk(&mut self, place: &BulkPlace, index: Index) {
        if place.node == self.me {
            self.bulk.set_index(place.offset, index);
        }
    }

    /// True if a node's process is dead, or it says that it does no more.
    pub(crate) fn is_gone(&self, node: NodeId) -> bool {
        let has_left = self.segment(node).is_some_and(|one| one.state() == Some(NodeState::Left));
        has_left || self.peers.is_dead(node)
    }

    /// Living nodes that are no members and take the state of one, and the counts that they have applied, if they have a state.
    pub(crate) fn joiners(&self, members: &Members) -> Vec<(NodeId, Index)> {
        let is_joining = |one: &SegmentReader| one.state() == Some(NodeState::Joining) || one.asks().is_some();
        let others = self.peers.iter().map(|peer| &peer.segment).filter(|one| !members.contains(one.node()));
        let joining = others.filter(|one| is_joining(one) && !self.peers.is_dead(one.node()));
        joining.map(|one| (one.node(), one.applied())).collect()
    }

    /// The least count that any node has applied which needs the log: a member, or one that has a state and is about to join,
    /// but for those that are waited for no more. A node that was put out, and stands still, takes a new state when it goes on.
    pub(crate) fn least_applied(&self, members: &Members, overdue: &[NodeId]) -> Index {
        let needs_log = |one: &SegmentReader| {
            let has_state = one.asks().is_none() && one.applied() > 0;
            let joins = has_state && one.state() == Some(NodeState::Joining) && !self.peers.is_dead(one.node());
            joins && !overdue.contains(&one.node())
        };
        let others = self.peers.iter().map(|peer| &peer.segment);
        let others = others.filter(|one| !members.contains(one.node()) && needs_log(one)).map(SegmentReader::applied);
        let members = members.iter().map(|node| self.segment(node).map_or(0, SegmentReader::applied));
        members.chain(others).min().unwrap_or(0)
    }

    /// Says which CPU this node is bound to, in this incarnation and later ones.
    pub(crate) fn set_cpu(&mut self, cpu: Option<CpuId>) {
        self.cpu = cpu;
        self.writer.set_cpu(cpu);
    }

    /// This node is another incarnation now, with a segment of its own.
    pub(crate) fn move_to(&mut self, me: NodeId, mut writer: SegmentWriter, memory: SealedMemory, boot: u64) {
        self.bulk = writer.take_bulk().expect("it is the first time");
        self.me = me;
        self.peers.add_own(writer.reader(), &memory, boot);
        self.writer.ask(0, None);
        self.writer = writer;
        self.memory = memory;
        self.requests = Requests::default();
        self.peers.iter_mut().for_each(|peer| peer.heard = None);
        self.relay.relayed = 0;
        self.writer.set_cpu(self.cpu);
        self.peers.tell_held(&mut self.writer);
    }
}
