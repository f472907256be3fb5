//! One node's end of the transport: messages of the protocol, to and from the channels.

use std::sync::Arc;

use corecast_base::region::SharedRegion;
use corecast_channel::OpenChannelError;

use super::config::{Config, Spread};
use super::counters::Counters;
use super::links::Link;
use super::ring::Ring;
use super::routes::Routes;
use super::table::NodeTable;
use super::wire::{self, Body, Received};
use crate::one_paxos::{Input, Message};
use crate::{Index, NodeId};

/// The incarnation of all nodes: none returns.
const INCARNATION: u16 = 1;

/// The node in a slot.
pub(super) fn node(slot: usize) -> NodeId {
    NodeId::new(slot as u16, INCARNATION)
}

/// One node's end of the transport.
pub(super) struct Transport {
    me: usize,
    table: Arc<NodeTable>,
    /// By slot; none to itself.
    links: Vec<Option<Link>>,
    routes: Option<Routes>,
    ring: Option<Ring>,
    /// The nodes that something was sent to since they were woken last.
    unwoken: u64,
    bytes: Vec<u8>,
    /// Messages to pass on, with the slot that they came from.
    relayed: Vec<(usize, Vec<u8>)>,
    pub(super) counters: Counters,
}

impl Transport {
    /// Opens the ends of node `me`.
    pub(super) fn open(
        region: &SharedRegion,
        table: Arc<NodeTable>,
        config: &Config,
        me: usize,
    ) -> Result<Self, OpenChannelError> {
        let link = |other| if other == me { Ok(None) } else { Link::open(region, me, other).map(Some) };
        let links = (0..config.nodes).map(link).collect::<Result<_, _>>()?;
        let (routes, ring) = match &config.spread {
            Spread::Sequential => (None, None),
            Spread::Tree(parents) => (Some(Routes::new(me, parents)), None),
            Spread::Ring => (None, Some(Ring::open(region, me, config.nodes)?)),
        };
        let counters = Counters::default();
        let (bytes, relayed) = (Vec::new(), Vec::new());
        Ok(Self { me, table, links, routes, ring, unwoken: 0, bytes, relayed, counters })
    }

    /// Sends a message to one node.
    pub(super) fn send(&mut self, to: NodeId, message: &Message<Body>) {
        self.bytes.clear();
        wire::encode(message, None, &mut self.bytes);
        self.counters.count(message, 1);
        self.send_bytes(usize::from(to.slot));
    }

    fn send_bytes(&mut self, to: usize) {
        let Some(Some(link)) = self.links.get_mut(to) else { return };
        let was_open = link.is_open();
        self.counters.lost += u64::from(!link.send(&self.bytes) && was_open);
        self.unwoken |= 1 << to;
        if let (false, Some(routes)) = (link.is_open(), &mut self.routes) {
            routes.close(to);
        }
    }

    /// Sends a message to all other nodes, as the group spreads such messages.
    pub(super) fn broadcast(&mut self, message: &Message<Body>) {
        self.bytes.clear();
        let origin = self.routes.is_some().then(|| node(self.me));
        wire::encode(message, origin, &mut self.bytes);
        if let Some(ring) = &mut self.ring {
            if ring.send(&self.bytes) {
                self.counters.multicasts += 1;
                self.unwoken = u64::MAX;
                return;
            }
        }
        let targets = match &self.routes {
            Some(routes) => routes.targets(None).to_vec(),
            None => (0..self.links.len()).filter(|&to| to != self.me && self.is_open(to)).collect(),
        };
        self.counters.count(message, targets.len() as u64);
        targets.into_iter().for_each(|to| self.send_bytes(to));
    }

    fn is_open(&self, slot: usize) -> bool {
        self.links[slot].as_ref().is_some_and(Link::is_open)
    }

