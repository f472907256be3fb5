//! The name of a node: a slot of the group, and which incarnation of it.

use std::fmt;

/// The largest number of slots of a group.
pub const MAX_SLOTS: usize = 1023;

/// A node: slot `slot` (0 to 1022) in its `inc`-th life. A restarted process has the same slot and a larger incarnation;
/// the protocol takes it for another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    /// The slot.
    pub slot: u16,
    /// The incarnation, 1 for the first.
    pub inc: u16,
}

impl NodeId {
    /// Incarnation `inc` of a slot.
    #[must_use]
    pub const fn new(slot: u16, inc: u16) -> Self {
        Self { slot, inc }
    }

    /// As a number below 2^26: the slot above 16 bits of incarnation.
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        (self.slot as u32) << 16 | self.inc as u32
    }

    /// Of the number that [`to_bits`](Self::to_bits) gives; `None` if the slot is beyond [`MAX_SLOTS`].
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        let slot = (bits >> 16) as u16;
        if (slot as usize) < MAX_SLOTS { Some(Self { slot, inc: bits as u16 }) } else { None }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot, self.inc)
    }
}
