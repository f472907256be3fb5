//! The channels between this node and each other: one each way.

use corecast_base::region::{RegionPlan, RegionPlanError, SharedRegion};
use corecast_base::wait::Wait;
use corecast_channel::ump::{self, bytes};
use corecast_channel::{OpenChannelError, TryRecvError, TrySendError};

use super::config::SLOT_BYTES;
use super::pieces::{Assembly, Outbox, Room, Sent, WHOLE};
use super::wire::LogCopy;

/// The most messages that are taken from one channel before the next one's turn.
const RUN: usize = 64;

/// The channels to and from one other node.
pub(super) struct Link {
    sender: Option<bytes::Sender>,
    receiver: Option<bytes::Receiver>,
    outbox: Outbox,
    assembly: Assembly,
    piece: Vec<u8>,
    /// Keeps this node a participant of the region that the channels are in.
    _region: SharedRegion,
}

fn name(from: usize, to: usize) -> String {
    format!("from-{from}-to-{to}")
}

/// A channel. Its ends never sleep there: a node has one wake word for all of its channels.
fn config(link_bytes: usize) -> ump::Config {
    ump::Config { slots: link_bytes / SLOT_BYTES, wait: Wait::Spin, ..ump::Config::default() }
}

/// Adds the channels from each of the first `nodes` nodes to each other.
pub(super) fn declare(mut plan: RegionPlan, nodes: usize, link_bytes: usize) -> Result<RegionPlan, RegionPlanError> {
    let spec = ump::bytes::spec(config(link_bytes));
    for from in 0..nodes {
        for to in (0..nodes).filter(|&to| to != from) {
            plan = spec.declare(plan, &name(from, to))?;
        }
    }
    Ok(plan)
}

/// The region of a later node: channels to and from each other slot.
pub(super) fn plan_around(me: usize, slots: usize, link_bytes: usize) -> Result<RegionPlan, RegionPlanError> {
    let spec = ump::bytes::spec(config(link_bytes));
    let mut plan = RegionPlan::new().limit_bytes(1 << 36);
    for other in (0..slots).filter(|&other| other != me) {
        plan = spec.declare(plan, &name(me, other))?;
        plan = spec.declare(plan, &name(other, me))?;
    }
    plan.participants(slots as u32 * 2 + 8)
}

impl Link {
    /// The ends of node `me` towards another.
    pub(super) fn open(region: &SharedRegion, me: usize, other: usize) -> Result<Self, OpenChannelError> {
        let sender = match bytes::sender(region, &name(me, other)) {
            Ok(sender) => Some(sender),
            // The other one has come and gone already.
            Err(OpenChannelError::Closed { .. } | OpenChannelError::Died { .. }) => None,
            Err(error) => return Err(error),
        };
        let receiver = bytes::receiver(region, &name(other, me))?;
        Ok(Self {
            sender,
            receiver: Some(receiver),
            outbox: Outbox::default(),
            assembly: Assembly::default(),
            piece: Vec::new(),
            _region: region.clone(),
        })
    }

    /// True while the other node may get messages.
    pub(super) fn is_open(&self) -> bool {
        self.sender.is_some()
    }

    /// True while messages wait for room.
    pub(super) fn has_backlog(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// The number of pieces that went out late, and of those that came and were not the last of their message.
    pub(super) fn pieces(&self) -> (u64, u64) {
        (self.outbox.pieces(), self.assembly.parts())
    }

    /// Whether it takes a message.
    pub(super) fn room_for(&self, copy: Option<LogCopy>) -> Room {
        self.outbox.room_for(copy)
    }

    /// Sends a message, or keeps it until there is room. False if it is lost.
    pub(super) fn send(&mut self, copy: Option<LogCopy>, message: &[u8]) -> bool {
        let Some(sender) = &mut self.sender else { return false };
        if self.outbox.is_empty() && message.len() < sender.max_len() {
            self.piece.clear();
            self.piece.extend_from_slice(message);
            self.piece.push(WHOLE);
            match try_send(sender, &self.piece) {
                Sent::Yes => return true,
                Sent::Full => {}
                Sent::Gone => return self.close(),
            }
        }
        let room = self.outbox.push(copy, message);
        self.flush();
        room != Room::No
    }

    /// Sends what waits for room, as far as there is any. True if something waits still.
    pub(super) fn flush(&mut self) -> bool {
        let Some(sender) = &mut self.sender else { return false };
        if self.outbox.is_empty() {
            return false;
        }
        let max_len = sender.max_len();
        match self.outbox.flush(max_len, &[], |piece| try_send(sender, piece)) {
            Sent::Gone => self.close(),
            Sent::Yes => false,
            Sent::Full => true,
        }
    }

    #[cold]
    fn close(&mut self) -> bool {
        self.sender = None;
        self.outbox.clear();
        false
    }

    /// Hands the messages that have come to `each`. True if there were any.
    pub(super) fn receive(&mut self, mut each: impl FnMut(&[u8])) -> bool {
        for taken in 0..RUN {
            let Some(receiver) = &mut self.receiver else { return taken > 0 };
            let has_ended = match receiver.try_recv() {
                Ok(piece) => {
                    self.piece.resize(piece.len(), 0);
                    piece.copy_to(&mut self.piece);
                    false
                }
                Err(TryRecvError::Empty) => return taken > 0,
                Err(_) => true,
            };
            if has_ended {
                // The node is gone, or its memory is damaged: nothing comes from it any more, and it gets nothing.
                self.receiver = None;
                self.close();
                return taken > 0;
            }
            let Some((&flags, piece)) = self.piece.split_last() else { continue };
            if let Some(message) = self.assembly.take(piece, flags) {
                each(message);
            }
        }
        true
    }
}

fn try_send(sender: &mut bytes::Sender, piece: &[u8]) -> Sent {
    match sender.try_send(piece) {
        Ok(()) => Sent::Yes,
        Err(TrySendError::Full(())) => Sent::Full,
        Err(_) => Sent::Gone,
    }
}
