//! The digest that a replica found at the last cut through the group.

use super::checksum::of_eight;
use super::layout;
use super::reader::SegmentReader;
use super::record::{self, Found};
use super::writer::SegmentWriter;
use crate::Index;

/// A replica at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number that the initiator gave the cut.
    pub id: u64,
    /// The index of the cut.
    pub index: Index,
    /// The digest of the state there.
    pub digest: u128,
}

const BODY_WORDS: usize = 4;

impl SegmentWriter {
    /// Publishes what this replica found at a cut.
    pub fn set_cut(&mut self, cut: &Cut) {
        let (low, high) = (cut.digest as u64, (cut.digest >> 64) as u64);
        let sum = checksum(cut);
        record::write(&self.words()[layout::CUT..][..=BODY_WORDS], cut.index + 1, &[cut.id, low, high, sum]);
    }
}

impl SegmentReader {
    /// The digest that this replica found at its last cut.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        let Found::Whole { number, body: [id, low, high, sum] } = record::read::<BODY_WORDS>(self.words(), layout::CUT)
        else {
            return None;
        };
        let cut = Cut { id, index: number.checked_sub(1)?, digest: u128::from(high) << 64 | u128::from(low) };
        (checksum(&cut) == sum).then_some(cut)
    }
}

fn checksum(cut: &Cut) -> u64 {
    u64::from(of_eight([cut.id, cut.index, cut.digest as u64, (cut.digest >> 64) as u64, 0, 0, 0, 0]))
}
