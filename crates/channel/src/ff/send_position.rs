//! The sender's half of the protocol.

use std::num::NonZeroU64;

use corecast_base::sync::Ordering;

use super::cells::{Shared, line_end};
use super::{LINE_CELLS, Probe};

/// The position of a sender, on lines of its own: both ends may lie side by side.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct SendPosition {
    /// Words sent so far.
    pub(super) head: u64,
    /// Words that may be sent into cells that are known to be empty.
    free_end: u64,
}

impl SendPosition {
    /// True if the next cell is empty.
    #[inline(always)]
    pub(super) fn has_room(&mut self, shared: &Shared) -> bool {
        if self.head < self.free_end {
            return true;
        }
        // ORDERING: Acquire, pairs with the Releases in RecvPosition::empty: the receiver is done with what it did before
        // it took the word, and with the other cells of a line that it cleared [cell-free]
        if shared.cell(self.head).load(Ordering::Acquire) != 0 {
            return false;
        }
        self.free_end = match shared.probe {
            Probe::Cell => self.head + 1,
            // It is the first cell of its line, which the receiver clears last.
            Probe::Line => line_end(self.head),
        };
        debug_assert!(shared.probe == Probe::Cell || self.head % LINE_CELLS as u64 == 0);
        true
    }

    /// Stores a word into the next cell, which is empty.
    #[inline(always)]
    pub(super) fn put(&mut self, shared: &Shared, word: NonZeroU64) {
        // ORDERING: Release, pairs with the Acquire in RecvPosition::look [cell-full]
        shared.cell(self.head).store(word.get(), Ordering::Release);
        self.head += 1;
        shared.data_wake.notify();
    }

    /// Lets the receiver take all words that were sent.
    pub(super) fn flush(&self, shared: &Shared) {
        // ORDERING: Relaxed, a receiver that sees it looks at each cell itself
        shared.control.flushed.store(self.head, Ordering::Relaxed);
        shared.data_wake.notify();
    }
}
