//! The state that a node gives to those that join, and the asking for it.
//!
//! A node that joins asks another one by a word in its own segment. That one writes its state into a file of its own, and says in
//! its segment where, at first while it writes, and then with length and checksum: one gift serves all that ask.

use corecast_base::sync::{AtomicU64, Ordering};

use super::checksum::of_eight;
use super::layout;
use super::reader::SegmentReader;
use super::record::{self, Found};
use super::writer::SegmentWriter;
use crate::{Index, NodeId};

/// Where the state of a node lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gift {
    /// The number of the gift, from 1.
    pub number: u64,
    /// The count of commands that the state shows.
    pub index: Index,
    /// The bytes of the state; [`Gift::OPEN`] while it is being written.
    pub bytes: u64,
    /// The checksum of the state.
    pub crc: u64,
    /// The number of the descriptor in the giver's process.
    pub fd: u32,
    /// The number that tells its file from all others.
    pub identity: u64,
}

impl Gift {
    /// The length of a state that is still being written.
    pub const OPEN: u64 = u64::MAX;

    /// True while the giver writes.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.bytes == Self::OPEN
    }
}

const BODY_WORDS: usize = 6;

impl SegmentWriter {
    /// Says where this node's state lies.
    pub fn set_gift(&mut self, gift: &Gift) {
        let Gift { number, index, bytes, crc, fd, identity } = *gift;
        let sum = checksum(number, [index, bytes, crc, fd.into(), identity]);
        let body = [index, bytes, crc, fd.into(), identity, sum];
        record::write(&self.words()[layout::GIFT..][..=BODY_WORDS], number, &body);
    }

    /// Asks a node for its state, or nobody any more. Each asking has a larger number, from 1.
    pub fn ask(&mut self, number: u32, giver: Option<NodeId>) {
        let word = giver.map_or(0, |giver| u64::from(number) << 32 | u64::from(giver.to_bits()));
        let ask: &AtomicU64 = &self.words()[layout::ASK];
        // ORDERING: Relaxed, the word is all there is to know
        ask.store(word, Ordering::Relaxed);
    }
}

impl SegmentReader {
    /// Where this node's state lies; `None` if it gives none, or is writing this.
    #[must_use]
    pub fn gift(&self) -> Option<Gift> {
        let Found::Whole { number, body } = record::read::<BODY_WORDS>(self.words(), layout::GIFT) else { return None };
        let [index, bytes, crc, fd, identity, sum] = body;
        let is_sound = sum == checksum(number, [index, bytes, crc, fd, identity]);
        let fd = u32::try_from(fd).ok()?;
        is_sound.then_some(Gift { number, index, bytes, crc, fd, identity })
    }

    /// The number of this node's asking, and the node that it asks.
    #[must_use]
    pub fn asks(&self) -> Option<(u32, NodeId)> {
        let word = self.words().load(layout::ASK);
        let number = (word >> 32) as u32;
        if number == 0 { None } else { Some((number, NodeId::from_bits(word as u32)?)) }
    }
}

fn checksum(number: u64, [a, b, c, d, e]: [u64; 5]) -> u64 {
    u64::from(of_eight([number, a, b, c, d, e, 0, 0]))
}
