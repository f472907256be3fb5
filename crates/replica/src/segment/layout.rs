//! Where the parts of a segment lie.
//!
//! ```text
//! a line of 128 B each   header | beat | applied and prefix hash | state, CPU | accepted {commit, stable, promised}
//!                        | proposals {tail, stable} | relayed | requests {tail, head} | gift | ask
//! then                   cells[64], 64 B | accepted ring[L] | proposal ring[L] | request ring, 64 B a slot
//!                        | held[slots], 32 B | cuts[slots], 64 B | bulk arena
//! ```

use super::checksum::of_words;
use super::record;
use super::slot::SLOT_WORDS;
use crate::MAX_SLOTS;

/// The version of the layout, of segments and of the control page, and of what nodes make of a log.
pub(super) const VERSION: u64 = 4;
/// The words of a writer's line: 128 B, as the prefetcher fetches lines in pairs.
pub(super) const LINE: usize = 16;
/// The cells of a node: a cell is written anew after this many own proposals.
#[cfg(not(loom))]
pub const CELLS: usize = 64;
/// Few, as a model makes each word anew in every run.
#[cfg(loom)]
pub const CELLS: usize = 2;
/// The words of a cell.
pub(super) const CELL_WORDS: usize = 8;
/// The words of a line of the held table.
pub(super) const HELD_WORDS: usize = 4;
/// The words of a cut.
pub(super) const CUT_WORDS: usize = 8;

pub(super) const HEADER: usize = 0;
pub(super) const BEAT: usize = LINE;
pub(super) const APPLIED: usize = 2 * LINE;
pub(super) const HASH: usize = APPLIED + 1;
pub(super) const STATE: usize = 3 * LINE;
/// The CPU that the node is bound to, and one.
pub(super) const CPU: usize = STATE + 1;
pub(super) const COMMIT: usize = 4 * LINE;
pub(super) const STABLE: usize = COMMIT + 1;
pub(super) const PROMISED: usize = COMMIT + 2;
pub(super) const PROPOSAL_TAIL: usize = 5 * LINE;
pub(super) const PROPOSAL_STABLE: usize = PROPOSAL_TAIL + 1;
pub(super) const RELAYED: usize = 6 * LINE;
pub(super) const REQUEST_TAIL: usize = 7 * LINE;
pub(super) const REQUEST_HEAD: usize = REQUEST_TAIL + 1;
/// The gift: the state of this node, for those that join.
pub(super) const GIFT: usize = 8 * LINE;
/// The number of the asking, and the node that is asked.
pub(super) const ASK: usize = 9 * LINE;
const PARTS: usize = 10 * LINE;

/// The most commands of a log window.
const MAX_LOG: u64 = 1 << 24;

/// The sizes of a group's segments. All nodes of a group have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentLayout {
    log: u64,
    requests: u64,
    slots: usize,
    bulk_bytes: u64,
}

impl SegmentLayout {
    /// The length of a log window unless a group says otherwise: 1 MiB for each ring.
    pub const DEFAULT_LOG: u64 = 16_384;

    /// Segments of a group of `slots` nodes, with log windows of `log` commands, and request rings of L/16, but at least 64.
    /// The arena for long bodies has `bulk_bytes` bytes, rounded up to lines.
    ///
    /// # Panics
    /// If `slots` is not 1 to 1,023, or `log` is not a power of two of at most 2^24.
    #[must_use]
    #[track_caller]
    pub fn new(slots: usize, log: u64, bulk_bytes: u64) -> Self {
        Self::with_requests(slots, log, (log / 16).max(64), bulk_bytes)
    }

    /// The same with request rings of `requests`, a power of two.
    ///
    /// # Panics
    /// As for [`new`](Self::new).
    #[must_use]
    #[track_caller]
    pub fn with_requests(slots: usize, log: u64, requests: u64, bulk_bytes: u64) -> Self {
        let layout = Self { log, requests, slots, bulk_bytes: bulk_bytes.next_multiple_of(64) };
        assert!(
            layout.is_valid(),
            "a group has 1 to {MAX_SLOTS} slots, and rings of a power of two, {MAX_LOG} at most"
        );
        layout
    }

    /// The sizes in these words; `None` if they are no sizes of a group.
    pub(super) fn from_words([log, requests, slots, bulk_bytes]: [u64; 4]) -> Option<Self> {
        let layout = Self { log, requests, slots: usize::try_from(slots).ok()?, bulk_bytes };
        layout.is_valid().then_some(layout)
    }

