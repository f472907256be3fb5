//! One node's end of the transport: messages of the protocol, to and from the channels.

use std::sync::Arc;

use corecast_base::region::SharedRegion;

use super::config::{Config, Spread};
use super::counters::Counters;
use super::links::Link;
use super::peers::Peers;
use super::pieces::Room;
use super::ring::Ring;
use super::routes::Routes;
use super::table::NodeTable;
use super::wire::{self, Body, LogCopy, Packet, Received, StateMessage};
use crate::error::OpenError;
use crate::one_paxos::{Input, Message};
use crate::{Index, NodeId};

/// One node's end of the transport.
pub(super) struct Transport {
    me: NodeId,
    table: Arc<NodeTable>,
    peers: Peers,
    routes: Option<Routes>,
    ring: Option<Ring>,
    /// The nodes that something was sent to since they were woken last.
    unwoken: u64,
    bytes: Vec<u8>,
    /// The bytes of the longest message that went or came since it was asked for last.
    longest: usize,
    /// Messages to pass on, with the slot that they came from.
    relayed: Vec<(usize, Vec<u8>)>,
    /// Messages about states that have come, and their senders.
    states: Vec<(NodeId, StateMessage)>,
    pub(super) counters: Counters,
}

impl Transport {
    /// Opens the ends of node `me`, which reaches the others by `peers`.
    pub(super) fn open(
        region: &SharedRegion,
        table: Arc<NodeTable>,
        config: &Config,
        me: NodeId,
        peers: Peers,
    ) -> Result<Self, OpenError> {
        let slot = usize::from(me.slot);
        let (routes, ring) = match &config.spread {
            Spread::Sequential => (None, None),
            Spread::Tree(parents) => (Some(routes(slot, parents, &peers)), None),
            Spread::Ring => {
                let ring = Ring::open(region, me, config.slots);
                (None, Some(ring.map_err(|error| OpenError::Version(error.to_string()))?))
            }
        };
        let (bytes, relayed, states, counters) = (Vec::new(), Vec::new(), Vec::new(), Counters::default());
        Ok(Self { me, table, peers, routes, ring, unwoken: 0, bytes, longest: 0, relayed, states, counters })
    }

    /// Looks for nodes that have come.
    pub(super) fn refresh_peers(&mut self) {
        for slot in self.peers.refresh(&self.table) {
            if let Some(routes) = &mut self.routes {
                routes.open(slot);
            }
        }
    }

    /// The node that messages to and from a slot lead to.
    pub(super) fn peer(&self, slot: usize) -> Option<NodeId> {
        self.peers.node(slot)
    }

    /// True while a node in this slot may get messages.
    pub(super) fn reaches(&self, slot: usize) -> bool {
        self.peers.is_open(slot)
    }

    /// Gives up what waits for a node that is gone.
    pub(super) fn forget(&mut self, node: NodeId) {
        let slot = usize::from(node.slot);
        if self.peers.node(slot) == Some(node) && self.peers.is_open(slot) {
            self.peers.forget(slot);
            self.close_route(slot);
        }
    }

    fn close_route(&mut self, slot: usize) {
        if let Some(routes) = &mut self.routes {
            routes.close(slot);
        }
    }

    /// Sends a message to one node; to none if another incarnation has its slot.
    pub(super) fn send(&mut self, to: NodeId, message: &Message<Body>) {
        let slot = usize::from(to.slot);
        let copy = LogCopy::of(message);
        if self.peers.node(slot) == Some(to) && self.has_room(slot, copy) {
            self.encode(message, None);
            self.counters.count(message, 1);
            self.send_bytes(slot, copy);
        }
    }

    fn encode(&mut self, message: &Message<Body>, origin: Option<NodeId>) {
        self.bytes.clear();
        wire::encode(message, origin, &mut self.bytes);
        self.longest = self.longest.max(self.bytes.len());
        self.table.show_life_after(usize::from(self.me.slot), self.bytes.len());
    }

