//! The messages that a reader has released, in any order, and the times when it tells the senders.
//!
//! The cursor that senders look at is the lowest ticket that is not released. The reader stores it after every `K`
//! releases, and whenever there is nothing to receive. A store per message would take the line from a sender that looks for
//! room, and later stores would let a sender wait for room that is there. A slot that asks for a cursor early was tried in
//! `ump` and dropped: it makes the ends of a full ring move in lockstep.

use std::cell::Cell;

/// The most releases between two stores of the cursor.
const LONGEST_SILENCE: u64 = 32;

/// The tickets of one reader.
#[derive(Debug)]
pub(super) struct Pins {
    /// The ticket to read next.
    next: Cell<u64>,
    /// The lowest ticket that is not released.
    low: Cell<u64>,
    /// The cursor that was stored last.
    told: Cell<u64>,
    /// The released tickets above `low`: a bit per slot, and their number.
    released: Box<[Cell<u64>]>,
    holes: Cell<u64>,
    silence: u64,
}

impl Pins {
    /// The tickets of a reader that starts at this ticket and has said so, in a ring of `slots` slots, a power of two.
    pub(super) fn starting_at(start: u64, slots: u64) -> Self {
        Self {
            next: Cell::new(start),
            low: Cell::new(start),
            told: Cell::new(start),
            released: (0..slots.div_ceil(64)).map(|_| Cell::new(0)).collect(),
            holes: Cell::new(0),
            silence: (slots / 8).clamp(1, LONGEST_SILENCE),
        }
    }

    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        self.next.get()
    }

    /// Takes the next ticket.
    #[inline(always)]
    pub(super) fn pin(&self) {
        self.next.set(self.next.get().wrapping_add(1));
    }

    /// Tickets that are taken and not released.
    pub(super) fn open(&self) -> u64 {
        self.next.get().wrapping_sub(self.low.get()).wrapping_sub(self.holes.get())
    }

    /// Releases a ticket that was taken; true if it is time to tell.
    #[inline(always)]
    pub(super) fn release(&self, ticket: u64) -> bool {
        if ticket != self.low.get() {
            self.mark(ticket);
            return false;
        }
        self.low.set(ticket.wrapping_add(1));
        if self.holes.get() > 0 {
            self.close_up();
        }
        self.low.get().wrapping_sub(self.told.get()) >= self.silence
    }

    /// The cursor, if it was not stored yet; it counts as stored then.
    #[inline(always)]
    pub(super) fn news(&self) -> Option<u64> {
        let low = self.low.get();
        (low != self.told.replace(low)).then_some(low)
    }

    /// Goes on at a later ticket, with nothing pinned.
    pub(super) fn skip_to(&self, ticket: u64) {
        self.next.set(ticket);
        self.low.set(ticket);
        self.holes.set(0);
        self.released.iter().for_each(|word| word.set(0));
    }

    #[cold]
    fn mark(&self, ticket: u64) {
        let (word, bit) = self.bit(ticket);
        word.set(word.get() | bit);
        self.holes.set(self.holes.get() + 1);
    }

    #[cold]
    fn close_up(&self) {
        loop {
            let (word, bit) = self.bit(self.low.get());
            if word.get() & bit == 0 {
                return;
            }
            word.set(word.get() & !bit);
            self.holes.set(self.holes.get() - 1);
            self.low.set(self.low.get().wrapping_add(1));
        }
    }

    fn bit(&self, ticket: u64) -> (&Cell<u64>, u64) {
        // Both are powers of two. In a ring of fewer than 64 slots, tickets that far apart are never open at once.
        let word = (ticket / 64) as usize & (self.released.len() - 1);
        (&self.released[word], 1 << (ticket % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_cursor_is_told_now_and_then_and_on_demand() {
        let pins = Pins::starting_at(0, 32);
        let told: Vec<bool> = (0..8)
            .map(|ticket| {
                pins.pin();
                let is_due = pins.release(ticket);
                if is_due {
                    assert_eq!(pins.news(), Some(ticket + 1))
                }
                is_due
            })
            .collect();
        assert_eq!(told, [false, false, false, true, false, false, false, true]);
        assert_eq!(pins.news(), None);
    }

    proptest! {
        #[test]
        fn the_cursor_is_the_lowest_that_is_not_released(start: u64, slots_log2 in 1..8u32, picks: Vec<(bool, usize)>) {
            let slots = 1u64 << slots_log2;
            let pins = Pins::starting_at(start, slots);
            let mut open: Vec<u64> = Vec::new();
            let mut next = start;
            for (wants_more, pick) in picks {
                let oldest = open.iter().copied().min_by_key(|ticket| ticket.wrapping_sub(start)).unwrap_or(next);
                if wants_more && next.wrapping_sub(oldest) < slots {
                    prop_assert_eq!(pins.next(), next);
                    pins.pin();
                    open.push(next);
                    next = next.wrapping_add(1);
                } else if !open.is_empty() {
                    let ticket = open.swap_remove(pick % open.len());
                    pins.release(ticket);
                }
                let oldest = open.iter().copied().min_by_key(|ticket| ticket.wrapping_sub(start)).unwrap_or(next);
                prop_assert_eq!((pins.low.get(), pins.open()), (oldest, open.len() as u64));
            }
        }
    }
}
