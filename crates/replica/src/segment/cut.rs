//! The digests that a replica found at the last cuts through the group: one for each slot whose node asked.

use super::checksum::of_eight;
use super::layout::CUT_WORDS;
use super::reader::SegmentReader;
use super::record::{self, Found};
use super::writer::SegmentWriter;
use crate::{Index, NodeId};

/// A replica at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of the cut: the node that asked for it in the upper half, and a number that the node has not used before.
    pub id: u64,
    /// The index of the cut.
    pub index: Index,
    /// The digest of the state there.
    pub digest: u128,
}

const BODY_WORDS: usize = 4;

/// The bytes with which a replica answers at a cut, of whatever size its state is: a line.
pub const CUT_BYTES: u64 = 64;

const _: () = assert!(CUT_BYTES as usize == CUT_WORDS * size_of::<u64>() && BODY_WORDS < CUT_WORDS);

impl Cut {
    /// The number of the `number`-th cut that a node asks for.
    #[must_use]
    pub const fn id_of(asker: NodeId, number: u32) -> u64 {
        (asker.to_bits() as u64) << 32 | number as u64
    }

    /// The node that asked for the cut with this number.
    #[must_use]
    pub const fn asker(id: u64) -> Option<NodeId> {
        NodeId::from_bits((id >> 32) as u32)
    }
}

impl SegmentWriter {
    /// Publishes what this replica found at a cut, in the place of the one before that the same slot has asked for. Nothing is
    /// published of a node beyond the group's.
    pub fn set_cut(&mut self, cut: &Cut) {
        let Some(at) = Cut::asker(cut.id).and_then(|asker| place(self.layout(), asker)) else { return };
        let (low, high) = (cut.digest as u64, (cut.digest >> 64) as u64);
        let sum = checksum(cut);
        record::write(&self.words()[at..][..=BODY_WORDS], cut.index + 1, &[cut.id, low, high, sum]);
    }
}

impl SegmentReader {
    /// The digest that this replica found at the last cut that a node in the slot of `asker` has asked for.
    #[must_use]
    pub fn cut(&self, asker: NodeId) -> Option<Cut> {
        let found = record::read::<BODY_WORDS>(self.words(), place(self.layout(), asker)?);
        let Found::Whole { number, body: [id, low, high, sum] } = found else {
            return None;
        };
        let cut = Cut { id, index: number.checked_sub(1)?, digest: u128::from(high) << 64 | u128::from(low) };
        (checksum(&cut) == sum).then_some(cut)
    }
}

fn place(layout: &super::SegmentLayout, asker: NodeId) -> Option<usize> {
    let slot = usize::from(asker.slot);
    (slot < layout.slots()).then(|| layout.cut(slot))
}

fn checksum(cut: &Cut) -> u64 {
    u64::from(of_eight([cut.id, cut.index, cut.digest as u64, (cut.digest >> 64) as u64, 0, 0, 0, 0]))
}