    pub(super) fn to_words(self) -> [u64; 4] {
        [self.log, self.requests, self.slots as u64, self.bulk_bytes]
    }

    fn is_valid(&self) -> bool {
        let is_ring = |len: u64| len.is_power_of_two() && len <= MAX_LOG;
        let has_arena = self.bulk_bytes % 64 == 0 && self.bulk_bytes <= 1 << 40;
        is_ring(self.log) && is_ring(self.requests) && (1..=MAX_SLOTS).contains(&self.slots) && has_arena
    }

    /// The length of the log window, L: a command may be proposed while its index is below `stable` + L.
    #[must_use]
    pub fn log(&self) -> u64 {
        self.log
    }

    /// The length of the request ring.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The number of nodes that the group has room for.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The size of the arena for long bodies, in bytes.
    #[must_use]
    pub fn bulk_bytes(&self) -> u64 {
        self.bulk_bytes
    }

    /// The number of words of a segment.
    #[must_use]
    pub fn words(&self) -> usize {
        self.bulk() + (self.bulk_bytes / 8) as usize
    }

    /// The size of a segment, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        8 * self.words()
    }

    /// A number that differs where the layout does.
    pub(super) fn hash(&self) -> u32 {
        let [log, requests, slots, bulk_bytes] = self.to_words();
        of_words(&[VERSION, log, requests, slots, bulk_bytes, CELLS as u64, record::BITS])
    }

    pub(super) fn cell(&self, number: usize) -> usize {
        PARTS + number * CELL_WORDS
    }

    pub(super) fn accepted(&self) -> Ring {
        Ring { at: PARTS + CELLS * CELL_WORDS, len: self.log }
    }

    pub(super) fn proposals(&self) -> Ring {
        Ring { at: self.accepted().end(), len: self.log }
    }

    pub(super) fn request_ring(&self) -> Ring {
        Ring { at: self.proposals().end(), len: self.requests }
    }

    pub(super) fn held(&self, slot: usize) -> usize {
        self.request_ring().end() + slot * HELD_WORDS
    }

    /// The last cut that a node in this slot has asked for.
    pub(super) fn cut(&self, slot: usize) -> usize {
        self.held(self.slots).next_multiple_of(CUT_WORDS) + slot * CUT_WORDS
    }

    /// The first word of the arena.
    pub(super) fn bulk(&self) -> usize {
        self.cut(self.slots).next_multiple_of(LINE)
    }
}

/// The slots of a ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring {
    at: usize,
    len: u64,
}

impl Ring {
    /// The first word of the slot of a command with this index.
    #[inline(always)]
    pub(super) fn slot(self, index: u64) -> usize {
        self.at + (index & (self.len - 1)) as usize * SLOT_WORDS
    }

    /// The number of slots.
    pub(super) fn len(self) -> u64 {
        self.len
    }

    fn end(self) -> usize {
        self.at + self.len as usize * SLOT_WORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_one_behind_the_other() {
        let layout = SegmentLayout::new(3, 1024, 1000);
        let parts = [layout.cell(0), layout.accepted().at, layout.proposals().at, layout.request_ring().at];
        assert!(parts.is_sorted() && parts.iter().all(|at| at % 8 == 0), "slots lie on lines: {parts:?}");
        assert_eq!(layout.proposals().at - layout.accepted().at, 8 * 1024);
        assert_eq!((layout.requests(), layout.bulk_bytes()), (64, 1024));
        assert!(layout.cut(0) % 8 == 0 && layout.cut(0) >= layout.held(3) && layout.bulk() >= layout.cut(3));
        assert_eq!(layout.bulk() % LINE, 0);
        assert_eq!(layout.words(), layout.bulk() + 128);
        assert_eq!(SegmentLayout::from_words(layout.to_words()), Some(layout));
    }

    #[test]
    fn sizes_from_strangers_are_checked() {
        let good = SegmentLayout::new(3, 1024, 0).to_words();
        for (at, bad) in
            [(0, 0), (0, 3), (0, 1 << 25), (1, 65), (2, 0), (2, 1024), (2, u64::MAX), (3, 1), (3, u64::MAX)]
        {
            let mut words = good;
            words[at] = bad;
            assert_eq!(SegmentLayout::from_words(words), None, "word {at} is {bad}");
        }
        assert_ne!(SegmentLayout::new(3, 1024, 0).hash(), SegmentLayout::new(4, 1024, 0).hash());
    }
}
