//! The ring that all nodes read: a message is written once for all of them.

use corecast_base::region::{RegionPlan, RegionPlanError, SharedRegion};
use corecast_base::wait::Wait;
use corecast_channel::mcast::{self, Policy, bytes};
use corecast_channel::{OpenChannelError, TrySendError};

use super::config::SLOT_BYTES;
use super::pieces::{Assembly, Outbox, Sent};
use crate::NodeId;

/// The name of the ring in the group's region.
const NAME: &str = "ring";
/// The messages that it holds.
const SLOTS: usize = 256;
/// The most messages that are taken before the node looks elsewhere.
const RUN: usize = 64;

/// A node's ends of the ring.
pub(super) struct Ring {
    me: NodeId,
    sender: bytes::Sender,
    receiver: bytes::Receiver,
    outbox: Outbox,
    /// The pieces of each sender.
    assemblies: Vec<Assembly>,
    piece: Vec<u8>,
}

/// Adds the ring of a group of `nodes` nodes.
pub(super) fn declare(plan: RegionPlan, nodes: usize, link_bytes: usize) -> Result<RegionPlan, RegionPlanError> {
    let config = mcast::Config {
        slots: SLOTS,
        inline: 112,
        block_bytes: link_bytes / 4 - SLOT_BYTES,
        readers: nodes,
        senders: nodes,
        wait: Wait::Spin,
        ..mcast::Config::default()
    };
    bytes::spec(config).declare(plan, NAME)
}

impl Ring {
    pub(super) fn open(region: &SharedRegion, me: NodeId, slots: usize) -> Result<Self, OpenChannelError> {
        Ok(Self {
            me,
            sender: bytes::sender(region, NAME)?,
            receiver: bytes::receiver(region, NAME, Policy::Reliable)?,
            outbox: Outbox::default(),
            assemblies: (0..slots).map(|_| Assembly::default()).collect(),
            piece: Vec::new(),
        })
    }

    /// True while messages wait for room.
    pub(super) fn has_backlog(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The number of pieces that went out late, and of those that came and were not the last of their message.
    pub(super) fn pieces(&self) -> (u64, u64) {
        (self.outbox.pieces(), self.assemblies.iter().map(Assembly::parts).sum())
    }

    /// Sends a message to all. False if there is no room and the message is to go another way: a reader stands still.
    pub(super) fn send(&mut self, message: &[u8]) -> bool {
        if !self.outbox.is_empty() && self.flush() {
            return false;
        }
        self.outbox.push(None, message);
        self.flush();
        true
    }

    /// Sends what waits for room, as far as there is any. True if something waits still.
    pub(super) fn flush(&mut self) -> bool {
        if self.outbox.is_empty() {
            return false;
        }
        let max_len = self.sender.max_len();
        let sender = &mut self.sender;
        let send = |piece: &[u8]| match sender.try_send(piece) {
            Ok(()) => Sent::Yes,
            Err(TrySendError::Full(())) => Sent::Full,
            Err(_) => Sent::Gone,
        };
        self.outbox.flush(max_len, &trailer(self.me), send) != Sent::Yes
    }

    /// Hands the messages of others that have come to `each`, with their sender, and calls it without a message where more
    /// pieces have to follow. True if there were any.
    pub(super) fn receive(&mut self, mut each: impl FnMut(NodeId, Option<&[u8]>)) -> bool {
        for taken in 0..RUN {
            match self.receiver.try_recv() {
                Ok(piece) => {
                    let bytes = piece.bytes();
                    self.piece.resize(bytes.len(), 0);
                    bytes.copy_to(&mut self.piece);
                }
                Err(_) => return taken > 0,
            }
            let [piece @ .., slot, low, high, flags] = &self.piece[..] else { continue };
            let from = NodeId::new(u16::from(*slot), u16::from_le_bytes([*low, *high]));
            if from.slot == self.me.slot || from.inc == 0 {
                continue;
            }
            if let Some(assembly) = self.assemblies.get_mut(usize::from(from.slot)) {
                each(from, assembly.take(piece, *flags));
            }
        }
        true
    }
}

/// The sender's name behind each piece: its slot, below 64, and its incarnation.
fn trailer(node: NodeId) -> [u8; 3] {
    let [low, high] = node.inc.to_le_bytes();
    [node.slot as u8, low, high]
}