    /// False if a message would not go to this node: too many wait for room, or one that says the same. Nobody takes the time
    /// to write such a message, which may have a copy of the log in it.
    fn has_room(&mut self, to: usize, copy: Option<LogCopy>) -> bool {
        let room = self.peers.link(to).map_or(Room::Yes, |link| link.room_for(copy));
        self.counters.lost += u64::from(room == Room::No);
        room == Room::Yes
    }

    /// The bytes of the longest message that went or came since this was asked last.
    pub(super) fn take_longest(&mut self) -> usize {
        std::mem::take(&mut self.longest)
    }

    /// Sends a message about a state to one node. False if it is lost.
    pub(super) fn send_state(&mut self, to: NodeId, message: &StateMessage) -> bool {
        let slot = usize::from(to.slot);
        if self.peers.node(slot) != Some(to) {
            return false;
        }
        self.bytes.clear();
        wire::encode_state(message, &mut self.bytes);
        self.counters.others += 1;
        self.send_bytes(slot, None)
    }

    fn send_bytes(&mut self, to: usize, copy: Option<LogCopy>) -> bool {
        let Some(link) = self.peers.link(to) else { return false };
        let was_open = link.is_open();
        let is_sent = link.send(copy, &self.bytes);
        let is_open = link.is_open();
        self.table.show_life_after(usize::from(self.me.slot), self.bytes.len());
        self.counters.lost += u64::from(!is_sent && was_open);
        self.unwoken |= 1 << to;
        if !is_open {
            self.close_route(to);
        }
        is_sent
    }

    /// Sends a message to all other nodes, as the group spreads such messages.
    pub(super) fn broadcast(&mut self, message: &Message<Body>) {
        if self.ring.is_some() && self.broadcast_by_ring(message) {
            return;
        }
        let copy = LogCopy::of(message);
        let targets = match &self.routes {
            Some(routes) => routes.targets(None).to_vec(),
            None => (0..self.peers.slots()).filter(|&to| self.peers.is_open(to)).collect(),
        };
        let targets = Vec::from_iter(targets.into_iter().filter(|&to| self.has_room(to, copy)));
        if targets.is_empty() {
            return;
        }
        self.encode(message, self.routes.is_some().then_some(self.me));
        self.counters.count(message, targets.len() as u64);
        targets.into_iter().for_each(|to| _ = self.send_bytes(to, copy));
    }

    /// Puts a message into the ring for all; false if it has to go another way.
    fn broadcast_by_ring(&mut self, message: &Message<Body>) -> bool {
        self.encode(message, None);
        let is_sent = self.ring.as_mut().is_some_and(|ring| ring.send(&self.bytes));
        if is_sent {
            self.counters.multicasts += 1;
            self.unwoken = u64::MAX;
        }
        is_sent
    }

    /// Takes the messages that have come. Requests for the leader become one run. No member that the log waits for has a
    /// message about indexes from `most` on.
    pub(super) fn gather(&mut self, most: Index, inputs: &mut Vec<Input<Body>>) -> bool {
        let slots = self.peers.slots();
        let states = &mut self.states;
        let mut inbox = Inbox { slots, most, inputs, states, requests: Vec::new(), damaged: 0, longest: 0 };
        let (table, me) = (&self.table, usize::from(self.me.slot));
        let mut was_busy = false;
        let mut closed = 0_u64;
        for (slot, from, link) in self.peers.iter_mut() {
            let parts = link.pieces().1;
            was_busy |= link.receive(|bytes| {
                if wire::is_relayed(bytes) && self.routes.is_some() {
                    self.relayed.push((slot, bytes.to_vec()));
                }
                inbox.take(from, bytes);
                table.show_life_after(me, bytes.len());
            });
            if link.pieces().1 != parts {
                // The sender has room for the next pieces.
                self.unwoken |= 1 << slot;
            }
            closed |= u64::from(!link.is_open()) << slot;
        }
        if let Some(ring) = &mut self.ring {
            was_busy |= ring.receive(|from, bytes| match bytes {
                Some(bytes) => inbox.take(from, bytes),
                None => self.unwoken |= 1 << from.slot,
            });
        }
        let Inbox { requests, damaged, longest, .. } = inbox;
        self.counters.damaged += damaged;
        self.longest = self.longest.max(longest);
        if !requests.is_empty() {
            inputs.push(Input::Requests(requests));
        }
        if self.routes.is_some() {
            (0..slots).filter(|slot| closed & 1 << slot != 0).for_each(|slot| self.close_route(slot));
            self.relay();
        }
        was_busy
    }

