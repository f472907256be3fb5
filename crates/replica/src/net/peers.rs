//! The other nodes as this one reaches them: by slot the incarnation there, and the channels to and from it.

use corecast_base::region::SharedRegion;

use super::config::Config;
use super::links::{self, Link};
use super::memory::{self, Announced};
use super::table::NodeTable;
use crate::NodeId;
use crate::error::OpenError;
use crate::runtime::ChannelPlace;

/// The incarnation of the nodes that a group begins with.
const FOUNDER: u16 = 1;

/// The node that a group begins with in a slot.
pub(super) fn founder(slot: usize) -> NodeId {
    NodeId::new(slot as u16, FOUNDER)
}

/// One other slot.
struct Peer {
    /// The incarnation that the channels lead to; `None` while none has been seen that lives.
    node: Option<NodeId>,
    /// Channels that nobody has used yet if there is no node.
    link: Option<Link>,
}

/// All other slots.
pub(super) struct Peers {
    me: NodeId,
    /// 0 for a founder.
    serial: u64,
    /// By slot; that of this node stays empty.
    slots: Vec<Peer>,
    /// The region of a later node.
    own: Option<Announced>,
    /// The count of announcements that were looked at.
    seen: u64,
}

impl Peers {
    /// Those of a founder: its channels to other founders are in the group's region.
    pub(super) fn of_founder(
        region: &SharedRegion,
        table: &NodeTable,
        config: &Config,
        me: NodeId,
    ) -> Result<Self, OpenError> {
        let reach = |slot: usize| {
            let node = founder(slot);
            if slot >= config.nodes || node == me || table.claim_of(slot).inc > FOUNDER {
                return Ok(Peer { node: None, link: None });
            }
            let link = Link::open(region, usize::from(me.slot), slot).map_err(|error| channel_error(&error))?;
            Ok(Peer { node: Some(node), link: Some(link) })
        };
        let slots = (0..config.slots).map(reach).collect::<Result<_, OpenError>>()?;
        let mut peers = Self { me, serial: 0, slots, own: None, seen: 0 };
        peers.refresh(table);
        Ok(peers)
    }

    /// Those of a later node, which makes a region for its channels and announces it.
    pub(super) fn of_later(table: &NodeTable, config: &Config, me: NodeId) -> Result<Self, OpenError> {
        let slot = usize::from(me.slot);
        let plan = links::plan_around(slot, config.slots, config.link_bytes);
        let region = memory::create(&plan.map_err(|error| OpenError::Config(error.to_string()))?)?;
        let serial = table.slots.next_serial();
        let reach = |other: usize| {
            if other == slot {
                return Ok(Peer { node: None, link: None });
            }
            let inc = table.claim_of(other).inc;
            let is_founder = other < config.nodes && inc <= FOUNDER;
            let node = Some(founder(other)).filter(|&node| is_founder && !table.is_gone(node));
            let link = Link::open(&region, slot, other).map_err(|error| channel_error(&error))?;
            Ok(Peer { node, link: Some(link) })
        };
        let slots = (0..config.slots).map(reach).collect::<Result<_, OpenError>>()?;
        let own = Announced::new(region)?;
        let at = own.place(me, serial);
        let mut peers = Self { me, serial, slots, own: Some(own), seen: 0 };
        peers.refresh(table);
        table.slots.announce(&at);
        Ok(peers)
    }

    /// The number of slots.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The node in a slot that messages go to and come from.
    pub(super) fn node(&self, slot: usize) -> Option<NodeId> {
        self.slots.get(slot)?.node
    }

    /// The channels of a node in this slot.
    pub(super) fn link(&mut self, slot: usize) -> Option<&mut Link> {
        let peer = self.slots.get_mut(slot)?;
        peer.node.and(peer.link.as_mut())
    }

    /// The nodes that there are channels to.
    pub(super) fn links(&self) -> impl Iterator<Item = &Link> {
        self.slots.iter().filter_map(|peer| peer.node.and(peer.link.as_ref()))
    }

    /// The nodes that there are channels to, by slot.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, NodeId, &mut Link)> {
        let reached = self.slots.iter_mut().enumerate();
        reached.filter_map(|(slot, peer)| Some((slot, peer.node?, peer.link.as_mut()?)))
    }

    /// True while a node in this slot may get messages.
    pub(super) fn is_open(&self, slot: usize) -> bool {
        self.slots[slot].node.is_some() && self.slots[slot].link.as_ref().is_some_and(Link::is_open)
    }

    /// Looks for later nodes that were not there before. The slots where there are some.
    pub(super) fn refresh(&mut self, table: &NodeTable) -> Vec<usize> {
        let announced = table.slots.announcements();
        if announced == self.seen {
            return Vec::new();
        }
        let (mut found, mut is_complete) = (Vec::new(), true);
        let me = usize::from(self.me.slot);
        for slot in (0..self.slots.len()).filter(|&slot| slot != me) {
            let Some(at) = table.slots.announcement(slot).filter(|at| !table.is_gone(at.node)) else { continue };
            if self.slots[slot].node.is_some_and(|known| known.inc >= at.node.inc) {
                continue;
            }
            match self.reach(&at) {
                true => found.push(slot),
                false => is_complete = false,
            }
        }
        if is_complete {
            self.seen = announced;
        }
        found
    }

    /// Takes the channels of a later node: those in its region, or in this node's if that came later still. False if its region
    /// cannot be opened now.
    fn reach(&mut self, at: &ChannelPlace) -> bool {
        let peer = &mut self.slots[usize::from(at.node.slot)];
        if at.serial > self.serial {
            let Some(link) = open_link(at, usize::from(self.me.slot)) else { return false };
            peer.link = Some(link);
        }
        peer.node = Some(at.node);
        true
    }

    /// Gives up the channels to nodes that are gone: nothing that was sent there is read any more.
    pub(super) fn forget(&mut self, slot: usize) {
        self.slots[slot].link = None;
    }

    /// Takes part no more: the others find the channels closed.
    pub(super) fn close(&mut self) {
        self.slots.iter_mut().for_each(|peer| peer.link = None);
        self.own = None;
    }
}

impl std::fmt::Debug for Peers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.slots.iter().map(|peer| peer.node)).entry(&self.own).finish()
    }
}

/// The channels to a later node, in its region.
fn open_link(at: &ChannelPlace, me: usize) -> Option<Link> {
    Link::open(&memory::open(at)?, me, usize::from(at.node.slot)).ok()
}

fn channel_error(error: &corecast_channel::OpenChannelError) -> OpenError {
    OpenError::Version(error.to_string())
}
