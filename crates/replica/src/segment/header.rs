//! The first words of a segment: whose it is, and its sizes.

use corecast_base::PlaceSlice;
use corecast_base::sync::AtomicU64;

use super::checksum::of_eight;
use super::error::LayoutError;
use super::layout::{HEADER, SegmentLayout, VERSION};
use super::record::{self, Found};
use super::words::ReadWords;
use crate::NodeId;

/// "ccreplog", as bytes in memory.
const MAGIC: u64 = u64::from_le_bytes(*b"ccreplog");
const BODY_WORDS: usize = 4;

/// Writes it as record 1: magic, version, layout hash and node, checksum.
pub(super) fn write(words: &PlaceSlice<AtomicU64>, layout: SegmentLayout, node: NodeId) {
    let who = u64::from(layout.hash()) << 32 | u64::from(node.to_bits());
    record::write(&words[HEADER..][..1 + BODY_WORDS], 1, &[MAGIC, VERSION, who, checksum(who)]);
}

/// Checks that it is the header of `node`'s segment in a group with these sizes.
pub(super) fn check(words: &ReadWords, layout: SegmentLayout, node: NodeId) -> Result<(), LayoutError> {
    if words.len() < layout.words() {
        return Err(LayoutError::Size { words: words.len(), expected: layout.words() });
    }
    let Found::Whole { number: 1, body: [MAGIC, version, who, sum] } = record::read::<BODY_WORDS>(words, HEADER) else {
        return Err(LayoutError::NotOurs);
    };
    match who as u32 == node.to_bits() {
        _ if version != VERSION => Err(LayoutError::Version { found: version, expected: VERSION }),
        _ if sum != checksum(who) => Err(LayoutError::NotOurs),
        _ if (who >> 32) as u32 != layout.hash() => Err(LayoutError::Sizes),
        true => Ok(()),
        false => Err(LayoutError::Node),
    }
}

fn checksum(who: u64) -> u64 {
    u64::from(of_eight([MAGIC, VERSION, who, 0, 0, 0, 0, 0]))
}