    /// The messages about states that have come.
    pub(super) fn take_states(&mut self) -> Vec<(NodeId, StateMessage)> {
        std::mem::take(&mut self.states)
    }

    /// Passes messages on to the neighbours in the tree.
    fn relay(&mut self) {
        for (from, bytes) in std::mem::take(&mut self.relayed) {
            let targets = self.routes.as_ref().map_or(Vec::new(), |routes| routes.targets(Some(from)).to_vec());
            self.bytes = bytes;
            self.counters.relayed += targets.len() as u64;
            targets.into_iter().for_each(|to| _ = self.send_bytes(to, None));
        }
    }

    /// Sends what waits for room, and wakes those that got something.
    pub(super) fn flush(&mut self) {
        for (slot, _, link) in self.peers.iter_mut() {
            if link.flush() {
                self.unwoken |= 1 << slot;
            }
        }
        if self.ring.as_mut().is_some_and(Ring::flush) {
            self.unwoken = u64::MAX;
        }
        let unwoken = std::mem::take(&mut self.unwoken);
        let me = usize::from(self.me.slot);
        for slot in (0..self.peers.slots()).filter(|&slot| slot != me && unwoken & 1 << slot != 0) {
            self.table.wake(slot);
        }
    }

    /// The routes of a tree.
    pub(super) fn routes(&mut self) -> Option<&mut Routes> {
        self.routes.as_mut()
    }

    /// True while messages to this node wait for room.
    pub(super) fn has_backlog_for(&mut self, to: NodeId) -> bool {
        self.peers.link(usize::from(to.slot)).is_some_and(|link| link.has_backlog())
    }

    /// True while any messages wait for room.
    pub(super) fn has_backlog(&self) -> bool {
        self.peers.links().any(Link::has_backlog) || self.ring.as_ref().is_some_and(Ring::has_backlog)
    }

    /// A number that grows while parts of long messages come or go: nothing of them is lost yet.
    pub(super) fn progress(&self) -> u64 {
        let pieces = self.peers.links().map(Link::pieces).chain(self.ring.iter().map(Ring::pieces));
        pieces.map(|(sent, come)| sent + come).sum()
    }

    /// Takes part no more: the others find the channels closed.
    pub(super) fn close(&mut self) {
        self.peers.close();
        self.ring = None;
        self.unwoken = u64::MAX;
    }
}

/// The routes of a node along a tree. Nobody is in the slots of nodes that have not come.
fn routes(me: usize, parents: &[Option<usize>], peers: &Peers) -> Routes {
    let mut routes = Routes::new(me, parents);
    (0..parents.len()).filter(|&slot| slot != me && !peers.is_open(slot)).for_each(|slot| routes.close(slot));
    routes
}

/// The messages of one look.
struct Inbox<'a> {
    slots: usize,
    most: Index,
    inputs: &'a mut Vec<Input<Body>>,
    states: &'a mut Vec<(NodeId, StateMessage)>,
    requests: Vec<crate::Command<Body>>,
    damaged: u64,
    longest: usize,
}

impl Inbox<'_> {
    fn take(&mut self, from: NodeId, bytes: &[u8]) {
        self.longest = self.longest.max(bytes.len());
        let Some(Received { origin, packet }) = wire::decode(bytes, self.slots) else {
            self.damaged += 1;
            return;
        };
        match packet {
            Packet::State(message) => self.states.push((from, message)),
            Packet::Protocol(message) if wire::end(&message) > self.most => self.damaged += 1,
            Packet::Protocol(Message::Request(commands)) => self.requests.extend(commands),
            Packet::Protocol(message) => {
                self.inputs.push(Input::Message { from: origin.unwrap_or(from), message });
            }
        }
    }
}
