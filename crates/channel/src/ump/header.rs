//! The header word of a slot: `{seq: 32, len: 24, kind: 8}`, low bits first; of a message that carries a stamp
//! `{seq: 32, len: 10, stamp: 14, kind: 8}`.
//!
//! `seq` of the n-th slot ever used (from 0) is the low half of n + 1. A header left from an earlier lap differs by the
//! number of slots, zeroed memory by one, so one look tells a receiver whether its next message is there.

/// The header word: everything a receiver learns about a message before it reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header(u64);

/// The contents of a slot: [`Kind::PAD`], or a tag of the sender's choice and, in channels that have them, a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    tag: u8,
    /// 0 in channels without stamps.
    stamp: u16,
}

impl Kind {
    /// No message: the rest of the ring was too short for the next one; `len` counts the slots to skip.
    pub(super) const PAD: Self = Self { tag: 0, stamp: 0 };

    /// The message with this tag, 1 to 255.
    pub(super) const fn tagged(tag: u8) -> Self {
        assert!(tag >= 1, "message tags are 1 to 255");
        Self { tag, stamp: 0 }
    }

    /// The same tag with this stamp, at most [`MAX_STAMP`], of a message of at most [`MAX_STAMPED_LEN`] bytes.
    #[inline(always)]
    pub(super) const fn stamped(self, stamp: u16) -> Self {
        Self { tag: self.tag, stamp }
    }

    /// The tag, counted from `first`; `None` if it is below.
    pub(super) fn tag_index(self, first: u8) -> Option<usize> {
        self.tag.checked_sub(first).map(usize::from)
    }
}

/// The longest message that the header can describe.
pub(super) const MAX_LEN: usize = (1 << 24) - 1;
/// The bits of the length of a message that carries a stamp.
const STAMPED_LEN_BITS: u32 = 10;
/// The longest message that carries a stamp.
pub(super) const MAX_STAMPED_LEN: usize = (1 << STAMPED_LEN_BITS) - 1;
/// The largest stamp.
pub(super) const MAX_STAMP: u16 = (1 << (24 - STAMPED_LEN_BITS)) - 1;

impl Header {
    #[inline(always)]
    pub(super) fn new(n: u64, len: usize, kind: Kind) -> Self {
        debug_assert!(len <= if kind.stamp == 0 { MAX_LEN } else { MAX_STAMPED_LEN } && kind.stamp <= MAX_STAMP);
        Self(u64::from(seq(n)) | told(kind, len) << 32)
    }

    /// A header that no receiver waiting at slot `n` takes for a message.
    #[inline(always)]
    pub(super) fn nothing_at(n: u64) -> Self {
        Self(u64::from(seq(n).wrapping_sub(1)))
    }

    /// The header of slot `n` after its one-slot message was read. It still identifies that message, so that a new sender
    /// finds where a dead one stopped.
    #[inline(always)]
    pub(super) fn cleared(n: u64) -> Self {
        Self::new(n, 0, Kind::PAD)
    }

    #[inline(always)]
    pub(super) fn from_word(word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        self.0
    }

    /// True if this is the header of what was sent in slot `n`.
    #[inline(always)]
    pub(super) fn is_at(self, n: u64) -> bool {
        self.0 as u32 == seq(n)
    }

    /// True if it announces, in any slot, a message of this kind and length.
    #[inline(always)]
    pub(super) fn tells(self, kind: Kind, len: usize) -> bool {
        self.0 >> 32 == told(kind, len)
    }

    /// True if the slot was [cleared](Self::cleared), or never used.
    #[inline(always)]
    pub(super) fn is_cleared(self) -> bool {
        self.0 >> 32 == 0
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        (self.0 >> 32) as usize & MAX_LEN
    }

    /// The length of a message that carries a stamp.
    #[inline(always)]
    pub(super) fn stamped_len(self) -> usize {
        self.len() & MAX_STAMPED_LEN
    }

    #[inline(always)]
    pub(super) fn stamp(self) -> u16 {
        (self.len() >> STAMPED_LEN_BITS) as u16
    }

    /// Without its stamp.
    #[inline(always)]
    pub(super) fn kind(self) -> Kind {
        Kind { tag: (self.0 >> 56) as u8, stamp: 0 }
    }
}

/// The upper half of a header.
#[inline(always)]
fn told(kind: Kind, len: usize) -> u64 {
    len as u64 | u64::from(kind.stamp) << STAMPED_LEN_BITS | u64::from(kind.tag) << 24
}

#[inline(always)]
fn seq(n: u64) -> u32 {
    (n as u32).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_come_back(n: u64, len in 0..=MAX_LEN, tag: u8) {
            let kind = |tag| Kind { tag, stamp: 0 };
            let header = Header::from_word(Header::new(n, len, kind(tag)).word());
            prop_assert!(header.is_at(n));
            prop_assert_eq!((header.len(), header.kind()), (len, kind(tag)));
            prop_assert!(header.tells(kind(tag), len));
            prop_assert!(!header.tells(kind(tag ^ 1), len) && !header.tells(kind(tag), len ^ 1));
        }

        #[test]
        fn a_stamp_comes_back_with_the_rest(n: u64, len in 0..=MAX_STAMPED_LEN, tag: u8, stamp in 0..=MAX_STAMP) {
            let kind = Kind { tag, stamp };
            let header = Header::from_word(Header::new(n, len, kind).word());
            prop_assert!(header.is_at(n));
            prop_assert_eq!((header.stamped_len(), header.stamp(), header.kind().stamped(stamp)), (len, stamp, kind));
            prop_assert!(header.tells(kind, len) && !header.tells(kind.stamped(stamp ^ 1), len));
        }

        #[test]
        fn no_other_lap_and_no_cleared_word_passes(n: u64, slots_log2 in 1..=20u32, laps in 1..1000u64) {
            let older = n.wrapping_sub(laps << slots_log2);
            prop_assert!(!Header::new(older, 0, Kind::tagged(1)).is_at(n));
            prop_assert!(!Header::nothing_at(n).is_at(n));
        }
    }

    #[test]
    fn zeroed_memory_is_empty() {
        assert!((0..1 << 20).all(|n| !Header::from_word(0).is_at(n)));
    }
}
