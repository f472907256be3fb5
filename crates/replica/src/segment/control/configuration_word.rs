//! The word that names a configuration.

use crate::{Epoch, NodeId};

/// The newest configuration as one word: its epoch, the node that proposed it, and the cell of that node's segment in which
/// it lies. `epoch:32 slot:10 inc:16 cell:6`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConfigurationWord(u64);

const EPOCH: u32 = 32;
const SLOT: u32 = 22;
const INC: u32 = 6;
const CELL: u64 = 0x3f;

impl ConfigurationWord {
    /// The word of a group that has no configuration yet.
    pub const NONE: Self = Self(0);

    /// The configuration of `epoch` in cell `cell` of `node`'s segment.
    ///
    /// # Panics
    /// If the cell is not one of 64, or `inc` is 0.
    #[must_use]
    #[track_caller]
    pub const fn new(epoch: Epoch, node: NodeId, cell: usize) -> Self {
        assert!(cell as u64 <= CELL && node.inc != 0, "a cell is numbered from 0 to 63, an incarnation from 1");
        let node = (node.slot as u64) << SLOT | (node.inc as u64) << INC;
        Self((epoch as u64) << EPOCH | node | cell as u64)
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn to_bits(self) -> u64 {
        self.0
    }

    /// The number of the configuration.
    #[inline]
    #[must_use]
    pub const fn epoch(self) -> Epoch {
        (self.0 >> EPOCH) as Epoch
    }

    /// The node in whose segment it lies; `None` for [`NONE`](Self::NONE), and for words that name no node.
    #[must_use]
    pub const fn node(self) -> Option<NodeId> {
        let inc = (self.0 >> INC) as u16;
        let bits = (self.0 >> SLOT & 0x3ff) << 16 | inc as u64;
        if inc == 0 { None } else { NodeId::from_bits(bits as u32) }
    }

    /// The number of the cell there.
    #[must_use]
    pub const fn cell(self) -> usize {
        (self.0 & CELL) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_it_was_made_of() {
        for (epoch, slot, inc, cell) in [(0, 0, 1, 0), (1, 1022, u16::MAX, 63), (u32::MAX, 5, 7, 1)] {
            let word = ConfigurationWord::new(epoch, NodeId::new(slot, inc), cell);
            assert_eq!((word.epoch(), word.node(), word.cell()), (epoch, Some(NodeId::new(slot, inc)), cell));
            assert_eq!(ConfigurationWord::from_bits(word.to_bits()), word);
            assert_ne!(word, ConfigurationWord::NONE);
        }
        assert_eq!(ConfigurationWord::NONE.node(), None);
        assert_eq!(ConfigurationWord::from_bits(u64::MAX).node(), None, "there is no slot 1023");
    }
}
