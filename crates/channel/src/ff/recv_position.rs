//! The receiver's half of the protocol.

use std::num::NonZeroU64;

use corecast_base::Clock;
use corecast_base::sync::Ordering;

use super::cells::{SENDER_GONE, Shared, line_end};
use super::{LINE_CELLS, Probe, Slip};

/// The position of a receiver, on lines of its own: both ends may lie side by side.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct RecvPosition {
    /// Words received so far.
    pub(super) next: u64,
    /// With [`Slip::Line`], words that may be received without a look at the rest of their line.
    ready_end: u64,
    /// With [`Slip::Line`], the time when a part of a line was seen first, in ticks.
    part_since: Option<u64>,
}

impl RecvPosition {
    /// The next word, if it is there and may be taken.
    #[inline(always)]
    pub(super) fn take(&mut self, shared: &Shared) -> Option<NonZeroU64> {
        if shared.slip != Slip::None && self.next >= self.ready_end && !self.is_ripe(shared) {
            return None;
        }
        self.take_any(shared)
    }

    /// The next word, if it is there.
    #[inline(always)]
    pub(super) fn take_any(&mut self, shared: &Shared) -> Option<NonZeroU64> {
        let word = self.look(shared, self.next)?;
        self.empty(shared);
        Some(word)
    }

    /// True if the next word is there, whether or not it may be taken.
    #[inline(always)]
    pub(super) fn is_there(&self, shared: &Shared) -> bool {
        self.look(shared, self.next).is_some()
    }

    /// The word in the cell of word `n`, which is this one or a later one of its line.
    #[inline(always)]
    fn look(&self, shared: &Shared, n: u64) -> Option<NonZeroU64> {
        // ORDERING: Acquire, pairs with the Release in SendPosition::put [cell-full]
        NonZeroU64::new(shared.cell(n).load(Ordering::Acquire))
    }

    /// Empties the cell of the next word, or the line that ends with it.
    #[inline(always)]
    fn empty(&mut self, shared: &Shared) {
        let cell = self.next;
        self.next += 1;
        let is_line_end = self.next % LINE_CELLS as u64 == 0;
        let first = match shared.probe {
            Probe::Cell => cell,
            Probe::Line if !is_line_end => return,
            Probe::Line => {
                let first = self.next - LINE_CELLS as u64;
                // ORDERING: Relaxed, made visible by the first cell, the only one that the sender looks at
                (first + 1..self.next).for_each(|n| shared.cell(n).store(0, Ordering::Relaxed));
                first
            }
        };
        // ORDERING: Release, pairs with the Acquire in SendPosition::has_room [cell-free]
        shared.cell(first).store(0, Ordering::Release);
        if is_line_end {
            shared.room_wake.notify();
        }
    }

    /// True if the words from the next one on may be taken: to the end of the line, or the part of it that is there.
    #[cold]
    pub(super) fn is_ripe(&mut self, shared: &Shared) -> bool {
        let end = line_end(self.next);
        if self.look(shared, end - 1).is_some() {
            self.ripen(end);
            return true;
        }
        if !self.is_there(shared) {
            self.part_since = None;
            return false;
        }
        let is_ripe = self.is_let_go(shared) || self.has_waited(shared);
        if is_ripe {
            self.ripen_part(shared);
        }
        is_ripe
    }

    /// True if the sender does not let the next word wait for the rest of its line.
    fn is_let_go(&self, shared: &Shared) -> bool {
        // ORDERING: Relaxed, the cells are looked at themselves
        shared.control.flushed.load(Ordering::Relaxed) > self.next || shared.is_gone(SENDER_GONE)
    }

    /// True if the next word has waited for the rest of its line for long enough.
    fn has_waited(&mut self, shared: &Shared) -> bool {
        let Slip::Line(longest) = shared.slip else { return true };
        let clock = Clock::get();
        let now = clock.ticks();
        now.saturating_sub(*self.part_since.get_or_insert(now)) >= clock.ticks_in(longest)
    }

    /// Lets the present part of the line be taken.
    pub(super) fn ripen_part(&mut self, shared: &Shared) {
        let end = line_end(self.next);
        self.ripen((self.next..end).find(|&n| self.look(shared, n).is_none()).unwrap_or(end));
    }

    fn ripen(&mut self, end: u64) {
        self.ready_end = end;
        self.part_since = None;
    }
}
