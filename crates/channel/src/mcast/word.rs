//! The word of a slot, which says whose turn it is there.
//!
//! A slot is used for one ticket per lap. Its word holds the lap (so that the slot's index and the word make the ticket),
//! the state of the ticket, and while it is claimed the number of the sender:
//!
//! ```text
//! bits 63..10 lap + 1, modulo 2^54    9..8 state: 0 published, 1 skipped, 2 claimed    7..0 the claiming sender, else 0
//! ```
//! A word of zeroes is the publication of the lap before the first, so unwritten memory is an empty ring. Words are
//! compared for equality, except by readers that may have been overrun, and those are less than 2^53 laps behind.

const LAP: u32 = 10;
const STATE: u32 = 8;
const LAP_MASK: u64 = !0 << LAP;
/// Clears the owner and the bit between skipped and published: both let a reader go on.
const DONE_MASK: u64 = !0x1FF;

/// The state of the ticket in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Published,
    /// Its sender died before it published.
    Skipped,
    /// This sender is writing.
    Claimed(u8),
    /// A word that no sender writes.
    Nonsense,
}

/// The word of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// The slots and the laps of tickets in a ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Laps {
    slots_log2: u32,
}

impl Word {
    pub(super) fn turn(self) -> Turn {
        match (self.0 >> STATE & 3, self.0 as u8) {
            (0, 0) => Turn::Published,
            (1, 0) => Turn::Skipped,
            (2, sender) => Turn::Claimed(sender),
            _ => Turn::Nonsense,
        }
    }

    /// The same ticket, skipped.
    pub(super) fn skipped(self) -> Self {
        Self(self.0 & LAP_MASK | 1 << STATE)
    }

    /// True if readers of `ticket` go on: it is published or skipped.
    #[inline(always)]
    pub(super) fn is_done(self, laps: Laps, ticket: u64) -> bool {
        self.0 & DONE_MASK == laps.published(ticket).0
    }

    /// True if the lap before `ticket` is over in this slot.
    #[inline(always)]
    pub(super) fn is_free_for(self, laps: Laps, ticket: u64) -> bool {
        self.is_done(laps, ticket.wrapping_sub(laps.slots()))
    }

    /// True if it speaks of `ticket`, claimed or later.
    #[inline(always)]
    pub(super) fn is_of(self, laps: Laps, ticket: u64) -> bool {
        self.0 & LAP_MASK == laps.published(ticket).0
    }

    /// True if a sender has claimed `ticket` and not published it yet.
    #[inline]
    pub(super) fn is_claimed_for(self, laps: Laps, ticket: u64) -> bool {
        self.is_of(laps, ticket) && matches!(self.turn(), Turn::Claimed(_))
    }

    /// True if it speaks of a ticket of this slot that comes after `ticket`.
    #[inline]
    pub(super) fn is_later(self, laps: Laps, ticket: u64) -> bool {
        (self.0 & LAP_MASK).wrapping_sub(laps.published(ticket).0) as i64 > 0
    }
}

impl Laps {
    /// # Panics
    /// If `slots` is no power of two, at least 2.
    pub(super) fn new(slots: usize) -> Self {
        assert!(slots.is_power_of_two() && slots >= 2, "a ring has a power of two of slots, not {slots}");
        Self { slots_log2: slots.ilog2() }
    }

    #[inline(always)]
    pub(super) fn slots(self) -> u64 {
        1 << self.slots_log2
    }

    /// The slot of a ticket.
    #[inline(always)]
    pub(super) fn index(self, ticket: u64) -> usize {
        (ticket & (self.slots() - 1)) as usize
    }

    #[inline(always)]
    pub(super) fn published(self, ticket: u64) -> Word {
        Word((ticket >> self.slots_log2).wrapping_add(1) << LAP)
    }

    #[inline(always)]
    pub(super) fn claimed(self, ticket: u64, sender: u8) -> Word {
        Word(self.published(ticket).0 | 2 << STATE | u64::from(sender))
    }

    /// The ticket that a word in slot `index` speaks of, given one that is less than 2^53 laps away.
    pub(super) fn ticket(self, word: Word, index: usize, near: u64) -> u64 {
        let base = (near & !(self.slots() - 1)) | index as u64;
        let laps = (word.0 & LAP_MASK).wrapping_sub(self.published(base).0) as i64 >> LAP;
        base.wrapping_add((laps << self.slots_log2) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zeroed_memory_is_an_empty_ring() {
        let laps = Laps::new(8);
        for ticket in 0..8 {
            assert!(Word(0).is_free_for(laps, ticket) && !Word(0).is_of(laps, ticket), "ticket {ticket}");
        }
    }

    proptest! {
        #[test]
        fn a_word_tells_its_ticket_and_no_other(ticket: u64, slots_log2 in 1..=20u32, away in 1..1_000_000u64, sender: u8) {
            let laps = Laps::new(1 << slots_log2);
            let lap = laps.slots();
            let (done, claimed) = (laps.published(ticket), laps.claimed(ticket, sender));
            prop_assert_eq!((done.turn(), claimed.turn()), (Turn::Published, Turn::Claimed(sender)));
            prop_assert_eq!(claimed.skipped().turn(), Turn::Skipped);
            prop_assert!(done.is_done(laps, ticket) && claimed.skipped().is_done(laps, ticket));
            prop_assert!(!claimed.is_done(laps, ticket) && claimed.is_of(laps, ticket));
            prop_assert!(claimed.is_claimed_for(laps, ticket) && !done.is_claimed_for(laps, ticket));
            let next = ticket.wrapping_add(lap);
            prop_assert!(done.is_free_for(laps, next) && claimed.skipped().is_free_for(laps, next));
            prop_assert!(!claimed.is_free_for(laps, next));
            let other = ticket.wrapping_add(away.wrapping_mul(lap));
            prop_assert!(!laps.published(other).is_of(laps, ticket) && laps.published(other).is_later(laps, ticket));
            prop_assert!(!done.is_later(laps, other) && !done.is_later(laps, ticket));
            prop_assert_eq!(laps.ticket(claimed, laps.index(ticket), other), ticket);
            prop_assert_eq!(laps.ticket(laps.published(other), laps.index(ticket), ticket), other);
        }
    }
}