    /// Takes the messages that have come. Requests for the leader become one run. No member that the log waits for has a message
    /// about indexes from `most` on.
    pub(super) fn gather(&mut self, most: Index, inputs: &mut Vec<Input<Body>>) -> bool {
        let nodes = self.links.len();
        let mut inbox = Inbox { nodes, most, inputs, requests: Vec::new(), damaged: 0 };
        let mut was_busy = false;
        for (slot, link) in self.links.iter_mut().enumerate() {
            let Some(link) = link else { continue };
            let parts = link.pieces().1;
            was_busy |= link.receive(|bytes| {
                if wire::is_relayed(bytes) && self.routes.is_some() {
                    self.relayed.push((slot, bytes.to_vec()));
                }
                inbox.take(slot, bytes);
            });
            if link.pieces().1 != parts {
                // The sender has room for the next pieces.
                self.unwoken |= 1 << slot;
            }
            if let (false, Some(routes)) = (link.is_open(), &mut self.routes) {
                routes.close(slot);
            }
        }
        if let Some(ring) = &mut self.ring {
            was_busy |= ring.receive(|slot, bytes| match bytes {
                Some(bytes) => inbox.take(slot, bytes),
                None => self.unwoken |= 1 << slot,
            });
        }
        let Inbox { requests, damaged, .. } = inbox;
        self.counters.damaged += damaged;
        if !requests.is_empty() {
            inputs.push(Input::Requests(requests));
        }
        self.relay();
        was_busy
    }

    /// Passes messages on to the neighbours in the tree.
    fn relay(&mut self) {
        for (from, bytes) in std::mem::take(&mut self.relayed) {
            let targets = self.routes.as_ref().map_or(Vec::new(), |routes| routes.targets(Some(from)).to_vec());
            self.bytes = bytes;
            self.counters.relayed += targets.len() as u64;
            targets.into_iter().for_each(|to| self.send_bytes(to));
        }
    }

    /// Sends what waits for room, and wakes those that got something.
    pub(super) fn flush(&mut self) {
        for (slot, link) in self.links.iter_mut().enumerate() {
            if link.as_mut().is_some_and(Link::flush) {
                self.unwoken |= 1 << slot;
            }
        }
        if self.ring.as_mut().is_some_and(Ring::flush) {
            self.unwoken = u64::MAX;
        }
        let unwoken = std::mem::take(&mut self.unwoken);
        for slot in (0..self.links.len()).filter(|&slot| slot != self.me && unwoken & 1 << slot != 0) {
            self.table.wake(slot);
        }
    }

    /// The routes of a tree.
    pub(super) fn routes(&mut self) -> Option<&mut Routes> {
        self.routes.as_mut()
    }

    /// True while messages to this node wait for room.
    pub(super) fn has_backlog_for(&self, to: NodeId) -> bool {
        self.links.get(usize::from(to.slot)).is_some_and(|link| link.as_ref().is_some_and(Link::has_backlog))
    }

    /// True while any messages wait for room.
    pub(super) fn has_backlog(&self) -> bool {
        self.links.iter().flatten().any(Link::has_backlog) || self.ring.as_ref().is_some_and(Ring::has_backlog)
    }

    /// A number that grows while parts of long messages come or go: nothing of them is lost yet.
    pub(super) fn progress(&self) -> u64 {
        let pieces = self.links.iter().flatten().map(Link::pieces).chain(self.ring.iter().map(Ring::pieces));
        pieces.map(|(sent, come)| sent + come).sum()
    }

    /// Takes part no more: the others find the channels closed.
    pub(super) fn close(&mut self) {
        self.links.iter_mut().for_each(|link| *link = None);
        self.ring = None;
        self.unwoken = u64::MAX;
    }
}

/// The messages of one look.
struct Inbox<'a> {
    nodes: usize,
    most: Index,
    inputs: &'a mut Vec<Input<Body>>,
    requests: Vec<crate::Command<Body>>,
    damaged: u64,
}

impl Inbox<'_> {
    fn take(&mut self, slot: usize, bytes: &[u8]) {
        let received = wire::decode(bytes, self.nodes).filter(|received| wire::end(&received.message) <= self.most);
        match received {
            Some(Received { message: Message::Request(commands), .. }) => self.requests.extend(commands),
            Some(Received { origin, message }) => {
                self.inputs.push(Input::Message { from: origin.unwrap_or_else(|| node(slot)), message });
            }
            None => self.damaged += 1,
        }
    }
}
